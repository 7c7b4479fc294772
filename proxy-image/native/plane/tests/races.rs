//! Everything that threads do to a plane at once, for the thread sanitizer to watch: without the test harness, which
//! is not compiled with it.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use common::{Dice, Peer, reset};
use splice_plane::sync::{Mutex, lock};
use splice_plane::{Ended, Listener, Options, Plane, Room};

const THREADS: usize = 4;
const SESSIONS: usize = 300;

#[derive(Clone, Default)]
struct Heard {
    ended: Arc<Mutex<Vec<Ended>>>,
    hung_up: Arc<AtomicUsize>,
}

impl Listener for Heard {
    fn ended(&mut self, ended: Ended) {
        lock(&self.ended).push(ended);
    }

    fn hung_up(&mut self, _watch: u64, _gone: bool) {
        self.hung_up.fetch_add(1, Ordering::Relaxed);
    }

    fn news(&mut self, _lane: u32) {}
}

fn sessions(plane: &Plane, seed: u64) {
    let mut dice = Dice::new(seed);
    let mut last = 0;
    for _ in 0..SESSIONS {
        let (client, ours) = TcpStream::pair();
        let (theirs, target) = TcpStream::pair();
        let watch = plane.watch(ours.as_fd()).unwrap();
        if dice.below(2) == 0 {
            plane.unwatch(watch);
        }
        let early = [dice.bytes(2_000), dice.bytes(2_000)];
        let id = plane.add(ours.as_fd(), theirs.as_fd(), early).unwrap();
        drop((ours, theirs));
        let (_, _, _) = (plane.counts(id), plane.counts(last), plane.stats());
        match dice.below(5) {
            0 => plane.end(id, true),
            1 => plane.end(id, false),
            2 => reset(client.twin()),
            3 => reset(target.twin()),
            _ => plane.end(last, true),
        }
        last = id;
    }
}

/// A lane that is opened and shut while clients come, as fast as it goes.
fn lane(plane: &Plane) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = target.local_addr().unwrap();
    let rooms = [20, 30].map(|cap| {
        let room = Arc::new(Room::default());
        room.set_cap(cap);
        room
    });
    let id = plane.add_lane(listener.as_fd(), rooms.clone(), None).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for peer in target.incoming() {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                let _ = peer.unwrap().write_all(b"B");
            }
        });
        let clients = scope.spawn(|| {
            for _ in 0..SESSIONS {
                let _ = TcpStream::connect(address).unwrap().read(&mut [0; 1]);
            }
        });
        let mut handed = 0;
        let mut turns = 0;
        while !clients.is_finished() {
            plane.open_lane(id, to, 60_000, 8);
            rooms[0].set_cap(20 - turns % 3);
            turns += 1;
            let _ = plane.lane_counts(id);
            let shut = plane.shut_lane(id).unwrap();
            handed += shut.news.handed.len();
            if turns % 100 == 0 {
                plane.recall_lane(id);
            }
        }
        plane.close_lane(id);
        plane.cut_lane(id);
        assert!(handed <= SESSIONS);
        over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(to);
    });
}

fn main() {
    for options in
        [Options::default(), Options { splice: false, stall_ms: 10, half_close_ms: 10, ..Options::default() }]
    {
        let heard = Heard::default();
        let plane = Arc::new(Plane::start(options, heard.clone()).unwrap());
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let plane = plane.clone();
                std::thread::spawn(move || sessions(&plane, thread as u64))
            })
            .collect();
        lane(&plane);
        for thread in threads {
            thread.join().unwrap();
        }
        plane.stop();
        assert_eq!(lock(&heard.ended).len(), THREADS * SESSIONS);
        assert_eq!(plane.stats().live, 0);
    }
    println!("no race was seen, unless a sanitizer says so");
}
