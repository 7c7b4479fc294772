//! What goes in comes out, whole and in order, both ways at once, however it is cut up.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use common::{Bench, Dice, Peer, scale};
use splice_plane::{Options, Reason};

const SIZES: [usize; 8] = [0, 1, 100, 4_000, 30_000, 70_000, 300_000, 1_500_000];
const SEGMENTS: [usize; 6] = [1, 7, 1_400, 9_000, 65_536, 300_000];

/// Sends `bytes` in random segments and ends; small ones only at first, so that a byte at a time stays affordable.
fn send_in_segments<S: Peer>(mut peer: S, bytes: &[u8], mut dice: Dice) {
    let mut sent = 0;
    while sent < bytes.len() {
        let least = if sent < 2_000 { 0 } else { 2 };
        let segment = SEGMENTS[least + dice.below(SEGMENTS.len() - least)].min(bytes.len() - sent);
        peer.write_all(&bytes[sent..sent + segment]).unwrap();
        sent += segment;
    }
    peer.end();
}

fn receive_in_segments<S: Peer>(mut peer: S, mut dice: Dice) -> Vec<u8> {
    let mut got = Vec::new();
    let mut buffer = vec![0; 200_000];
    loop {
        let size = dice.pick(&[100, 4_096, 200_000]);
        match peer.read(&mut buffer[..size]).unwrap() {
            0 => return got,
            some => got.extend_from_slice(&buffer[..some]),
        }
    }
}

fn transfers<S: Peer>(options: Options, seeds: std::ops::Range<u64>) {
    let bench = Bench::new(options);
    for seed in seeds {
        let mut dice = Dice::new(seed);
        // Mostly small: what goes wrong goes wrong at the edges, and there are thousands of runs.
        let size = |dice: &mut Dice| SIZES[if dice.below(8) == 0 { dice.below(8) } else { dice.below(6) }];
        let (up, down) = (size(&mut dice), size(&mut dice));
        let (up, down) = (dice.bytes(up), dice.bytes(down));
        let early = [dice.below(up.len() + 1), dice.below(down.len() + 1)];
        let early = if dice.below(2) == 0 { [0, 0] } else { early };
        let sent_early = [up[..early[0]].to_vec(), down[..early[1]].to_vec()];
        let (id, client, target) = bench.session::<S>(sent_early);

        let (got_up, got_down) = std::thread::scope(|scope| {
            let sides = [(client.twin(), &up[early[0]..]), (target.twin(), &down[early[1]..])];
            for (peer, bytes) in sides {
                let dice = Dice::new(dice.roll());
                scope.spawn(move || send_in_segments(peer, bytes, dice));
            }
            let receive = |peer: S, seed| scope.spawn(move || receive_in_segments(peer, Dice::new(seed)));
            let (at_target, at_client) = (receive(target, dice.roll()), receive(client, dice.roll()));
            (at_target.join().unwrap(), at_client.join().unwrap())
        });

        assert!(got_up == up, "seed {seed}: up differs, {} of {}", got_up.len(), up.len());
        assert!(got_down == down, "seed {seed}: down differs, {} of {}", got_down.len(), down.len());
        let ended = bench.ended();
        assert_eq!((ended.id, ended.reason), (id, Reason::Closed), "seed {seed}: {ended:?}");
        assert_eq!((ended.up, ended.down), (up.len() as u64, down.len() as u64));
    }
    let stats = bench.plane.stats();
    assert_eq!((stats.live, stats.pipes), (0, stats.idle_pipes));
}

#[test]
fn over_tcp_by_splice() {
    transfers::<TcpStream>(Options::default(), 0..scale(1_000) as u64);
}

#[test]
fn over_tcp_by_small_pipes() {
    let options = Options { pipe_bytes: 4_096, idle_pipes: 1, ..Options::default() };
    transfers::<TcpStream>(options, 10_000..10_000 + scale(400) as u64);
}

#[test]
fn over_tcp_by_copying() {
    let options = Options { splice: false, ..Options::default() };
    transfers::<TcpStream>(options, 20_000..20_000 + scale(600) as u64);
}

#[test]
fn over_tcp_with_one_pipe_for_both_directions() {
    let options = Options { max_pipes: 1, ..Options::default() };
    transfers::<TcpStream>(options, 30_000..30_000 + scale(400) as u64);
}

#[test]
fn over_unix_sockets() {
    transfers::<UnixStream>(Options::default(), 40_000..40_000 + scale(600) as u64);
    let options = Options { splice: false, ..Options::default() };
    transfers::<UnixStream>(options, 50_000..50_000 + scale(300) as u64);
}

#[test]
fn many_at_once() {
    let bench = Bench::new(Options { max_pipes: 8, idle_pipes: 4, ..Options::default() });
    let sessions = scale(60);
    std::thread::scope(|scope| {
        for seed in 0..sessions as u64 {
            let mut dice = Dice::new(90_000 + seed);
            let bytes = dice.bytes(2_000_000);
            let (_, mut client, target) = bench.session::<TcpStream>([Vec::new(), Vec::new()]);
            // The target sends back what it gets.
            scope.spawn(move || {
                let mut back = target.twin();
                std::io::copy(&mut &target, &mut back).unwrap();
                back.end();
            });
            scope.spawn(move || {
                let sender = client.twin();
                std::thread::scope(|inner| {
                    inner.spawn(|| send_in_segments(sender, &bytes, Dice::new(seed)));
                    let mut got = Vec::new();
                    client.read_to_end(&mut got).unwrap();
                    assert!(got == bytes, "session {seed} differs");
                });
            });
        }
    });
    for _ in 0..sessions {
        assert_eq!(bench.ended().reason, Reason::Closed);
    }
    let stats = bench.plane.stats();
    assert_eq!((stats.up, stats.down), (sessions as u64 * 2_000_000, sessions as u64 * 2_000_000));
}

/// A socket that refuses to be spliced into is found out only when the pipe is full of bytes for it.
#[test]
fn bytes_in_the_pipe_of_a_socket_that_refuses_splicing_are_not_lost() {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let bench = Bench::new(Options::default());
    let (mut client, ours) = TcpStream::pair();
    let (theirs, mut target) = TcpStream::pair();
    fcntl_setfl(&theirs, fcntl_getfl(&theirs).unwrap() | OFlags::APPEND).unwrap();
    let bytes = Dice::new(5).bytes(3_000_000);
    std::thread::scope(|scope| {
        use std::os::fd::AsFd;
        let early = [b"first".to_vec(), Vec::new()];
        bench.plane.add(ours.as_fd(), theirs.as_fd(), early).unwrap();
        drop((ours, theirs));
        scope.spawn(|| {
            client.write_all(&bytes).unwrap();
            client.end();
        });
        let mut got = Vec::new();
        target.read_to_end(&mut got).unwrap();
        assert_eq!(&got[..5], b"first");
        assert!(got[5..] == bytes);
        target.end();
    });
    assert_eq!(bench.ended().reason, Reason::Closed);
}

#[test]
fn small_messages_wait_for_a_reader_that_takes_none_and_then_all_come() {
    let bench = Bench::new(Options::default());
    let (id, mut client, target) = bench.session::<TcpStream>([Vec::new(), Vec::new()]);
    client.set_nonblocking(true).unwrap();
    let message = [7u8; 100];
    let mut written = 0;
    // Full once the way to the reader holds as much as it can, whatever the plane has moved meanwhile.
    loop {
        match client.write(&message) {
            Ok(some) => written += some as u64,
            Err(_) if bench.plane.counts(id).is_some_and(|counts| counts.up + BUFFERED < written) => break,
            Err(_) => std::thread::yield_now(),
        }
    }
    client.end();
    let read = common::read_all(&target).unwrap();
    assert_eq!(read.len() as u64, written);
    assert!(read.iter().all(|byte| *byte == 7));
    target.end();
    assert_eq!(bench.ended().up, written);
}

/// Less than a socket's receive buffer, more than the plane may keep by itself.
const BUFFERED: u64 = 64 * 1024;
