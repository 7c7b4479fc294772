//! Clients that are held and not read: only whether they hang up is watched, on descriptors that stay their owner's.

use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::{Errno, Result};

const FD_BITS: u32 = 20;

/// Which watch stands for which descriptor. A descriptor that its owner has closed is no longer watched, whoever has
/// its number now; the entry stays until the number is watched again, and tells nobody anything.
#[derive(Default)]
pub struct Watches {
    by_fd: HashMap<RawFd, u64>,
    made: u64,
}

impl Watches {
    pub fn add(
        &mut self,
        epoll: &OwnedFd,
        fd: BorrowedFd<'_>,
        token: impl Fn(u64) -> EventData,
    ) -> Result<u64> {
        let number = fd.as_raw_fd();
        if number >> FD_BITS != 0 {
            return Err(Errno::MFILE);
        }
        self.made += 1;
        let id = (self.made << FD_BITS) | number as u64;
        match epoll::add(epoll, fd, token(id), HANG_UPS) {
            Err(Errno::EXIST) => epoll::modify(epoll, fd, token(id), HANG_UPS)?,
            added => added?,
        }
        self.by_fd.insert(number, id);
        Ok(id)
    }

    pub fn remove(&mut self, epoll: &OwnedFd, id: u64) {
        let number = (id & ((1 << FD_BITS) - 1)) as RawFd;
        if self.by_fd.get(&number) == Some(&id) {
            self.by_fd.remove(&number);
            // SAFETY: the owner may have closed the descriptor, and its number may be somebody else's now. All that is
            // done with it is to end a registration in our own epoll, which only this table makes for such numbers:
            // in either case there is none, and the kernel says so.
            #[allow(unsafe_code)]
            let fd = unsafe { BorrowedFd::borrow_raw(number) };
            let _ = epoll::delete(epoll, fd);
        }
    }

    /// For a descriptor that is about to be closed while its duplicate lives on: the registration would outlive it.
    pub fn remove_fd(&mut self, epoll: &OwnedFd, fd: impl AsFd) {
        if self.by_fd.remove(&fd.as_fd().as_raw_fd()).is_some() {
            let _ = epoll::delete(epoll, fd);
        }
    }
}

/// Once for the end of what the client sends, and again for a reset. What it sends is nobody's business here.
const HANG_UPS: EventFlags = EventFlags::RDHUP.union(EventFlags::ET);
