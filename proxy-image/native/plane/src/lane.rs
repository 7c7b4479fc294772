//! A lane is the short way of one port: while it is open, the thread itself takes the port's clients, connects each to
//! the target and splices it at the target's first byte. Whatever does not go as smoothly as that is handed over to
//! the owner of the lane, with the sockets as they are.
//!
//! The owner opens and shuts it. A lane that is shut still takes clients and hands over each; and it shuts by itself
//! with every client that it hands over, so that nobody who comes later overtakes one who waits elsewhere.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use rustix::io::Errno;

use crate::flow::First;
use crate::outcome::{Ended, Reason};
use crate::sync::{Mutex, MutexGuard, lock};

/// So much may wait for its owner before the lane takes no more clients: they wait in the kernel's queue.
const MOST_HANDED: usize = 256;
const MOST_ENDED: usize = 4_096;

/// How many clients there may be at once, of several lanes together.
#[derive(Default)]
pub struct Room {
    used: AtomicU32,
    cap: AtomicU32,
}

impl Room {
    /// Those that are there stay, however many they are.
    pub fn set_cap(&self, cap: u32) {
        self.cap.store(cap, Relaxed);
    }

    fn enter(&self) -> bool {
        let cap = self.cap.load(Relaxed);
        self.used.fetch_update(Relaxed, Relaxed, |used| (used < cap).then_some(used + 1)).is_ok()
    }

    fn leave(&self) {
        self.used.fetch_sub(1, Relaxed);
    }
}

/// Where the clients of an open lane are connected to.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub target: SocketAddr,
    /// By the plane's clock; the lane counts as shut from then on.
    pub until_ms: u64,
    /// Connections being made at once.
    pub dials: u32,
}

/// A client that is its owner's now, with its connection to the target where there is one that has not spoken yet.
#[derive(Debug)]
pub struct Handed {
    pub client: OwnedFd,
    pub target: Option<OwnedFd>,
    /// Since it was accepted, and its connection to the target begun.
    pub held_ms: u64,
}

/// The account of a client that was spliced by the lane, or cut before.
#[derive(Clone, Copy, Debug)]
pub struct GuestEnded {
    pub ended: Ended,
    pub address: IpAddr,
    pub held_ms: u64,
    pub spliced_ms: u64,
    /// What it said first is not what the lane's clients say.
    pub stranger: bool,
}

/// What has happened on a lane since it was last shut by its owner.
#[derive(Debug, Default)]
pub struct News {
    /// Clients to whom the target has spoken.
    pub joined: u32,
    pub trouble: Option<Errno>,
    pub handed: Vec<Handed>,
    pub ended: Vec<GuestEnded>,
}

#[derive(Debug, Default)]
pub struct Shut {
    /// Clients on their way to the target, and spliced ones.
    pub dialling: u32,
    pub spliced: u32,
    pub news: News,
}

#[derive(Default)]
struct Door {
    route: Option<Route>,
    dialling: u32,
    spliced: u32,
    news: News,
}

pub struct Lane {
    pub id: u32,
    pub listener: OwnedFd,
    rooms: [Arc<Room>; 2],
    /// What its clients say first, where that tells them from strangers; of seven bytes at most.
    opening: Option<Vec<u8>>,
    door: Mutex<Door>,
    /// The owner was called and has not looked yet.
    called: AtomicBool,
}

impl Lane {
    pub fn new(id: u32, listener: OwnedFd, rooms: [Arc<Room>; 2], opening: Option<Vec<u8>>) -> Lane {
        Lane { id, listener, rooms, opening, door: Mutex::default(), called: AtomicBool::new(false) }
    }

    /// Does nothing while somebody is handed over whom the owner has not seen.
    pub fn open(&self, route: Route) {
        let mut door = self.door();
        if door.news.handed.is_empty() {
            door.route = Some(route);
        }
    }

    /// From its return on nobody passes; who has passed before is in the result. The second result: the thread had
    /// stopped taking clients, since the owner had not looked for too long.
    pub fn shut(&self) -> (Shut, bool) {
        self.called.store(false, Relaxed);
        let mut door = self.door();
        door.route = None;
        let was_full = full(&door);
        let news = std::mem::take(&mut door.news);
        (Shut { dialling: door.dialling, spliced: door.spliced, news }, was_full)
    }

    /// Clients that are not spliced, those included whom the owner has not taken yet; and spliced ones.
    pub fn counts(&self) -> [u32; 2] {
        let door = self.door();
        [door.dialling + door.news.handed.len() as u32, door.spliced]
    }

    /// True once between two looks of the owner.
    pub fn may_call(&self) -> bool {
        !self.called.swap(true, Relaxed)
    }

    pub fn is_full(&self) -> bool {
        full(&self.door())
    }

    pub fn trouble(&self, errno: Errno) {
        self.door().news.trouble = Some(errno);
    }

    /// A way for one more client, where the lane is open.
    pub fn enter(self: &Arc<Lane>, now_ms: u64) -> Option<(Seat, SocketAddr)> {
        let mut door = self.door();
        let route = door.route.filter(|route| now_ms < route.until_ms && door.dialling < route.dials)?;
        let [one, all] = &self.rooms;
        if !one.enter() {
            return None;
        }
        if !all.enter() {
            one.leave();
            return None;
        }
        door.dialling += 1;
        Some((Seat { lane: self.clone(), stage: Stage::Dialling }, route.target))
    }

    /// For a client that found no way.
    pub fn hand_over(&self, client: OwnedFd) {
        let mut door = self.door();
        door.route = None;
        door.news.handed.push(Handed { client, target: None, held_ms: 0 });
    }

    fn door(&self) -> MutexGuard<'_, Door> {
        lock(&self.door)
    }
}

fn full(door: &Door) -> bool {
    door.news.handed.len() >= MOST_HANDED || door.news.ended.len() >= MOST_ENDED
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Dialling,
    Spliced,
    Left,
}

/// A client's place in its lane. Whatever way it goes, it gives it back, once.
pub struct Seat {
    lane: Arc<Lane>,
    stage: Stage,
}

impl Seat {
    pub fn lane(&self) -> u32 {
        self.lane.id
    }

    pub fn splice(&mut self) {
        self.stage = Stage::Spliced;
        let mut door = self.lane.door();
        door.dialling -= 1;
        door.spliced += 1;
        door.news.joined += 1;
    }

    pub fn hand_over(mut self, handed: Handed) {
        self.leave(|door| {
            door.route = None;
            door.news.handed.push(handed);
        });
    }

    pub fn end(mut self, ended: GuestEnded) {
        self.leave(|door| door.news.ended.push(ended));
    }

    /// The place is given back in the same moment as it is said why: nobody sees the one without the other.
    fn leave(&mut self, say: impl FnOnce(&mut Door)) {
        let mut door = self.lane.door();
        match std::mem::replace(&mut self.stage, Stage::Left) {
            Stage::Dialling => door.dialling -= 1,
            Stage::Spliced => door.spliced -= 1,
            Stage::Left => return,
        }
        say(&mut door);
        for room in &self.lane.rooms {
            room.leave();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leave(|_| {});
    }
}

/// A spliced pair's client, where it came by a lane.
pub struct Guest {
    pub seat: Seat,
    pub address: IpAddr,
    pub accepted_ms: u64,
    pub spliced_ms: u64,
}

impl Guest {
    pub fn end(self, ended: Ended, first: First, now_ms: u64) {
        let held_ms = self.spliced_ms.saturating_sub(self.accepted_ms);
        let spliced_ms = now_ms.saturating_sub(self.spliced_ms);
        let opening = self.seat.lane.opening.as_deref();
        let stranger = opening.is_some_and(|opening| !first.bytes().starts_with(opening));
        self.seat.end(GuestEnded { ended, address: self.address, held_ms, spliced_ms, stranger });
    }
}

/// The end of a client that the owner cut before it was spliced.
pub fn cut(id: u64) -> Ended {
    Ended { id, reason: Reason::Cut, errno: 0, up: 0, down: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    fn lane(one: u32, all: u32) -> Arc<Lane> {
        let rooms = [one, all].map(|cap| {
            let room = Room::default();
            room.set_cap(cap);
            Arc::new(room)
        });
        Arc::new(Lane::new(1, descriptor(), rooms, None))
    }

    fn descriptor() -> OwnedFd {
        std::io::stdin().as_fd().try_clone_to_owned().unwrap()
    }

    fn route(until_ms: u64) -> Route {
        Route { target: "127.0.0.1:1".parse().unwrap(), until_ms, dials: 2 }
    }

    #[test]
    fn lets_in_while_it_is_open_and_there_is_room_and_time() {
        let lane = lane(3, 10);
        assert!(lane.enter(0).is_none());
        lane.open(route(10));
        let mut first = lane.enter(9).unwrap().0;
        let second = lane.enter(9).unwrap().0;
        assert!(lane.enter(9).is_none(), "two dials at once");
        first.splice();
        let third = lane.enter(9).unwrap().0;
        assert_eq!(lane.counts(), [2, 1]);
        second.end(GuestEnded {
            ended: cut(1),
            address: [0, 0, 0, 0].into(),
            held_ms: 0,
            spliced_ms: 0,
            stranger: false,
        });
        assert!(lane.enter(10).is_none(), "out of time");
        lane.open(route(20));
        let fourth = lane.enter(10).unwrap().0;
        drop((third, fourth, first));
    }

    #[test]
    fn the_room_of_all_is_the_limit_too() {
        let lane = lane(3, 1);
        lane.open(route(10));
        let (first, _) = lane.enter(0).unwrap();
        assert!(lane.enter(0).is_none());
        first.hand_over(Handed { client: descriptor(), target: None, held_ms: 0 });
        let (shut, _) = lane.shut();
        assert_eq!((shut.dialling, shut.news.handed.len()), (0, 1));
        lane.open(route(10));
        assert!(lane.enter(0).is_some());
    }

    #[test]
    fn shuts_with_everybody_it_hands_over_and_stays_so_until_the_owner_has_looked() {
        let lane = lane(9, 9);
        lane.open(route(10));
        lane.hand_over(descriptor());
        assert!(lane.enter(0).is_none());
        lane.open(route(10));
        assert!(lane.enter(0).is_none());
        assert_eq!(lane.shut().0.news.handed.len(), 1);
        lane.open(route(10));
        assert!(lane.enter(0).is_some());
    }

    #[test]
    fn takes_no_more_than_its_owner_has_looked_at() {
        let lane = lane(9, 9);
        for _ in 0..MOST_HANDED {
            assert!(!lane.is_full());
            lane.hand_over(descriptor());
        }
        assert!(lane.is_full());
        assert!(lane.shut().1);
        assert!(!lane.is_full());
    }

    #[test]
    fn calls_once_between_two_looks() {
        let lane = lane(9, 9);
        assert!(lane.may_call());
        assert!(!lane.may_call());
        lane.shut();
        assert!(lane.may_call());
    }
}
