#!/bin/sh
# Lays out what the image adds to its base, under the folder named. Runs in the image's build stage: modes are set
# here, so that the result does not depend on the umask of whoever checked the sources out.
set -eu
to=$1
dist=$(dirname "$0")/../dist

mkdir -p "$to/app" "$to/usr/local/bin"
node=$(command -v node)
cp "$node" "$to/usr/local/bin/node"
# It holds far more than Node, and says of all of it how it may be passed on.
cp "${node%/bin/node}/LICENSE" "$to/app/licenses-node.txt"
cp "$dist/start.js" "$dist/main.js" "$dist/main.cache" "$dist/splice.node" "$dist/sbom.cdx.json" "$dist/licenses.txt" "$to/app/"

chmod 755 "$to" "$to/app" "$to/usr" "$to/usr/local" "$to/usr/local/bin" "$to/usr/local/bin/node"
chmod 644 "$to"/app/*
