//! One direction of a pair: from one end, through a pipe, to the other end.

use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result, read, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use rustix::pipe::{SpliceFlags, splice};

use crate::pipes::{Pipe, Pool};

/// What one direction may move before others get a turn: so many times a pipe's size.
pub const FIRST_ROUNDS: u32 = 2;
pub const NEXT_ROUNDS: u32 = 4;

const COPY_BYTES: usize = 64 * 1024;

/// Less than this is read and sent: two calls, and a short read says that there is no more, which a short splice does
/// not, as a pipe may be out of slots. What the other end doesn't take of it is kept, beside a send buffer that is full.
const SIP_BYTES: usize = 4 * 1024;

/// How much of what an end says first is remembered.
pub const FIRST_BYTES: usize = 7;

/// What an end has said first, of what was little enough to be looked at.
#[derive(Clone, Copy, Default)]
pub struct First {
    bytes: [u8; FIRST_BYTES],
    len: u8,
}

impl First {
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn hear(&mut self, said: &[u8]) {
        let at = usize::from(self.len);
        let more = said.len().min(FIRST_BYTES - at);
        self.bytes[at..at + more].copy_from_slice(&said[..more]);
        self.len += more as u8;
    }
}

/// What all flows share.
pub struct Kit {
    pub pipes: Pool,
    /// Where the kernel splices at all.
    pub splices: bool,
    pub now_ms: u64,
    pub rounds: u32,
    /// Made by the first that has to copy.
    scratch: Vec<u8>,
}

impl Kit {
    pub fn new(pipes: Pool, splices: bool) -> Kit {
        Kit { pipes, splices, now_ms: 0, rounds: FIRST_ROUNDS, scratch: Vec::new() }
    }
}

pub struct End {
    pub fd: OwnedFd,
    /// May have bytes, an end or an error to read. With edge-triggered events it stays so until a read says no.
    pub readable: bool,
    pub writable: bool,
    /// Has said its last, or is dead: no more events will come of it.
    pub ended: bool,
    /// Its connection is dead. What it had sent before can still be read; the end of that is no orderly end.
    pub failed: Option<Errno>,
}

impl End {
    pub fn new(fd: OwnedFd) -> End {
        // Nothing is known yet: the first event comes as soon as the kernel is told to watch.
        End { fd, readable: false, writable: false, ended: false, failed: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Nothing more is read; what was read is still being passed on.
    Ending,
    /// The other end was told.
    Shut,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pumped {
    /// An event will tell when it goes on.
    Waits,
    /// There is more, and others have their turn first.
    More,
    /// The kernel is short of memory; no event will come.
    Later,
}

/// An error, and whether it came from the end that is read.
pub struct Fault {
    pub reading: bool,
    pub errno: Errno,
}

struct Early {
    bytes: Box<[u8]>,
    sent: usize,
}

pub struct Flow {
    pub bytes: u64,
    pub blocked_since_ms: u64,
    pub first: First,
    /// Bytes in memory that go first.
    early: Option<Box<Early>>,
    pipe: Option<Pipe>,
    /// Bytes in the pipe.
    piped: usize,
    phase: Phase,
    /// These two sockets can't be spliced.
    copies: bool,
    /// There was more than a sip the last time.
    bulky: bool,
    blocked: bool,
}

enum Step {
    Moved,
    Waits,
    Later,
}

impl Flow {
    pub fn new(early: Vec<u8>) -> Flow {
        let early = (!early.is_empty()).then(|| Box::new(Early { bytes: early.into(), sent: 0 }));
        Flow {
            bytes: 0,
            blocked_since_ms: 0,
            first: First::default(),
            early,
            pipe: None,
            piped: 0,
            phase: Phase::Open,
            copies: false,
            bulky: false,
            blocked: false,
        }
    }

    pub fn is_shut(&self) -> bool {
        self.phase == Phase::Shut
    }

    /// Bytes wait, and the other end doesn't take them.
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// As if the sender had come to its end.
    pub fn end(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Ending;
        }
    }

    /// Moves what can be moved now.
    pub fn pump(
        &mut self,
        from: &mut End,
        to: &mut End,
        kit: &mut Kit,
    ) -> std::result::Result<Pumped, Fault> {
        let before = self.bytes;
        let pumped = self.advance(from, to, kit);
        if self.piped == 0
            && let Some(pipe) = self.pipe.take()
        {
            kit.pipes.give_back(pipe);
        }
        let holds = self.early.is_some() || self.piped > 0;
        let was_blocked = self.blocked;
        self.blocked =
            !to.writable && !self.is_shut() && (holds || (from.readable && self.phase == Phase::Open));
        if self.blocked && (!was_blocked || self.bytes != before) {
            self.blocked_since_ms = kit.now_ms;
        }
        pumped
    }

    /// Gives the pipe up, for the pair is over.
    pub fn dispose(self, pipes: &mut Pool) {
        if let Some(pipe) = self.pipe {
            pipes.discard(pipe);
        }
    }

    fn advance(&mut self, from: &mut End, to: &mut End, kit: &mut Kit) -> std::result::Result<Pumped, Fault> {
        let mut rounds = kit.rounds;
        loop {
            match self.flush(to, kit) {
                Ok(Step::Moved) => {}
                Ok(Step::Waits) => return Ok(Pumped::Waits),
                Ok(Step::Later) => return Ok(Pumped::Later),
                Err(errno) => return Err(Fault { reading: false, errno }),
            }
            if self.phase != Phase::Open || !from.readable || !to.writable {
                break;
            }
            if rounds == 0 {
                return Ok(Pumped::More);
            }
            rounds -= 1;
            match self.fill(from, to, kit)? {
                Step::Moved => {}
                Step::Waits => break,
                Step::Later => return Ok(Pumped::Later),
            }
        }
        if self.phase == Phase::Ending {
            shutdown(&to.fd, Shutdown::Write).map_err(|errno| Fault { reading: false, errno })?;
            self.phase = Phase::Shut;
        }
        Ok(Pumped::Waits)
    }

    /// Passes on what was read before. `Moved` once nothing of it is left.
    fn flush(&mut self, to: &mut End, kit: &mut Kit) -> Result<Step> {
        loop {
            if let Some(early) = &mut self.early {
                if !to.writable {
                    return Ok(Step::Waits);
                }
                match retry_on_intr(|| send(&to.fd, &early.bytes[early.sent..], SENDING)) {
                    Ok(sent) => {
                        early.sent += sent;
                        self.bytes += sent as u64;
                        if early.sent == early.bytes.len() {
                            self.early = None;
                        }
                    }
                    Err(errno) => {
                        if let Some(step) = wait(errno, &mut to.writable)? {
                            return Ok(step);
                        }
                    }
                }
                continue;
            }
            let Some(pipe) = self.pipe.as_ref().filter(|_| self.piped > 0) else { return Ok(Step::Moved) };
            if !to.writable {
                return Ok(Step::Waits);
            }
            // Exactly what is there: asked for more, the kernel holds a last short segment back for it.
            match retry_on_intr(|| splice(&pipe.reader, None, &to.fd, None, self.piped, SPLICING)) {
                Ok(0) => return Err(Errno::PIPE),
                Ok(moved) => {
                    self.piped -= moved;
                    self.bytes += moved as u64;
                }
                Err(Errno::INVAL | Errno::NOSYS) => self.rescue(kit)?,
                Err(errno) => {
                    if let Some(step) = wait(errno, &mut to.writable)? {
                        return Ok(step);
                    }
                }
            }
        }
    }

    /// The other end can't be spliced into after all: what is in the pipe goes by memory.
    fn rescue(&mut self, kit: &mut Kit) -> Result<()> {
        let Some(pipe) = self.pipe.take() else { return Ok(()) };
        let mut bytes = vec![0; self.piped];
        let mut filled = 0;
        while filled < bytes.len() {
            match retry_on_intr(|| read(&pipe.reader, &mut bytes[filled..]))? {
                0 => return Err(Errno::IO),
                some => filled += some,
            }
        }
        self.keep(&bytes);
        self.piped = 0;
        self.copies = true;
        kit.pipes.give_back(pipe);
        Ok(())
    }

    /// Reads once. The pipe is empty here, always: filling one that is not would make "try again" ambiguous, since a
    /// full pipe and a socket without bytes say the same.
    fn fill(&mut self, from: &mut End, to: &mut End, kit: &mut Kit) -> std::result::Result<Step, Fault> {
        if !self.bulky {
            return self.sip(from, to, kit);
        }
        if !kit.splices || self.copies {
            return self.relay(from, to, kit);
        }
        if self.pipe.is_none() {
            self.pipe = kit.pipes.lease(kit.now_ms);
        }
        let Some(pipe) = &self.pipe else { return self.relay(from, to, kit) };
        match retry_on_intr(|| splice(&from.fd, None, &pipe.writer, None, kit.pipes.bytes, SPLICING)) {
            Ok(0) => {
                self.on_end(from);
                Ok(Step::Moved)
            }
            Ok(read) => {
                self.piped = read;
                self.bulky = read >= SIP_BYTES;
                Ok(Step::Moved)
            }
            Err(errno @ (Errno::INVAL | Errno::NOSYS)) => {
                kit.splices &= errno != Errno::NOSYS;
                self.copies = true;
                self.relay(from, to, kit)
            }
            Err(errno) => self.read_failed(from, errno),
        }
    }

    /// A little, read and sent. Of what is left over when the other end takes less, there is never more than that.
    fn sip(&mut self, from: &mut End, to: &mut End, kit: &mut Kit) -> std::result::Result<Step, Fault> {
        kit.scratch.resize(COPY_BYTES, 0);
        let read = match retry_on_intr(|| recv(&from.fd, &mut kit.scratch[..SIP_BYTES], RecvFlags::DONTWAIT))
        {
            Ok((_, 0)) => {
                self.on_end(from);
                return Ok(Step::Moved);
            }
            Ok((_, read)) => read,
            Err(errno) => return self.read_failed(from, errno),
        };
        self.first.hear(&kit.scratch[..read]);
        self.bulky = read == SIP_BYTES;
        // Whatever comes from here on is an event of its own; but the end that has been told already is not.
        from.readable = self.bulky || from.ended;
        let sent = match retry_on_intr(|| send(&to.fd, &kit.scratch[..read], SENDING)) {
            Ok(sent) => sent,
            Err(errno) => {
                let step = wait(errno, &mut to.writable).map_err(|errno| Fault { reading: false, errno })?;
                self.keep(&kit.scratch[..read]);
                return Ok(step.unwrap_or(Step::Waits));
            }
        };
        self.bytes += sent as u64;
        if sent < read {
            self.keep(&kit.scratch[sent..read]);
        }
        Ok(Step::Moved)
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.early = Some(Box::new(Early { bytes: bytes.into(), sent: 0 }));
    }

    /// Without a pipe: looks at what is there, sends it, and takes away what was sent. So a reader that stalls costs
    /// no memory here, as with a pipe: the bytes stay in the sender's socket.
    fn relay(&mut self, from: &mut End, to: &mut End, kit: &mut Kit) -> std::result::Result<Step, Fault> {
        kit.scratch.resize(COPY_BYTES, 0);
        let peeked = retry_on_intr(|| recv(&from.fd, &mut kit.scratch[..], LOOKING));
        let seen = match peeked {
            Ok((_, 0)) => {
                self.on_end(from);
                return Ok(Step::Moved);
            }
            Ok((_, seen)) => seen,
            Err(errno) => return self.read_failed(from, errno),
        };
        let sent = match retry_on_intr(|| send(&to.fd, &kit.scratch[..seen], SENDING)) {
            Ok(sent) => sent,
            Err(errno) => {
                return match wait(errno, &mut to.writable) {
                    Ok(step) => Ok(step.unwrap_or(Step::Waits)),
                    Err(errno) => Err(Fault { reading: false, errno }),
                };
            }
        };
        self.bytes += sent as u64;
        let mut taken = 0;
        while taken < sent {
            match retry_on_intr(|| recv(&from.fd, &mut kit.scratch[taken..sent], TAKING)) {
                Ok((_, some)) if some > 0 => taken += some,
                // What was seen is there, unless the connection died in between.
                Ok(_) => return Err(Fault { reading: true, errno: Errno::CONNRESET }),
                Err(errno) => return Err(Fault { reading: true, errno }),
            }
        }
        Ok(Step::Moved)
    }

    fn on_end(&mut self, from: &mut End) {
        from.readable = false;
        // After an error the end of what is readable is where the connection broke.
        if from.failed.is_none() {
            self.phase = Phase::Ending;
        }
    }

    fn read_failed(&mut self, from: &mut End, errno: Errno) -> std::result::Result<Step, Fault> {
        match wait(errno, &mut from.readable) {
            Ok(step) => Ok(step.unwrap_or(Step::Waits)),
            Err(errno) => Err(Fault { reading: true, errno }),
        }
    }
}

/// Tells errors that pass by themselves from those that don't.
fn wait(errno: Errno, ready: &mut bool) -> Result<Option<Step>> {
    match errno {
        Errno::AGAIN => {
            *ready = false;
            Ok(Some(Step::Waits))
        }
        Errno::NOMEM | Errno::NOBUFS => Ok(Some(Step::Later)),
        errno => Err(errno),
    }
}

const SPLICING: SpliceFlags = SpliceFlags::NONBLOCK.union(SpliceFlags::MOVE);
const SENDING: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
const LOOKING: RecvFlags = RecvFlags::DONTWAIT.union(RecvFlags::PEEK);
/// TCP throws the bytes away without copying them; other sockets copy them over ones that have been sent.
const TAKING: RecvFlags = RecvFlags::DONTWAIT.union(RecvFlags::TRUNC);
