//! Peers on real sockets, and a listener that keeps what it is told.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use splice_plane::{Ended, Listener, Options, Plane, Reason};

/// Far more than anything here takes, also under an emulator.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub enum Told {
    Ended(Ended),
    HungUp(u64, bool),
    News(u32),
}

struct Ears(Sender<Told>);

impl Listener for Ears {
    fn ended(&mut self, ended: Ended) {
        let _ = self.0.send(Told::Ended(ended));
    }

    fn hung_up(&mut self, watch: u64, gone: bool) {
        let _ = self.0.send(Told::HungUp(watch, gone));
    }

    fn news(&mut self, lane: u32) {
        let _ = self.0.send(Told::News(lane));
    }
}

pub struct Bench {
    pub plane: Plane,
    pub told: Receiver<Told>,
}

impl Bench {
    pub fn new(options: Options) -> Bench {
        let (ears, told) = channel();
        Bench { plane: Plane::start(options, Ears(ears)).unwrap(), told }
    }

    pub fn ended(&self) -> Ended {
        match self.told.recv_timeout(PATIENCE) {
            Ok(Told::Ended(ended)) => ended,
            Ok(Told::HungUp(..) | Told::News(_)) => panic!("something else instead of an end"),
            Err(_) => panic!("no end in time"),
        }
    }

    pub fn hung_up(&self) -> (u64, bool) {
        match self.told.recv_timeout(PATIENCE) {
            Ok(Told::HungUp(watch, gone)) => (watch, gone),
            Ok(Told::Ended(_) | Told::News(_)) => panic!("something else instead of a hang-up"),
            Err(_) => panic!("no hang-up in time"),
        }
    }

    pub fn silent(&self) -> bool {
        self.told.try_recv().is_err()
    }

    /// A spliced session, with the two peers that talk through it.
    pub fn session<S: Peer>(&self, early: [Vec<u8>; 2]) -> (u64, S, S) {
        let (client, ours) = S::pair();
        let (theirs, target) = S::pair();
        let id = self.plane.add(ours.as_fd(), theirs.as_fd(), early).unwrap();
        (id, client, target)
    }

    /// Waits until the pair has moved this much to the target, or has ended.
    pub fn wait_for_up(&self, id: u64, bytes: u64) {
        while self.plane.counts(id).is_some_and(|counts| counts.up < bytes) {
            std::thread::yield_now();
        }
    }
}

pub trait Peer: Read + Write + AsFd + Into<OwnedFd> + Send + Sized + 'static {
    fn pair() -> (Self, Self);
    fn end(&self);
    fn twin(&self) -> Self;
}

impl Peer for TcpStream {
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let dialled = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let accepted = listener.accept().unwrap().0;
        for stream in [&dialled, &accepted] {
            stream.set_nodelay(true).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
        }
        (dialled, accepted)
    }

    fn end(&self) {
        self.shutdown(Shutdown::Write).unwrap();
    }

    fn twin(&self) -> TcpStream {
        self.try_clone().unwrap()
    }
}

impl Peer for UnixStream {
    fn pair() -> (UnixStream, UnixStream) {
        let (one, other) = UnixStream::pair().unwrap();
        for stream in [&one, &other] {
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
        }
        (one, other)
    }

    fn end(&self) {
        self.shutdown(Shutdown::Write).unwrap();
    }

    fn twin(&self) -> UnixStream {
        self.try_clone().unwrap()
    }
}

/// Closes with a reset.
pub fn reset(peer: impl AsFd + Into<OwnedFd>) {
    rustix::net::sockopt::set_socket_linger(&peer, Some(Duration::ZERO)).unwrap();
    drop(peer.into());
}

pub fn read_all(mut peer: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    peer.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads to the end on a thread of its own.
pub fn reader<S: Peer>(peer: &S) -> JoinHandle<std::io::Result<Vec<u8>>> {
    let peer = peer.twin();
    std::thread::spawn(move || read_all(peer))
}

pub fn is_reset(result: &std::io::Result<Vec<u8>>) -> bool {
    matches!(result, Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset)
}

/// More than all the buffers on the way hold together.
pub const FLOOD: u64 = 64 << 20;

/// Writes that much, and ends, on a thread of its own. Gives back how much went before an error.
pub fn flood(peer: &TcpStream) -> JoinHandle<u64> {
    let mut peer = peer.twin();
    std::thread::spawn(move || {
        let chunk = [b'z'; 64 * 1024];
        let mut written = 0;
        while written < FLOOD {
            match peer.write(&chunk) {
                Ok(some) => written += some as u64,
                Err(_) => return written,
            }
        }
        peer.end();
        written
    })
}

pub fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

pub fn scale(runs: usize) -> usize {
    match std::env::var("TEST_SCALE") {
        Ok(scale) => ((runs as f64 * scale.parse::<f64>().unwrap()) as usize).max(1),
        Err(_) => runs,
    }
}

/// The same numbers for the same seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        ((self.roll() >> 32) as usize) % limit
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            bytes.extend_from_slice(&self.roll().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}

pub fn reasons(mut ended: Vec<Ended>) -> Vec<Reason> {
    ended.sort_by_key(|each| each.id);
    ended.into_iter().map(|each| each.reason).collect()
}
