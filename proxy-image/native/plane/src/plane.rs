//! The handle.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::Instant;

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::io::{Errno, Result, write};

use crate::engine::{self, Command, Engine, Inbox, token};
use crate::ledger::{Counts, Ledger};
use crate::outcome::{Ended, Side};
use crate::pair::{Limits, Pair};
use crate::sync::{Mutex, MutexGuard, lock};
use crate::watch::Watches;
use crate::wire;

/// Hears what happens on the plane, on the plane's thread: it must not block.
pub trait Listener: Send + 'static {
    fn ended(&mut self, ended: Ended);
    /// A watched client has ended its side in order, or the connection is gone altogether.
    fn hung_up(&mut self, watch: u64, gone: bool);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first probe.
    pub idle_s: u32,
    /// Between probes.
    pub interval_s: u32,
    /// Probes without an answer before the connection is given up.
    pub count: u32,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub pipe_bytes: usize,
    /// Pipes kept for the next who needs one.
    pub idle_pipes: usize,
    /// Pipes at once. Whoever finds none copies.
    pub max_pipes: usize,
    /// How long an end may take nothing of what waits for it; 0 for ever.
    pub stall_ms: u64,
    /// How long a pair may stay half-closed while nothing moves; 0 for ever.
    pub half_close_ms: u64,
    /// Set on both ends; absent, they are left as they are.
    pub keep_alive: Option<KeepAlive>,
    /// Off: every byte is copied, as where the kernel doesn't splice.
    pub splice: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            pipe_bytes: 256 * 1024,
            idle_pipes: 64,
            // What the usual limit of an unprivileged user, 64 MiB, has room for.
            max_pipes: 256,
            stall_ms: 0,
            half_close_ms: 0,
            keep_alive: None,
            splice: true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    pub live: u32,
    pub pipes: u32,
    pub idle_pipes: u32,
    /// Delivered by all pairs together, finished ones included.
    pub up: u64,
    pub down: u64,
}

pub struct Shared {
    pub epoll: OwnedFd,
    pub ledger: Ledger,
    started: Instant,
    wake: OwnedFd,
    inbox: Mutex<Inbox>,
}

impl Shared {
    pub fn now_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    pub fn inbox(&self) -> MutexGuard<'_, Inbox> {
        lock(&self.inbox)
    }

    fn order(&self, command: Command) {
        self.inbox().commands.push(command);
        // It fails only where the counter is full, and then the thread has been told.
        let _ = write(&self.wake, &1u64.to_ne_bytes());
    }
}

pub struct Plane {
    shared: Arc<Shared>,
    watches: Mutex<Watches>,
    keep_alive: Option<KeepAlive>,
    splices: bool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Plane {
    pub fn start(options: Options, listener: impl Listener) -> std::io::Result<Plane> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        // Edge-triggered: every write tells, and the counter never has to be read.
        epoll::add(&epoll, &wake, token::WAKE, epoll::EventFlags::IN | epoll::EventFlags::ET)?;
        let shared = Arc::new(Shared {
            epoll,
            ledger: Ledger::default(),
            started: Instant::now(),
            wake,
            inbox: Mutex::default(),
        });
        let splices = options.splice && engine::can_splice();
        let limits = Limits { stall_ms: options.stall_ms, half_close_ms: options.half_close_ms };
        let keep_alive = options.keep_alive;
        let engine = Engine::new(shared.clone(), &options, limits, splices, listener);
        let thread = std::thread::Builder::new()
            .name("splice".into())
            .stack_size(256 * 1024)
            .spawn(move || engine.run())?;
        Ok(Plane { shared, watches: Mutex::default(), keep_alive, splices, thread: Mutex::new(Some(thread)) })
    }

    /// Takes a session over. The caller may close its descriptors as soon as this has returned, and must not have
    /// anything of theirs unread or unsent: `early` is what it has read from each end and not passed on. On an error
    /// nothing was taken.
    pub fn add(&self, client: BorrowedFd<'_>, target: BorrowedFd<'_>, early: [Vec<u8>; 2]) -> Result<u64> {
        let epoll = &self.shared.epoll;
        let fds = [wire::duplicate(client, self.keep_alive)?, wire::duplicate(target, self.keep_alive)?];
        {
            let mut watches = self.watches();
            watches.remove_fd(epoll, client);
            watches.remove_fd(epoll, target);
        }
        let (id, meter) = self.shared.ledger.claim(self.shared.now_ms()).ok_or(Errno::NOSPC)?;
        let pair = Box::new(Pair::new(id, meter, fds, early));
        // The first event of an end may come before this has returned. The thread takes the inbox before it looks at
        // events, and so finds the pair; and the events tell the thread, nothing else has to.
        let mut inbox = self.shared.inbox();
        let registered = if inbox.stopped { Err(Errno::CANCELED) } else { register(epoll, &pair) };
        match registered {
            Ok(()) => {
                inbox.commands.push(Command::Add(pair));
                Ok(id)
            }
            Err(errno) => {
                drop(inbox);
                self.shared.ledger.release(id, pair.meter());
                Err(errno)
            }
        }
    }

    /// Ends a pair: with a reset of both ends, or in order once what was read has been delivered. Does nothing for one
    /// that is over.
    pub fn end(&self, id: u64, reset: bool) {
        self.shared.order(Command::End { id, reset });
    }

    pub fn counts(&self, id: u64) -> Option<Counts> {
        self.shared.ledger.read(id, self.shared.now_ms())
    }

    pub fn stats(&self) -> Stats {
        let ledger = &self.shared.ledger;
        Stats {
            live: ledger.live.load(Relaxed),
            pipes: ledger.pipes.load(Relaxed),
            idle_pipes: ledger.idle_pipes.load(Relaxed),
            up: ledger.up.load(Relaxed),
            down: ledger.down.load(Relaxed),
        }
    }

    /// Whether bytes go by splice(2), as opposed to being copied.
    pub fn splices(&self) -> bool {
        self.splices
    }

    /// Watches a client that nobody reads. The descriptor stays the caller's; closing it ends the watch too.
    pub fn watch(&self, fd: BorrowedFd<'_>) -> Result<u64> {
        self.watches().add(&self.shared.epoll, fd, token::watch)
    }

    /// What has been noticed already may still be told.
    pub fn unwatch(&self, watch: u64) {
        self.watches().remove(&self.shared.epoll, watch);
    }

    /// Cuts every pair and ends the thread. Each cut is told before this returns.
    pub fn stop(&self) {
        let thread = lock(&self.thread).take();
        let Some(thread) = thread else { return };
        self.shared.inbox().stopped = true;
        self.shared.order(Command::Stop);
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }

    fn watches(&self) -> MutexGuard<'_, Watches> {
        lock(&self.watches)
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        self.stop();
    }
}

fn register(epoll: &OwnedFd, pair: &Pair) -> Result<()> {
    let add = |side| epoll::add(epoll, pair.fd(side), token::end(pair.id, side), engine::EVENTS);
    add(Side::Client)?;
    add(Side::Target).inspect_err(|_| {
        let _ = epoll::delete(epoll, pair.fd(Side::Client));
    })
}
