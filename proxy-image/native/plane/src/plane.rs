//! The handle.

use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::thread::JoinHandle;
use std::time::Instant;

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::io::{Errno, Result, write};

use crate::engine::{self, Command, Engine, Inbox, token};
use crate::flow::FIRST_BYTES;
use crate::lane::{Lane, Room, Route, Shut};
use crate::lanes;
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
    /// Something has happened on a lane: `shut_lane` says what. Not called again before that was called.
    fn news(&mut self, lane: u32);
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
    /// Those of `live` that lanes have and the target has not spoken to.
    pub approaching: u32,
    pub pipes: u32,
    pub idle_pipes: u32,
    /// Delivered by all pairs together, finished ones included.
    pub up: u64,
    pub down: u64,
}

pub struct Shared {
    pub epoll: OwnedFd,
    pub ledger: Ledger,
    /// Clients of lanes on their way to the target.
    pub approaching: AtomicU32,
    /// The latest round that is over.
    pub rounds: AtomicU64,
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
    lanes: Mutex<Vec<Arc<Lane>>>,
    asked: AtomicU64,
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
            approaching: AtomicU32::new(0),
            rounds: AtomicU64::new(0),
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
        Ok(Plane {
            shared,
            watches: Mutex::default(),
            lanes: Mutex::default(),
            asked: AtomicU64::new(0),
            keep_alive,
            splices,
            thread: Mutex::new(Some(thread)),
        })
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
            approaching: self.shared.approaching.load(Relaxed),
            pipes: ledger.pipes.load(Relaxed),
            idle_pipes: ledger.idle_pipes.load(Relaxed),
            up: ledger.up.load(Relaxed),
            down: ledger.down.load(Relaxed),
        }
    }

    /// Asks for one more turn of the thread. What the kernel had to tell before this call has been dealt with, and all
    /// news have been called, once `round_over` is true of the result. For tests, whose time stands still meanwhile.
    pub fn ask_round(&self) -> u64 {
        let round = self.asked.fetch_add(1, Relaxed) + 1;
        self.shared.order(Command::Round(round));
        round
    }

    pub fn round_over(&self, round: u64) -> bool {
        self.shared.rounds.load(Acquire) >= round
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

    /// Takes over a listening socket as a lane, which is shut. The caller may close its descriptor. Its
    /// clients are in both rooms. The result counts from 1.
    /// `opening` is what clients say first who are no strangers.
    pub fn add_lane(
        &self,
        listener: BorrowedFd<'_>,
        rooms: [Arc<Room>; 2],
        opening: Option<Vec<u8>>,
    ) -> Result<u32> {
        if opening.as_ref().is_some_and(|opening| opening.len() > FIRST_BYTES) {
            return Err(Errno::INVAL);
        }
        let listener = rustix::io::fcntl_dupfd_cloexec(listener, wire::FIRST_FD)?;
        lanes::tune_listener(&listener, self.keep_alive)?;
        let mut lanes = self.lanes();
        let id = lanes.len() as u32 + 1;
        let lane = Arc::new(Lane::new(id, listener, rooms, opening));
        epoll::add(
            &self.shared.epoll,
            &lane.listener,
            token::lane(id),
            epoll::EventFlags::IN | epoll::EventFlags::ET,
        )?;
        self.shared.order(Command::Lane(lane.clone()));
        lanes.push(lane);
        Ok(id)
    }

    /// Opens a lane until it is shut, at most for so long. Does nothing while somebody is handed over whom
    /// `shut_lane` has not brought.
    pub fn open_lane(&self, id: u32, target: SocketAddr, for_ms: u64, dials: u32) {
        if let Some(lane) = self.lane(id) {
            lane.open(Route { target, until_ms: self.shared.now_ms() + for_ms, dials });
        }
    }

    /// Shuts a lane: from the return on nobody passes, and who has passed before is in the result.
    pub fn shut_lane(&self, id: u32) -> Option<Shut> {
        let (shut, was_full) = self.lane(id)?.shut();
        if was_full {
            self.shared.order(Command::Resume(id));
        }
        Some(shut)
    }

    /// Clients that are not spliced, those included whom the owner has not taken yet; and spliced ones.
    pub fn lane_counts(&self, id: u32) -> Option<[u32; 2]> {
        Some(self.lane(id)?.counts())
    }

    /// Has those that are on their way handed over, without their connections to the target.
    pub fn recall_lane(&self, id: u32) {
        self.shared.order(Command::Recall(id));
    }

    /// Ends every client of a lane by a reset.
    pub fn cut_lane(&self, id: u32) {
        self.shared.order(Command::Cut(id));
    }

    /// Stops listening at once. The lane's clients stay.
    pub fn close_lane(&self, id: u32) {
        if let Some(lane) = self.lane(id) {
            let _ = rustix::net::shutdown(&lane.listener, rustix::net::Shutdown::Both);
            self.shared.order(Command::Close(id));
        }
    }

    fn lane(&self, id: u32) -> Option<Arc<Lane>> {
        self.lanes().get((id as usize).checked_sub(1)?).cloned()
    }

    fn lanes(&self) -> MutexGuard<'_, Vec<Arc<Lane>>> {
        lock(&self.lanes)
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
