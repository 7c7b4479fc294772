//! However a session ends, both sides learn the truth about it.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use common::{Bench, FLOOD, Peer, flood, is_reset, read_all, reader, reset};
use splice_plane::{KeepAlive, Options, Reason};

const NOTHING: [Vec<u8>; 2] = [Vec::new(), Vec::new()];

fn by_splice_and_by_copying(test: impl Fn(Bench)) {
    test(Bench::new(Options::default()));
    test(Bench::new(Options { splice: false, ..Options::default() }));
}

#[test]
fn a_client_that_has_said_all_still_gets_its_answer() {
    by_splice_and_by_copying(|bench| {
        let (id, mut client, mut target) = bench.session::<TcpStream>(NOTHING);
        client.write_all(b"question").unwrap();
        client.end();
        assert_eq!(read_all(&target).unwrap(), b"question");
        assert!(bench.silent());
        target.write_all(b"answer").unwrap();
        target.end();
        assert_eq!(read_all(&client).unwrap(), b"answer");
        let ended = bench.ended();
        assert_eq!((ended.id, ended.reason, ended.up, ended.down), (id, Reason::Closed, 8, 6));
        assert_eq!(ended.errno, 0);
    });
}

#[test]
fn a_target_that_has_said_all_still_hears_the_client() {
    by_splice_and_by_copying(|bench| {
        let (_, mut client, mut target) = bench.session::<TcpStream>(NOTHING);
        target.write_all(b"bye").unwrap();
        target.end();
        assert_eq!(read_all(&client).unwrap(), b"bye");
        client.write_all(b"after").unwrap();
        client.end();
        assert_eq!(read_all(&target).unwrap(), b"after");
        assert_eq!(bench.ended().reason, Reason::Closed);
    });
}

#[test]
fn an_end_that_came_before_the_pair_is_passed_on_after_the_early_bytes() {
    by_splice_and_by_copying(|bench| {
        let (client, ours) = TcpStream::pair();
        let (theirs, target) = TcpStream::pair();
        client.end();
        bench.plane.add(ours.as_fd(), theirs.as_fd(), [b"early".to_vec(), b"first".to_vec()]).unwrap();
        drop((ours, theirs));
        assert_eq!(read_all(&target).unwrap(), b"early");
        target.end();
        assert_eq!(read_all(&client).unwrap(), b"first");
        assert_eq!(bench.ended().reason, Reason::Closed);
    });
}

#[test]
fn a_client_s_reset_reaches_the_target() {
    by_splice_and_by_copying(|bench| {
        let (_, client, target) = bench.session::<TcpStream>(NOTHING);
        reset(client);
        assert!(is_reset(&read_all(&target)));
        let ended = bench.ended();
        assert_eq!(
            (ended.reason, ended.errno),
            (Reason::ClientReset, rustix::io::Errno::CONNRESET.raw_os_error())
        );
    });
}

#[test]
fn a_target_s_reset_reaches_the_client() {
    by_splice_and_by_copying(|bench| {
        let (_, client, target) = bench.session::<TcpStream>(NOTHING);
        reset(target);
        assert!(is_reset(&read_all(&client)));
        assert_eq!(bench.ended().reason, Reason::TargetReset);
    });
}

#[test]
fn a_reset_before_the_pair_reaches_the_other_end() {
    by_splice_and_by_copying(|bench| {
        let (client, ours) = TcpStream::pair();
        let (theirs, target) = TcpStream::pair();
        reset(client);
        bench.plane.add(ours.as_fd(), theirs.as_fd(), NOTHING).unwrap();
        drop((ours, theirs));
        assert!(is_reset(&read_all(&target)));
        assert_eq!(bench.ended().reason, Reason::ClientReset);
    });
}

/// A server that closes without having read everything: its last words come with a reset, in this order.
#[test]
fn what_was_sent_before_a_reset_is_passed_on() {
    by_splice_and_by_copying(|bench| {
        let (_, mut client, mut target) = bench.session::<TcpStream>(NOTHING);
        client.write_all(b"not read").unwrap();
        target.peek(&mut [0; 1]).unwrap();
        target.write_all(b"421 too many connections").unwrap();
        drop(target);
        let mut last = vec![0; 24];
        client.read_exact(&mut last).unwrap();
        assert_eq!(last, b"421 too many connections");
        assert!(is_reset(&read_all(&client)));
        assert_eq!(bench.ended().reason, Reason::TargetReset);
    });
}

#[test]
fn a_reset_is_seen_while_the_other_end_takes_nothing() {
    by_splice_and_by_copying(|bench| {
        let (_, client, target) = bench.session::<TcpStream>(NOTHING);
        // The target is the one that stops reading, and then the one that goes.
        let writer = flood(&client);
        target.peek(&mut [0; 1]).unwrap();
        reset(target);
        assert!(writer.join().unwrap() < FLOOD);
        assert_eq!(bench.ended().reason, Reason::TargetReset);
    });
}

#[test]
fn a_cut_resets_both_ends() {
    by_splice_and_by_copying(|bench| {
        let (id, client, target) = bench.session::<TcpStream>(NOTHING);
        let (at_client, at_target) = (reader(&client), reader(&target));
        bench.plane.end(id, true);
        assert!(is_reset(&at_client.join().unwrap()));
        assert!(is_reset(&at_target.join().unwrap()));
        assert_eq!(bench.ended().reason, Reason::Cut);
        // Too late, twice: nobody is hit.
        bench.plane.end(id, true);
        bench.plane.end(id, false);
        let (other, client, _target) = bench.session::<TcpStream>(NOTHING);
        bench.plane.end(id, true);
        drop(client);
        assert_ne!(other, id);
        assert!(bench.plane.counts(id).is_none());
    });
}

#[test]
fn an_orderly_end_by_id_delivers_what_was_taken_over() {
    by_splice_and_by_copying(|bench| {
        let (id, client, target) = bench.session::<TcpStream>([b"up".to_vec(), b"down".to_vec()]);
        bench.plane.end(id, false);
        assert_eq!(read_all(&target).unwrap(), b"up");
        assert_eq!(read_all(&client).unwrap(), b"down");
        assert_eq!(bench.ended().reason, Reason::Cut);
    });
}

#[test]
fn stopping_cuts_every_pair_and_tells() {
    let bench = Bench::new(Options::default());
    let sessions: Vec<_> = (0..20).map(|_| bench.session::<TcpStream>(NOTHING)).collect();
    bench.plane.stop();
    for _ in &sessions {
        assert_eq!(bench.ended().reason, Reason::Cut);
    }
    for (_, client, target) in sessions {
        assert!(is_reset(&read_all(&client)) && is_reset(&read_all(&target)));
    }
    assert_eq!(bench.plane.stats().live, 0);
    let (_client, ours) = TcpStream::pair();
    let (theirs, _target) = TcpStream::pair();
    assert!(bench.plane.add(ours.as_fd(), theirs.as_fd(), NOTHING).is_err());
    bench.plane.stop();
}

#[test]
fn what_is_no_stream_is_refused_and_left_alone() {
    let bench = Bench::new(Options::default());
    let (_client, ours) = TcpStream::pair();
    let file = std::fs::File::open("/dev/null").unwrap();
    let datagram = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for other in [file.as_fd(), datagram.as_fd()] {
        assert!(bench.plane.add(ours.as_fd(), other, NOTHING).is_err());
        assert!(bench.plane.add(other, ours.as_fd(), NOTHING).is_err());
    }
    assert_eq!(bench.plane.stats().live, 0);
    assert!(bench.silent());
}

#[test]
fn counters_tell_what_was_delivered_and_when() {
    let bench = Bench::new(Options::default());
    let (id, mut client, mut target) = bench.session::<UnixStream>([b"12".to_vec(), Vec::new()]);
    client.write_all(b"345").unwrap();
    target.write_all(b"1").unwrap();
    target.read_exact(&mut [0; 5]).unwrap();
    client.read_exact(&mut [0; 1]).unwrap();
    bench.wait_for_up(id, 5);
    let counts = bench.plane.counts(id).unwrap();
    assert_eq!(counts.up, 5);
    while bench.plane.counts(id).unwrap().idle_ms < 2 {
        std::thread::yield_now();
    }
    client.write_all(b"6").unwrap();
    bench.wait_for_up(id, 6);
    drop((client, target));
    bench.ended();
    assert!(bench.plane.counts(id).is_none());
    assert_eq!((bench.plane.stats().up, bench.plane.stats().down), (6, 1));
}

#[test]
fn keepalive_is_set_on_both_ends() {
    use rustix::net::sockopt;
    let keep_alive = KeepAlive { idle_s: 11, interval_s: 7, count: 5 };
    let bench = Bench::new(Options { keep_alive: Some(keep_alive), ..Options::default() });
    let (_client, ours) = TcpStream::pair();
    let (theirs, _target) = TcpStream::pair();
    bench.plane.add(ours.as_fd(), theirs.as_fd(), NOTHING).unwrap();
    // Our descriptors share the sockets.
    for end in [&ours, &theirs] {
        assert!(sockopt::socket_keepalive(end).unwrap());
        assert_eq!(sockopt::tcp_keepidle(end).unwrap().as_secs(), 11);
        assert_eq!(sockopt::tcp_keepintvl(end).unwrap().as_secs(), 7);
        assert_eq!(sockopt::tcp_keepcnt(end).unwrap(), 5);
    }
}
