//! With no descriptor left. The limit is the process's, so this test has one of its own.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};

use common::{Bench, Dice, Peer, descriptors};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};
use splice_plane::{Options, Reason};

const NOTHING: [Vec<u8>; 2] = [Vec::new(), Vec::new()];

/// Takes every descriptor that is left.
fn exhaust() -> Vec<OwnedFd> {
    let null = std::fs::File::open("/dev/null").unwrap();
    let mut taken = Vec::new();
    while let Ok(fd) = rustix::io::fcntl_dupfd_cloexec(&null, 3) {
        taken.push(fd);
    }
    taken
}

#[test]
fn sessions_go_on_by_copying_and_new_ones_are_refused_whole() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(64);
    setrlimit(Resource::Nofile, limit).unwrap();

    let bench = Bench::new(Options::default());
    let before = descriptors();
    let (id, mut client, mut target) = bench.session::<TcpStream>(NOTHING);
    let (mut spare_client, ours) = TcpStream::pair();
    let (theirs, mut spare_target) = TcpStream::pair();
    spare_client.write_all(b"early").unwrap();

    let taken = exhaust();
    assert_eq!(bench.plane.add(ours.as_fd(), theirs.as_fd(), NOTHING), Err(Errno::MFILE));
    // No pipe is to be had.
    let bytes = Dice::new(3).bytes(5_000_000);
    std::thread::scope(|scope| {
        scope.spawn(|| client.write_all(&bytes).unwrap());
        let mut got = vec![0; bytes.len()];
        target.read_exact(&mut got).unwrap();
        assert!(got == bytes);
    });
    assert_eq!(bench.plane.stats().pipes, 0);
    drop(taken);

    // The refused session is as it was.
    bench.plane.add(ours.as_fd(), theirs.as_fd(), NOTHING).unwrap();
    drop((ours, theirs));
    let mut early = [0; 5];
    spare_target.read_exact(&mut early).unwrap();
    assert_eq!(&early, b"early");
    drop((spare_client, spare_target));
    assert_eq!(bench.ended().reason, Reason::Closed);

    // Pipes come back by themselves.
    while bench.plane.stats().pipes == 0 {
        client.write_all(b"?").unwrap();
        target.read_exact(&mut [0; 1]).unwrap();
    }
    drop((client, target));
    let ended = bench.ended();
    assert_eq!((ended.id, ended.reason), (id, Reason::Closed));
    let pipes = bench.plane.stats().pipes as usize;
    assert_eq!(descriptors(), before + 2 * pipes);
}
