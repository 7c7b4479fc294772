//! The thread's side of the lanes: taking clients, and each one's way to the target until its first byte.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::epoll::{self, EventFlags};
use rustix::io::{Errno, Result, fcntl_dupfd_cloexec};
use rustix::net::{
    AddressFamily, RecvFlags, SocketFlags, SocketType, acceptfrom_with, connect, recv, socket_with, sockopt,
};

use crate::engine::{EVENTS, token};
use crate::lane::{Guest, GuestEnded, Handed, Lane, Seat, cut};
use crate::ledger::Meter;
use crate::outcome::Side;
use crate::pair::Pair;
use crate::plane::{KeepAlive, Shared};
use crate::wire;

/// Clients of one lane that are taken before others have their turn.
const ACCEPTS: usize = 64;

/// A target that is up greets within a fraction of this; who waits longer than that waits with the owner, who has all
/// the deadlines.
const PATIENCE_MS: u64 = 100;

/// After the kernel refused to accept, for want of descriptors or memory.
const BACK_OFF_MS: u64 = 100;

/// News that are not pressing are told together.
const NEWS_MS: u64 = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Accepting {
    /// An event will tell.
    Waits,
    /// There may be clients.
    Ready,
    /// After trouble.
    Until(u64),
    /// Until the owner has looked.
    Full,
}

struct Entry {
    lane: Arc<Lane>,
    accepting: Accepting,
    /// When the owner is to be called.
    news_at_ms: Option<u64>,
}

/// A client on its way.
struct Approach {
    seat: Seat,
    meter: Meter,
    client: OwnedFd,
    target: OwnedFd,
    address: IpAddr,
    accepted_ms: u64,
    connected: bool,
    /// What events have said of the client; they come once.
    client_flags: EventFlags,
}

pub struct Lanes {
    entries: HashMap<u32, Entry>,
    approaches: HashMap<u64, Box<Approach>>,
    /// Whose patience ends when, in order.
    waits: VecDeque<(u64, u64)>,
    keep_alive: Option<KeepAlive>,
    /// Given up when there is no other descriptor, so that a client that can't be served is told so.
    spare: Option<OwnedFd>,
}

impl Lanes {
    pub fn new(keep_alive: Option<KeepAlive>) -> Lanes {
        Lanes {
            entries: HashMap::new(),
            approaches: HashMap::new(),
            waits: VecDeque::new(),
            keep_alive,
            spare: None,
        }
    }

    pub fn add(&mut self, lane: Arc<Lane>) {
        // Whoever came before has made its event already, perhaps.
        let entry = Entry { lane, accepting: Accepting::Ready, news_at_ms: None };
        self.entries.insert(entry.lane.id, entry);
    }

    /// The listener is no more; its clients stay.
    pub fn close(&mut self, shared: &Shared, id: u32) {
        if let Some(entry) = self.entries.get_mut(&id) {
            let _ = epoll::delete(&shared.epoll, &entry.lane.listener);
            entry.accepting = Accepting::Waits;
        }
    }

    pub fn ready(&mut self, id: u32) {
        if let Some(entry) = self.entries.get_mut(&id)
            && matches!(entry.accepting, Accepting::Waits)
        {
            entry.accepting = Accepting::Ready;
        }
    }

    /// The owner has looked.
    pub fn resume(&mut self, id: u32) {
        if let Some(entry) = self.entries.get_mut(&id)
            && matches!(entry.accepting, Accepting::Full)
        {
            entry.accepting = Accepting::Ready;
        }
    }

    /// Those of a lane that are on their way go to its owner, without what they had of the target.
    pub fn recall(&mut self, shared: &Shared, lane: u32, now_ms: u64) {
        for id in self.on_the_way(lane) {
            self.hand_over(shared, id, false, now_ms);
        }
    }

    pub fn cut(&mut self, shared: &Shared, lane: u32, now_ms: u64) {
        for id in self.on_the_way(lane) {
            let Some(approach) = self.approaches.remove(&id) else { continue };
            wire::abort_on_close(&approach.client);
            wire::abort_on_close(&approach.target);
            shared.ledger.release(id, &approach.meter);
            let Approach { seat, address, accepted_ms, .. } = *approach;
            let held_ms = now_ms.saturating_sub(accepted_ms);
            seat.end(GuestEnded { ended: cut(id), address, held_ms, spliced_ms: 0, stranger: false });
        }
        self.news(lane, now_ms);
    }

    /// Takes what clients there are, and gives up waiting for those whose target is slow.
    pub fn turn(&mut self, shared: &Shared, now_ms: u64) {
        let mut ready: Vec<u32> = Vec::new();
        for (id, entry) in &mut self.entries {
            match entry.accepting {
                Accepting::Ready => ready.push(*id),
                Accepting::Until(at_ms) if at_ms <= now_ms => ready.push(*id),
                _ => {}
            }
        }
        for id in ready {
            let accepting = self.accept(shared, id, now_ms);
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.accepting = accepting;
            }
        }
        while let Some((at_ms, id)) = self.waits.front().copied()
            && (at_ms <= now_ms || !self.approaches.contains_key(&id))
        {
            self.waits.pop_front();
            self.hand_over(shared, id, true, now_ms);
        }
    }

    /// The lanes whose owners are to be called now.
    pub fn due_news(&mut self, now_ms: u64, mut call: impl FnMut(u32)) {
        for (id, entry) in &mut self.entries {
            if entry.news_at_ms.is_some_and(|at_ms| at_ms <= now_ms) {
                entry.news_at_ms = None;
                if entry.lane.may_call() {
                    call(*id);
                }
            }
        }
    }

    pub fn approaching(&self) -> u32 {
        self.approaches.len() as u32
    }

    /// When there is something to do, if no event comes before.
    pub fn next_ms(&self) -> Option<u64> {
        let of_entry = |entry: &Entry| {
            let accepting = match entry.accepting {
                Accepting::Ready => Some(0),
                Accepting::Until(at_ms) => Some(at_ms),
                Accepting::Waits | Accepting::Full => None,
            };
            [accepting, entry.news_at_ms].into_iter().flatten().min()
        };
        let of_waits = self.waits.front().map(|(at_ms, _)| *at_ms);
        self.entries.values().filter_map(of_entry).chain(of_waits).min()
    }

    /// News that can wait a little.
    pub fn news(&mut self, lane: u32, now_ms: u64) {
        if let Some(entry) = self.entries.get_mut(&lane) {
            entry.news_at_ms.get_or_insert(now_ms + NEWS_MS);
        }
    }

    fn news_now(&mut self, lane: u32) {
        if let Some(entry) = self.entries.get_mut(&lane) {
            entry.news_at_ms = Some(0);
        }
    }

    fn on_the_way(&self, lane: u32) -> Vec<u64> {
        let of_lane = self.approaches.iter().filter(|(_, approach)| approach.seat.lane() == lane);
        let mut ids: Vec<u64> = of_lane.map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    fn accept(&mut self, shared: &Shared, id: u32, now_ms: u64) -> Accepting {
        let Some(lane) = self.entries.get(&id).map(|entry| entry.lane.clone()) else {
            return Accepting::Waits;
        };
        if self.spare.is_none() {
            self.spare = fcntl_dupfd_cloexec(&shared.epoll, wire::FIRST_FD).ok();
        }
        for _ in 0..ACCEPTS {
            if lane.is_full() {
                return Accepting::Full;
            }
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let (client, address) = match acceptfrom_with(&lane.listener, flags) {
                Ok(accepted) => accepted,
                // The last one is a listener that was shut.
                Err(Errno::AGAIN | Errno::INVAL) => return Accepting::Waits,
                Err(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::NOBUFS)) => {
                    lane.trouble(errno);
                    self.news_now(id);
                    if self.shed(shared, &lane) {
                        continue;
                    }
                    return Accepting::Until(now_ms + BACK_OFF_MS);
                }
                // The trouble of one client, who is gone.
                Err(_) => continue,
            };
            let address = address
                .and_then(|any| SocketAddr::try_from(any).ok())
                .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |address| address.ip());
            self.admit(shared, &lane, client, address, now_ms);
        }
        Accepting::Ready
    }

    /// Turns one client away by the spare descriptor. False where that doesn't help.
    fn shed(&mut self, shared: &Shared, lane: &Lane) -> bool {
        if self.spare.take().is_none() {
            return false;
        }
        let shed = acceptfrom_with(&lane.listener, SocketFlags::CLOEXEC).is_ok();
        self.spare = fcntl_dupfd_cloexec(&shared.epoll, wire::FIRST_FD).ok();
        shed
    }

    fn admit(&mut self, shared: &Shared, lane: &Arc<Lane>, client: OwnedFd, address: IpAddr, now_ms: u64) {
        let Some((seat, route)) = lane.enter(now_ms) else {
            lane.hand_over(client);
            return self.news_now(lane.id);
        };
        match self.dial(shared, &client, route, now_ms) {
            Ok((id, meter, target, connected)) => {
                let accepted_ms = now_ms;
                let client_flags = EventFlags::empty();
                let approach =
                    Approach { seat, meter, client, target, address, accepted_ms, connected, client_flags };
                self.approaches.insert(id, Box::new(approach));
                self.waits.push_back((now_ms + PATIENCE_MS, id));
            }
            Err(_) => {
                seat.hand_over(Handed { client, target: None, held_ms: 0 });
                self.news_now(lane.id);
            }
        }
    }

    /// Begins the client's connection to the target, and has both watched.
    fn dial(
        &self,
        shared: &Shared,
        client: &OwnedFd,
        to: SocketAddr,
        now_ms: u64,
    ) -> Result<(u64, Meter, OwnedFd, bool)> {
        let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let target = socket_with(family, SocketType::STREAM, flags, None)?;
        wire::tune(&target, self.keep_alive);
        let connected = match connect(&target, &to) {
            Ok(()) => true,
            Err(Errno::INPROGRESS) => false,
            Err(errno) => return Err(errno),
        };
        let (id, meter) = shared.ledger.claim(now_ms).ok_or(Errno::NOSPC)?;
        let watch = |fd: &OwnedFd, side| epoll::add(&shared.epoll, fd, token::end(id, side), EVENTS);
        let watched = watch(&target, Side::Target).and_then(|()| watch(client, Side::Client));
        if let Err(errno) = watched {
            // Closing the target ends its registration; the client had none.
            shared.ledger.release(id, &meter);
            return Err(errno);
        }
        Ok((id, meter, target, connected))
    }

    /// Takes note of an event. A pair, when it has come to that.
    pub fn note(
        &mut self,
        shared: &Shared,
        id: u64,
        side: Side,
        flags: EventFlags,
        now_ms: u64,
    ) -> Option<Box<Pair>> {
        let approach = self.approaches.get_mut(&id)?;
        let over = flags.intersects(EventFlags::ERR | EventFlags::HUP | EventFlags::RDHUP);
        let readable = flags.contains(EventFlags::IN);
        match side {
            // A client that ends, in order or not, is the owner's to judge.
            Side::Client if over => self.hand_over(shared, id, true, now_ms),
            Side::Client => approach.client_flags |= flags,
            Side::Target if over && !has_bytes(&approach.target) => {
                self.hand_over(shared, id, false, now_ms);
            }
            Side::Target if readable => return self.splice(id, flags, now_ms),
            Side::Target => approach.connected = true,
        }
        None
    }

    fn splice(&mut self, id: u64, target_flags: EventFlags, now_ms: u64) -> Option<Box<Pair>> {
        let approach = *self.approaches.remove(&id)?;
        let Approach { mut seat, meter, client, target, address, accepted_ms, client_flags, .. } = approach;
        let lane = seat.lane();
        seat.splice();
        let guest = Box::new(Guest { seat, address, accepted_ms, spliced_ms: now_ms });
        let mut pair = Box::new(Pair::new(id, meter, [client, target], [Vec::new(), Vec::new()]));
        pair.guest = Some(guest);
        // Events come once only, and theirs have been.
        pair.ready(Side::Client, client_flags | EventFlags::OUT);
        pair.ready(Side::Target, target_flags | EventFlags::OUT);
        self.news(lane, now_ms);
        Some(pair)
    }

    fn hand_over(&mut self, shared: &Shared, id: u64, with_target: bool, now_ms: u64) {
        let Some(approach) = self.approaches.remove(&id) else { return };
        let Approach { seat, meter, client, target, accepted_ms, connected, .. } = *approach;
        // They live on in other hands, and their registrations would with them.
        let _ = epoll::delete(&shared.epoll, &client);
        let _ = epoll::delete(&shared.epoll, &target);
        shared.ledger.release(id, &meter);
        let lane = seat.lane();
        let target = (with_target && connected).then_some(target);
        seat.hand_over(Handed { client, target, held_ms: now_ms.saturating_sub(accepted_ms) });
        self.news_now(lane);
    }
}

/// Whether there is anything but an end to read.
fn has_bytes(target: &OwnedFd) -> bool {
    let mut byte = [0u8; 1];
    matches!(recv(target, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT), Ok((_, 1)))
}

/// What is the same for every client of a listener is set on the listener, and comes with each.
pub fn tune_listener(listener: &OwnedFd, keep_alive: Option<KeepAlive>) -> Result<()> {
    if !sockopt::socket_acceptconn(listener)? {
        return Err(Errno::INVAL);
    }
    rustix::io::ioctl_fionbio(listener, true)?;
    wire::tune(listener, keep_alive);
    Ok(())
}
