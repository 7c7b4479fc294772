//! One spliced session.

use std::os::fd::OwnedFd;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use crate::flow::{End, Fault, First, Flow, Kit, Pumped};
use crate::lane::Guest;
use crate::ledger::Meter;
use crate::outcome::{Reason, Side, Verdict};
use crate::wire;

/// Where the pair stands for a turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    None,
    /// Something has happened to it.
    Fresh,
    /// It had a turn and has more to do.
    Bulk,
}

pub enum Turn {
    Waits,
    More,
    Over(Verdict),
}

/// Ends that are not the sockets' own. 0 is no limit.
#[derive(Clone, Copy)]
pub struct Limits {
    pub stall_ms: u64,
    pub half_close_ms: u64,
}

pub struct Pair {
    pub id: u64,
    pub queue: Queue,
    /// In the engine's list of pairs to look at from time to time.
    pub timed: bool,
    /// Where its client came by a lane.
    pub guest: Option<Box<Guest>>,
    /// The kernel was short of memory: try again without an event.
    retries: bool,
    /// An orderly end was asked for.
    ending: bool,
    ends: [End; 2],
    flows: [Flow; 2],
    meter: Meter,
    half: Option<Half>,
    unconfirmed: [u32; 2],
}

/// A half-closed pair: what its living direction had moved when anything was last seen to move.
#[derive(Clone, Copy)]
struct Half {
    moved: u64,
    since_ms: u64,
}

impl Pair {
    /// `early` are bytes of each end that go to the other one first.
    pub fn new(id: u64, meter: Meter, fds: [OwnedFd; 2], early: [Vec<u8>; 2]) -> Pair {
        Pair {
            id,
            queue: Queue::None,
            timed: false,
            guest: None,
            retries: false,
            ending: false,
            ends: fds.map(End::new),
            flows: early.map(Flow::new),
            meter,
            half: None,
            unconfirmed: [0; 2],
        }
    }

    pub fn fd(&self, side: Side) -> &OwnedFd {
        &self.ends[side as usize].fd
    }

    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Bytes delivered to the target and to the client.
    pub fn moved(&self) -> [u64; 2] {
        [self.flows[0].bytes, self.flows[1].bytes]
    }

    /// What the client said first.
    pub fn first(&self) -> First {
        self.flows[Side::Client as usize].first
    }

    /// Takes note of what events said of one end.
    pub fn ready(&mut self, side: Side, flags: EventFlags) {
        let end = &mut self.ends[side as usize];
        let hung_up = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        end.ended |= hung_up || flags.contains(EventFlags::RDHUP);
        end.readable |= end.ended || flags.contains(EventFlags::IN);
        end.writable |= hung_up || flags.contains(EventFlags::OUT);
        if flags.contains(EventFlags::ERR) && end.failed.is_none() {
            end.failed = wire::take_error(&end.fd);
        }
    }

    /// Nothing more is read; what was read is delivered, then both ends are told.
    pub fn end_in_order(&mut self) {
        self.ending = true;
        for flow in &mut self.flows {
            flow.end();
        }
    }

    pub fn turn(&mut self, kit: &mut Kit) -> Turn {
        let before = self.moved();
        let turn = self.pump(kit);
        let [up, down] = self.moved();
        if [up, down] != before {
            self.meter.write(up, down, kit.now_ms);
        }
        turn
    }

    fn pump(&mut self, kit: &mut Kit) -> Turn {
        self.retries = false;
        let mut more = false;
        for side in Side::BOTH {
            if self.failed().is_some() {
                break;
            }
            match self.flow(side, kit) {
                Ok(Pumped::Waits) => {}
                Ok(Pumped::More) => more = true,
                Ok(Pumped::Later) => self.retries = true,
                Err(Fault { reading, errno }) => {
                    let failed = if reading { side } else { side.other() };
                    self.ends[failed as usize].failed = Some(errno);
                }
            }
        }
        if let Some((side, errno)) = self.failed() {
            return self.salvage(side, errno, kit);
        }
        if self.flows.iter().all(Flow::is_shut) {
            return Turn::Over(Verdict::of(if self.ending { Reason::Cut } else { Reason::Closed }));
        }
        if more { Turn::More } else { Turn::Waits }
    }

    /// One end is dead. What it had sent before is passed on as far as the other end takes it right now.
    fn salvage(&mut self, side: Side, errno: Errno, kit: &mut Kit) -> Turn {
        match self.flow(side, kit) {
            Ok(Pumped::More) => Turn::More,
            _ => Turn::Over(Verdict::on(side, errno)),
        }
    }

    fn failed(&self) -> Option<(Side, Errno)> {
        Side::BOTH.into_iter().find_map(|side| Some((side, self.ends[side as usize].failed?)))
    }

    fn flow(&mut self, from: Side, kit: &mut Kit) -> Result<Pumped, Fault> {
        let [client, target] = &mut self.ends;
        let [up, down] = &mut self.flows;
        match from {
            Side::Client => up.pump(client, target, kit),
            Side::Target => down.pump(target, client, kit),
        }
    }

    /// Whether time alone can end the pair, or has to move it on.
    pub fn wants_time(&self, limits: Limits) -> bool {
        self.retries
            || (limits.stall_ms > 0 && self.flows.iter().any(Flow::is_blocked))
            || (limits.half_close_ms > 0 && self.living().is_some())
    }

    /// A turn that no event asked for. "Writable" comes only when a third of the send buffer is free; a reader that
    /// takes a little at a time would look stalled, so the write is tried.
    pub fn tick(&mut self, kit: &mut Kit, limits: Limits) -> Turn {
        for side in Side::BOTH {
            let (retries, blocked) = (self.retries, self.flows[side.other() as usize].is_blocked());
            let end = &mut self.ends[side as usize];
            end.writable |= retries || blocked;
            end.readable |= retries;
        }
        match self.turn(kit) {
            Turn::Waits => self.out_of_time(kit.now_ms, limits).map_or(Turn::Waits, Turn::Over),
            turn => turn,
        }
    }

    fn out_of_time(&mut self, now_ms: u64, limits: Limits) -> Option<Verdict> {
        // What a peer confirms it has received, though none of it shows as room to write yet.
        let unconfirmed = Side::BOTH.map(|side| wire::unconfirmed(self.fd(side)));
        let before = std::mem::replace(&mut self.unconfirmed, unconfirmed);
        for side in Side::BOTH {
            let to = side.other();
            let flow = &mut self.flows[side as usize];
            if unconfirmed[to as usize] != before[to as usize] {
                flow.blocked_since_ms = now_ms;
            }
            let blocked_ms = now_ms.saturating_sub(flow.blocked_since_ms);
            if limits.stall_ms > 0 && flow.is_blocked() && blocked_ms >= limits.stall_ms {
                return Some(Verdict::stalled(to));
            }
        }
        if limits.half_close_ms == 0 {
            return None;
        }
        let living = &self.flows[self.living()? as usize];
        // Both ends may still receive: one what was sent before the end, the other what the living end sends.
        let moves = unconfirmed != before || self.half.is_none_or(|half| half.moved != living.bytes);
        // Bytes that wait for a reader are not silence: those are the stall limit's.
        if moves || living.is_blocked() {
            self.half = Some(Half { moved: living.bytes, since_ms: now_ms });
        }
        let silent_ms = now_ms - self.half?.since_ms;
        (silent_ms >= limits.half_close_ms).then_some(Verdict::of(Reason::HalfClosed))
    }

    /// Where one direction has ended: the end that hasn't.
    fn living(&self) -> Option<Side> {
        match [self.flows[0].is_shut(), self.flows[1].is_shut()] {
            [true, false] => Some(Side::Target),
            [false, true] => Some(Side::Client),
            _ => None,
        }
    }

    /// Closes both sockets; with a reset, unless both were told that all is said.
    pub fn close(self, kit: &mut Kit) -> Meter {
        if !self.flows.iter().all(Flow::is_shut) {
            for end in &self.ends {
                wire::abort_on_close(&end.fd);
            }
        }
        for flow in self.flows {
            flow.dispose(&mut kit.pipes);
        }
        self.meter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thousands of idle sessions fit beside everything else in 128 MiB: an idle pair is this and 32 bytes of counters.
    #[test]
    fn a_pair_is_small() {
        assert!(size_of::<Pair>() <= 256, "{} bytes", size_of::<Pair>());
    }
}
