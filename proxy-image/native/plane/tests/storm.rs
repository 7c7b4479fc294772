//! Thousands of sessions that end in every way at any moment, with bytes on their way. Descriptors are counted, so
//! this test has a process of its own.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;

use common::{Bench, Dice, Peer, descriptors, reset, scale};
use splice_plane::{Options, Reason};

fn act(mut peer: TcpStream, mut dice: Dice) {
    for _ in 0..dice.below(5) {
        let done = match dice.below(4) {
            0 => {
                let size = dice.pick(&[1, 5_000, 400_000]);
                peer.set_nonblocking(true).unwrap();
                // As much of it as there is room for.
                let _ = peer.write(&vec![b's'; size]);
                peer.set_nonblocking(false).unwrap();
                Ok(())
            }
            1 => {
                peer.set_nonblocking(true).unwrap();
                let size = dice.pick(&[1, 60_000]);
                let _ = peer.read(&mut vec![0; size]);
                peer.set_nonblocking(false).unwrap();
                Ok(())
            }
            2 => peer.shutdown(std::net::Shutdown::Write),
            _ => {
                std::thread::yield_now();
                Ok(())
            }
        };
        if done.is_err() {
            break;
        }
    }
    if dice.below(2) == 0 { reset(peer) } else { drop(peer) }
}

fn storm(options: Options, sessions: usize) {
    const WORKERS: usize = 8;
    let bench = Bench::new(options);
    let before = descriptors();
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let plane = &bench.plane;
            scope.spawn(move || {
                for run in 0..sessions / WORKERS {
                    let mut dice = Dice::new((worker * 100_000 + run) as u64);
                    let (client, ours) = TcpStream::pair();
                    let (theirs, target) = TcpStream::pair();
                    let watch = plane.watch(ours.as_fd()).unwrap();
                    if dice.below(2) == 0 {
                        plane.unwatch(watch);
                    }
                    let early = [dice.bytes(100), dice.bytes(100)];
                    let id = plane.add(ours.as_fd(), theirs.as_fd(), early).unwrap();
                    let kept = (dice.below(3) == 0).then_some((ours, theirs));
                    let (first, second) = (Dice::new(dice.roll()), Dice::new(dice.roll()));
                    std::thread::scope(|inner| {
                        inner.spawn(|| act(client, first));
                        act(target, second);
                    });
                    match dice.below(8) {
                        0 => plane.end(id, true),
                        1 => plane.end(id, false),
                        _ => {}
                    }
                    let _ = plane.counts(id);
                    drop(kept);
                }
            });
        }
        let mut ended = std::collections::HashSet::new();
        while ended.len() < sessions / WORKERS * WORKERS {
            match bench.told.recv_timeout(common::PATIENCE).unwrap() {
                common::Told::Ended(end) => {
                    assert!(ended.insert(end.id), "told twice: {end:?}");
                    assert_ne!(end.reason, Reason::Broken, "{end:?}");
                }
                // Of one that was watched when it was handed over.
                common::Told::HungUp(..) | common::Told::News(_) => {}
            }
        }
    });
    let stats = bench.plane.stats();
    assert_eq!((stats.live, stats.pipes), (0, stats.idle_pipes));
    assert_eq!(descriptors(), before + 2 * stats.pipes as usize);
    drop(bench);
}

#[test]
fn every_descriptor_comes_back() {
    let before = descriptors();
    storm(Options::default(), scale(4_000));
    storm(Options { splice: false, ..Options::default() }, scale(2_000));
    let limits =
        Options { stall_ms: 20, half_close_ms: 20, max_pipes: 3, idle_pipes: 2, ..Options::default() };
    storm(limits, scale(2_000));
    assert_eq!(descriptors(), before);
}
