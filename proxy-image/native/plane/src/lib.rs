//! Moves the bytes of spliced sessions between two sockets each, on one thread, without copying them.
//!
//! `Plane` is the handle that any thread may use; `engine` is the thread. A `pair` is one session: two ends and two
//! `flow`s, one a direction. A `lane` takes a port's clients by itself. `ledger` gives out ids and holds the counters that both sides of the house read.

#![deny(unsafe_code)]

mod engine;
mod flow;
mod lane;
mod lanes;
mod ledger;
mod outcome;
mod pair;
mod pipes;
mod plane;
#[doc(hidden)]
pub mod sync;
mod watch;
mod wire;

pub use lane::{GuestEnded, Handed, News, Room, Shut};
pub use ledger::Counts;
pub use outcome::{Ended, Reason};
pub use plane::{KeepAlive, Listener, Options, Plane, Stats};
pub use rustix::io::Errno;
