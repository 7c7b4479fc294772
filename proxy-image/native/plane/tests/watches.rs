//! Held clients that hang up, without anybody reading them.

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd};

use common::{Bench, Peer, reset};
use splice_plane::{Options, Reason};

#[test]
fn an_orderly_end_is_told_also_behind_bytes_that_nobody_reads() {
    let bench = Bench::new(Options::default());
    let (mut client, ours) = TcpStream::pair();
    let watch = bench.plane.watch(ours.as_fd()).unwrap();
    client.write_all(&[b'x'; 100_000]).unwrap();
    client.end();
    assert_eq!(bench.hung_up(), (watch, false));
}

#[test]
fn a_reset_is_told_also_after_an_orderly_end() {
    let bench = Bench::new(Options::default());
    let (client, ours) = TcpStream::pair();
    let watch = bench.plane.watch(ours.as_fd()).unwrap();
    client.end();
    assert_eq!(bench.hung_up(), (watch, false));
    reset(client);
    assert_eq!(bench.hung_up(), (watch, true));

    let (client, ours) = TcpStream::pair();
    let watch = bench.plane.watch(ours.as_fd()).unwrap();
    reset(client);
    assert_eq!(bench.hung_up(), (watch, true));
}

#[test]
fn one_that_had_hung_up_before_is_told_at_once() {
    let bench = Bench::new(Options::default());
    let (client, ours) = TcpStream::pair();
    reset(client);
    let watch = bench.plane.watch(ours.as_fd()).unwrap();
    assert_eq!(bench.hung_up(), (watch, true));
}

#[test]
fn nothing_is_told_of_one_that_is_no_longer_watched() {
    let bench = Bench::new(Options::default());
    let (client, ours) = TcpStream::pair();
    let watch = bench.plane.watch(ours.as_fd()).unwrap();
    bench.plane.unwatch(watch);
    bench.plane.unwatch(watch);
    reset(client);
    // Somebody else's news comes later and alone.
    let (other, theirs) = TcpStream::pair();
    let second = bench.plane.watch(theirs.as_fd()).unwrap();
    reset(other);
    assert_eq!(bench.hung_up(), (second, true));
    assert!(bench.silent());
}

#[test]
fn the_number_of_a_closed_descriptor_serves_the_next() {
    let bench = Bench::new(Options::default());
    for _ in 0..200 {
        let (client, ours) = TcpStream::pair();
        let number = ours.as_raw_fd();
        let stale = bench.plane.watch(ours.as_fd()).unwrap();
        // Closed without a word, and the number is taken by another client.
        drop(ours);
        drop(client);
        let (client, ours) = TcpStream::pair();
        let watch = bench.plane.watch(ours.as_fd()).unwrap();
        bench.plane.unwatch(stale);
        reset(client);
        assert_eq!(bench.hung_up(), (watch, true), "descriptor {number}");
    }
}

#[test]
fn a_client_that_is_spliced_is_watched_no_longer() {
    let bench = Bench::new(Options::default());
    let (client, ours) = TcpStream::pair();
    let (theirs, target) = TcpStream::pair();
    bench.plane.watch(ours.as_fd()).unwrap();
    bench.plane.add(ours.as_fd(), theirs.as_fd(), [Vec::new(), Vec::new()]).unwrap();
    drop((ours, theirs));
    client.end();
    target.end();
    assert_eq!(bench.ended().reason, Reason::Closed);
    assert!(bench.silent());
}
