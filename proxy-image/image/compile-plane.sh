#!/bin/sh
# Compiles the native plane into native/target, or into CARGO_TARGET_DIR. The checkout and the image's build stage both
# run this, and come to the same bytes: the one path of the machine that would be in them is called /cargo.
set -eu
cd "$(dirname "$0")/../native"
cargo_home=${CARGO_HOME:-$HOME/.cargo}
# Not RUSTFLAGS: a folder's name may have a space.
CARGO_ENCODED_RUSTFLAGS=--remap-path-prefix=$cargo_home=/cargo exec cargo build --release --locked --package splice-addon
