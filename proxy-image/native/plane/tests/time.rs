//! Ends that nobody asked for but time.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::{Bench, FLOOD, Peer, flood, is_reset, read_all};
use splice_plane::{Options, Reason};

const NOTHING: [Vec<u8>; 2] = [Vec::new(), Vec::new()];
/// Far above what the kernel itself pauses for when a receive buffer overflows: some retransmission timeouts.
const LIMIT: Duration = Duration::from_millis(2_000);
const UPLOAD: u64 = 8 << 20;

fn stalling(splice: bool) -> Bench {
    Bench::new(Options { stall_ms: LIMIT.as_millis() as u64, splice, ..Options::default() })
}

fn lingering() -> Bench {
    Bench::new(Options { half_close_ms: LIMIT.as_millis() as u64, ..Options::default() })
}

const SIP: usize = 512;

/// Reads a little at a time for as long as `go_on` says, at 1 MB/s at most: slow, and never at rest. A sender hears of
/// it every 128 KiB or so.
fn sip(peer: &mut TcpStream, mut go_on: impl FnMut(u64) -> bool) -> u64 {
    let mut got = 0;
    while go_on(got) {
        let begun = Instant::now();
        peer.read_exact(&mut [0; SIP]).unwrap();
        got += SIP as u64;
        while begun.elapsed() < Duration::from_micros(500) {
            std::thread::yield_now();
        }
    }
    got
}

fn sip_for(peer: &mut TcpStream, time: Duration) -> u64 {
    let until = Instant::now() + time;
    sip(peer, |_| Instant::now() < until)
}

#[test]
fn a_reader_that_takes_nothing_is_cut() {
    for splice in [true, false] {
        let bench = stalling(splice);
        let (_, client, target) = bench.session::<TcpStream>(NOTHING);
        let begun = Instant::now();
        let writer = flood(&client);
        let ended = bench.ended();
        assert_eq!(ended.reason, Reason::TargetStalled);
        assert!(begun.elapsed() >= LIMIT);
        assert!(writer.join().unwrap() < FLOOD);
        assert!(is_reset(&read_all(&target)));

        let (_, client, target) = bench.session::<TcpStream>(NOTHING);
        let writer = flood(&target);
        assert_eq!(bench.ended().reason, Reason::ClientStalled);
        assert!(writer.join().unwrap() < FLOOD);
        drop(client);
    }
}

#[test]
fn a_slow_reader_is_not_cut() {
    for splice in [true, false] {
        let bench = stalling(splice);
        let (id, client, mut target) = bench.session::<TcpStream>(NOTHING);
        let writer = flood(&client);
        let got = sip_for(&mut target, LIMIT * 2);
        assert!(bench.silent(), "cut after {got} bytes");
        assert_eq!(got + read_all(&target).unwrap().len() as u64, FLOOD);
        target.end();
        let ended = bench.ended();
        assert_eq!((ended.id, ended.reason, ended.up), (id, Reason::Closed, FLOOD));
        writer.join().unwrap();
    }
}

#[test]
fn a_half_closed_pair_where_nothing_moves_is_cut() {
    let bench = lingering();
    for client_first in [true, false] {
        let (_, client, target) = bench.session::<TcpStream>(NOTHING);
        let (first, living) = if client_first { (client, target) } else { (target, client) };
        let begun = Instant::now();
        first.end();
        assert_eq!(read_all(&living).unwrap(), b"");
        assert_eq!(bench.ended().reason, Reason::HalfClosed);
        assert!(begun.elapsed() >= LIMIT);
        // Not an orderly end: the living side never said that it was done.
        assert!(is_reset(&read_all(&first)));
    }
}

#[test]
fn a_half_closed_pair_whose_living_side_sends_is_not_cut() {
    let bench = lingering();
    let (_, mut client, mut target) = bench.session::<TcpStream>(NOTHING);
    client.end();
    let until = Instant::now() + LIMIT * 2;
    let mut sent = 0;
    while Instant::now() < until {
        target.write_all(b".").unwrap();
        client.read_exact(&mut [0; 1]).unwrap();
        sent += 1;
    }
    target.end();
    assert_eq!(read_all(&client).unwrap(), b"");
    let ended = bench.ended();
    assert_eq!((ended.reason, ended.down), (Reason::Closed, sent));
}

/// A long upload to a target that takes its time and answers only at the end.
#[test]
fn a_half_closed_pair_whose_living_side_still_receives_is_not_cut() {
    let bench = lingering();
    let (id, mut client, mut target) = bench.session::<TcpStream>(NOTHING);
    let writer = std::thread::spawn(move || {
        client.write_all(&[b'z'; UPLOAD as usize]).unwrap();
        client.end();
        client
    });
    // From here on the end has been passed on, and megabytes are still on their way to the target.
    let mut got = 0;
    let mut buffer = [0; 4_096];
    while bench.plane.counts(id).unwrap().up < UPLOAD {
        got += target.read(&mut buffer).unwrap() as u64;
    }
    let until = Instant::now() + LIMIT * 2;
    let left = UPLOAD - got;
    got += sip(&mut target, |got| got + SIP as u64 <= left && Instant::now() < until);
    assert!(bench.silent(), "cut after {got} bytes");
    got += read_all(&target).unwrap().len() as u64;
    assert_eq!(got, UPLOAD);
    let client = writer.join().unwrap();
    target.write_all(b"done").unwrap();
    target.end();
    assert_eq!(read_all(&client).unwrap(), b"done");
    assert_eq!(bench.ended().reason, Reason::Closed);
}

#[test]
fn without_limits_nobody_is_cut() {
    let bench = Bench::new(Options::default());
    let (_, client, mut target) = bench.session::<TcpStream>(NOTHING);
    let writer = flood(&client);
    let got = sip_for(&mut target, LIMIT);
    assert!(bench.silent());
    assert_eq!(got + read_all(&target).unwrap().len() as u64, FLOOD);
    writer.join().unwrap();
    target.end();
    assert_eq!(bench.ended().reason, Reason::Closed);
}
