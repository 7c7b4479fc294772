//! The thread. One turn: wait for events, note what they say, let every pair that something happened to have its
//! turn, then one of those that have more to do. So a bulk transfer never has the others wait for more than its own
//! turn, however many there are.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice};

use crate::flow::{FIRST_ROUNDS, Kit, NEXT_ROUNDS};
use crate::lane::Lane;
use crate::lanes::Lanes;
use crate::ledger::slot_of;
use crate::outcome::{Ended, Reason, Side, Verdict};
use crate::pair::{Limits, Pair, Queue, Turn};
use crate::pipes::Pool;
use crate::plane::{Listener, Options, Shared};

pub const EVENTS: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

const BATCH: usize = 256;
const SHORTEST_TICK_MS: u64 = 5;
const LONGEST_TICK_MS: u64 = 1_000;

pub enum Command {
    Add(Box<Pair>),
    End {
        id: u64,
        reset: bool,
    },
    Lane(Arc<Lane>),
    /// The listener of a lane is closed.
    Close(u32),
    /// The owner of a lane has looked, and it may take clients again.
    Resume(u32),
    /// The owner wants those that are on their way.
    Recall(u32),
    /// Every client of the lane ends.
    Cut(u32),
    /// Asked for a round with this number.
    Round(u64),
    Stop,
}

#[derive(Default)]
pub struct Inbox {
    pub commands: Vec<Command>,
    pub stopped: bool,
}

/// What an event is about, in the number that comes with it: never an address, since an event can be late.
pub mod token {
    use rustix::event::epoll::EventData;

    use crate::outcome::Side;

    pub const WAKE: EventData = EventData::new_u64(3);

    pub enum Token {
        End(u64, Side),
        Watch(u64),
        Lane(u32),
        Wake,
    }

    pub fn end(id: u64, side: Side) -> EventData {
        EventData::new_u64((id << 2) | side as u64)
    }

    pub fn watch(id: u64) -> EventData {
        EventData::new_u64((id << 2) | 2)
    }

    /// Counted from 1.
    pub fn lane(id: u32) -> EventData {
        EventData::new_u64((u64::from(id) << 2) | 3)
    }

    pub fn read(data: EventData) -> Token {
        let token = data.u64();
        match token & 3 {
            0 => Token::End(token >> 2, Side::Client),
            1 => Token::End(token >> 2, Side::Target),
            2 => Token::Watch(token >> 2),
            _ if token == WAKE.u64() => Token::Wake,
            _ => Token::Lane((token >> 2) as u32),
        }
    }
}

use token::Token;

pub struct Engine<L> {
    shared: Arc<Shared>,
    listener: L,
    limits: Limits,
    tick_ms: u64,
    kit: Kit,
    pairs: Vec<Option<Box<Pair>>>,
    lanes: Lanes,
    fresh: VecDeque<u64>,
    bulk: VecDeque<u64>,
    timed: Vec<u64>,
    next_tick_ms: u64,
    /// The latest one that was asked for.
    round: u64,
    taken: Vec<Command>,
}

impl<L: Listener> Engine<L> {
    pub fn new(
        shared: Arc<Shared>,
        options: &Options,
        limits: Limits,
        splices: bool,
        listener: L,
    ) -> Engine<L> {
        let pool = Pool::new(options.pipe_bytes, options.idle_pipes, options.max_pipes);
        let shortest = [limits.stall_ms, limits.half_close_ms].into_iter().filter(|limit| *limit > 0).min();
        Engine {
            shared,
            listener,
            limits,
            tick_ms: (shortest.unwrap_or(LONGEST_TICK_MS) / 4).clamp(SHORTEST_TICK_MS, LONGEST_TICK_MS),
            kit: Kit::new(pool, splices),
            pairs: Vec::new(),
            lanes: Lanes::new(options.keep_alive),
            fresh: VecDeque::new(),
            bulk: VecDeque::new(),
            timed: Vec::new(),
            next_tick_ms: 0,
            round: 0,
            taken: Vec::new(),
        }
    }

    pub fn run(mut self) {
        let mut events: Vec<Event> = Vec::with_capacity(BATCH);
        loop {
            events.clear();
            match epoll::wait(&self.shared.epoll, spare_capacity(&mut events), self.patience().as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                // Only a bug of ours makes it fail; going on would be a loop that never rests.
                Err(errno) => panic!("epoll_wait: {errno}"),
            }
            self.kit.now_ms = self.shared.now_ms();
            if self.take_orders() {
                break;
            }
            for event in &events {
                self.note(*event);
            }
            self.lanes.turn(&self.shared, self.kit.now_ms);
            self.kit.rounds = FIRST_ROUNDS;
            while let Some(id) = self.fresh.pop_front() {
                self.turn(id, Pair::turn);
            }
            self.kit.rounds = NEXT_ROUNDS;
            if let Some(id) = self.bulk.pop_front() {
                self.turn(id, Pair::turn);
            }
            if !self.timed.is_empty() && self.kit.now_ms >= self.next_tick_ms {
                self.tick();
            }
            self.publish_pipes();
            let asked = self.round != self.shared.rounds.load(Relaxed);
            let listener = &mut self.listener;
            let due_ms = if asked { u64::MAX } else { self.kit.now_ms };
            self.lanes.due_news(due_ms, |lane| listener.news(lane));
            self.shared.approaching.store(self.lanes.approaching(), Relaxed);
            if asked {
                self.shared.rounds.store(self.round, Release);
            }
        }
        for slot in 0..self.pairs.len() {
            if let Some(pair) = self.pairs[slot].take() {
                self.finish(*pair, Verdict::of(Reason::Cut));
            }
        }
    }

    /// How long to wait for events: not at all while somebody has more to do.
    fn patience(&self) -> Option<Timespec> {
        let of_pairs = match (self.bulk.is_empty(), self.timed.is_empty()) {
            (false, _) => Some(0),
            (true, false) => Some(self.next_tick_ms),
            (true, true) => None,
        };
        let at_ms = [of_pairs, self.lanes.next_ms()].into_iter().flatten().min()?;
        // The clock's milliseconds are rounded down: waiting for what is left of one would wake too early.
        let ms = if at_ms == 0 { 0 } else { at_ms.saturating_sub(self.shared.now_ms()) };
        Some(Timespec { tv_sec: (ms / 1_000) as i64, tv_nsec: ((ms % 1_000) * 1_000_000) as _ })
    }

    /// True when it is time to stop.
    fn take_orders(&mut self) -> bool {
        let mut taken = std::mem::take(&mut self.taken);
        std::mem::swap(&mut self.shared.inbox().commands, &mut taken);
        let mut stops = false;
        for command in taken.drain(..) {
            match command {
                Command::Add(pair) => self.insert(pair),
                Command::End { id, reset: true } => self.over(id, Verdict::of(Reason::Cut)),
                Command::End { id, reset: false } => {
                    if let Some(pair) = live(&mut self.pairs, id) {
                        pair.end_in_order();
                        enqueue(pair, &mut self.fresh);
                    }
                }
                Command::Lane(lane) => self.lanes.add(lane),
                Command::Close(lane) => self.lanes.close(&self.shared, lane),
                Command::Resume(lane) => self.lanes.resume(lane),
                Command::Recall(lane) => self.lanes.recall(&self.shared, lane, self.kit.now_ms),
                Command::Cut(lane) => self.cut(lane),
                Command::Round(round) => self.round = round,
                Command::Stop => stops = true,
            }
        }
        self.taken = taken;
        stops
    }

    fn insert(&mut self, pair: Box<Pair>) {
        let slot = slot_of(pair.id);
        if self.pairs.len() <= slot {
            self.pairs.resize_with(slot + 1, || None);
        }
        self.pairs[slot] = Some(pair);
    }

    fn cut(&mut self, lane: u32) {
        let of_lane = |pair: &Pair| pair.guest.as_ref().is_some_and(|guest| guest.seat.lane() == lane);
        let ids: Vec<u64> =
            self.pairs.iter().flatten().filter(|pair| of_lane(pair)).map(|pair| pair.id).collect();
        for id in ids {
            self.over(id, Verdict::of(Reason::Cut));
        }
        self.lanes.cut(&self.shared, lane, self.kit.now_ms);
    }

    fn note(&mut self, event: Event) {
        // The record is packed: its fields are copied out.
        let (flags, data) = (event.flags, event.data);
        match token::read(data) {
            Token::Wake => {}
            Token::Watch(id) => {
                self.listener.hung_up(id, flags.intersects(EventFlags::ERR | EventFlags::HUP));
            }
            Token::Lane(id) => self.lanes.ready(id),
            Token::End(id, side) => {
                let Some(pair) = live(&mut self.pairs, id) else {
                    let spoken = self.lanes.note(&self.shared, id, side, flags, self.kit.now_ms);
                    if let Some(mut pair) = spoken {
                        enqueue(&mut pair, &mut self.fresh);
                        self.insert(pair);
                    }
                    return;
                };
                pair.ready(side, flags);
                enqueue(pair, &mut self.fresh);
            }
        }
    }

    fn turn(&mut self, id: u64, act: impl FnOnce(&mut Pair, &mut Kit) -> Turn) {
        let Some(pair) = live(&mut self.pairs, id) else { return };
        pair.queue = Queue::None;
        let [up, down] = pair.moved();
        let turn = act(pair, &mut self.kit);
        let [up, down] = [pair.moved()[0] - up, pair.moved()[1] - down];
        match turn {
            Turn::Over(verdict) => self.over(id, verdict),
            turn => {
                if matches!(turn, Turn::More) {
                    pair.queue = Queue::Bulk;
                    self.bulk.push_back(id);
                }
                if !pair.timed && pair.wants_time(self.limits) {
                    pair.timed = true;
                    if self.timed.is_empty() {
                        self.next_tick_ms = self.kit.now_ms + self.tick_ms;
                    }
                    self.timed.push(id);
                }
            }
        }
        // This thread alone adds: a load and a store do.
        let ledger = &self.shared.ledger;
        ledger.up.store(ledger.up.load(Relaxed) + up, Relaxed);
        ledger.down.store(ledger.down.load(Relaxed) + down, Relaxed);
    }

    /// Looks at the pairs that time can end, and forgets those that it no longer can.
    fn tick(&mut self) {
        self.next_tick_ms = self.kit.now_ms + self.tick_ms;
        self.kit.rounds = FIRST_ROUNDS;
        let limits = self.limits;
        for id in std::mem::take(&mut self.timed) {
            let Some(pair) = live(&mut self.pairs, id) else { continue };
            pair.timed = false;
            if pair.queue == Queue::None {
                self.turn(id, |pair, kit| pair.tick(kit, limits));
            } else if pair.wants_time(limits) {
                pair.timed = true;
                self.timed.push(id);
            }
        }
    }

    fn over(&mut self, id: u64, verdict: Verdict) {
        if live(&mut self.pairs, id).is_some()
            && let Some(pair) = self.pairs[slot_of(id)].take()
        {
            self.finish(*pair, verdict);
        }
    }

    fn finish(&mut self, mut pair: Pair, verdict: Verdict) {
        let guest = pair.guest.take();
        // Closing is not enough for one that was handed over: it would stay registered for as long as a duplicate of
        // the descriptor is open, and whoever handed it over may not have closed theirs yet.
        if guest.is_none() {
            for side in Side::BOTH {
                let _ = epoll::delete(&self.shared.epoll, pair.fd(side));
            }
        }
        let first = pair.first();
        let [up, down] = pair.moved();
        let ended = Ended { id: pair.id, reason: verdict.reason, errno: verdict.errno, up, down };
        let meter = pair.close(&mut self.kit);
        self.shared.ledger.release(ended.id, &meter);
        self.publish_pipes();
        match guest {
            Some(guest) => {
                let lane = guest.seat.lane();
                guest.end(ended, first, self.kit.now_ms);
                self.lanes.news(lane, self.kit.now_ms);
            }
            None => self.listener.ended(ended),
        }
    }

    fn publish_pipes(&self) {
        self.shared.ledger.pipes.store(self.kit.pipes.open() as u32, Relaxed);
        self.shared.ledger.idle_pipes.store(self.kit.pipes.idle() as u32, Relaxed);
    }
}

/// The pair, if it is still there.
fn live(pairs: &mut [Option<Box<Pair>>], id: u64) -> Option<&mut Pair> {
    pairs.get_mut(slot_of(id))?.as_deref_mut().filter(|pair| pair.id == id)
}

fn enqueue(pair: &mut Pair, fresh: &mut VecDeque<u64>) {
    if pair.queue == Queue::None {
        pair.queue = Queue::Fresh;
        fresh.push_back(pair.id);
    }
}

/// Sandboxes there are whose kernel has no splice(2), or not for sockets.
pub fn can_splice() -> bool {
    let try_it = || -> rustix::io::Result<bool> {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )?;
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        rustix::io::write(&theirs, b"?")?;
        let filled = splice(&ours, None, &writer, None, 1, SpliceFlags::NONBLOCK)?;
        let emptied = splice(&reader, None, &ours, None, 1, SpliceFlags::NONBLOCK)?;
        Ok(filled == 1 && emptied == 1)
    };
    // Short of descriptors it is as good as unknown: then each pair finds out.
    matches!(try_it(), Ok(true) | Err(Errno::MFILE | Errno::NFILE))
}
