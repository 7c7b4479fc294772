//! Everything that threads do to a plane at once, for the thread sanitizer to watch: without the test harness, which
//! is not compiled with it.

mod common;

use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Dice, Peer, reset};
use splice_plane::sync::{Mutex, lock};
use splice_plane::{Ended, Listener, Options, Plane};

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
        for thread in threads {
            thread.join().unwrap();
        }
        plane.stop();
        assert_eq!(lock(&heard.ended).len(), THREADS * SESSIONS);
        assert_eq!(plane.stats().live, 0);
    }
    println!("no race was seen, unless a sanitizer says so");
}
