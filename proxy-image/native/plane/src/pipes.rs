//! Pipes are lent to a direction only while its bytes are in transit, so that an idle pair holds none.

use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

/// Below this a pipe costs more than copying does. It is also what a pipe has before anybody asks for more.
const LEAST_BYTES: usize = 64 * 1024;
/// After the kernel refused, for want of descriptors or by the user's limit on pipe pages.
const BACK_OFF_MS: u64 = 100;

pub struct Pipe {
    pub reader: OwnedFd,
    pub writer: OwnedFd,
}

pub struct Pool {
    /// Asked for; a pipe may have less.
    pub bytes: usize,
    keep: usize,
    most: usize,
    idle: Vec<Pipe>,
    open: usize,
    not_before_ms: u64,
}

impl Pool {
    pub fn new(bytes: usize, keep: usize, most: usize) -> Pool {
        Pool { bytes, keep, most, idle: Vec::new(), open: 0, not_before_ms: 0 }
    }

    /// `None` where there is none to be had: the caller copies instead.
    pub fn lease(&mut self, now_ms: u64) -> Option<Pipe> {
        if let Some(pipe) = self.idle.pop() {
            return Some(pipe);
        }
        if self.open >= self.most || now_ms < self.not_before_ms {
            return None;
        }
        let Some(pipe) = open(self.bytes) else {
            self.not_before_ms = now_ms + BACK_OFF_MS;
            return None;
        };
        self.open += 1;
        Some(pipe)
    }

    /// An empty pipe, for the next.
    pub fn give_back(&mut self, pipe: Pipe) {
        if self.idle.len() < self.keep {
            self.idle.push(pipe);
        } else {
            self.discard(pipe);
        }
    }

    /// One that holds bytes of a pair that is gone: nobody else may see them.
    pub fn discard(&mut self, pipe: Pipe) {
        drop(pipe);
        self.open -= 1;
        self.not_before_ms = 0;
    }

    pub fn open(&self) -> usize {
        self.open
    }

    pub fn idle(&self) -> usize {
        self.idle.len()
    }
}

fn open(bytes: usize) -> Option<Pipe> {
    let (reader, writer) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC).ok()?;
    let granted = match fcntl_setpipe_size(&writer, bytes) {
        Ok(granted) => granted,
        // Past the user's soft limit a pipe starts at two pages and may not grow.
        Err(_) => rustix::pipe::fcntl_getpipe_size(&writer).ok()?,
    };
    (granted >= LEAST_BYTES.min(bytes)).then_some(Pipe { reader, writer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_some_and_closes_the_rest() {
        let mut pool = Pool::new(256 * 1024, 2, 3);
        let pipes: Vec<_> = (0..3).map(|_| pool.lease(0).unwrap()).collect();
        assert!(pool.lease(0).is_none());
        for pipe in pipes {
            pool.give_back(pipe);
        }
        assert_eq!((pool.open(), pool.idle()), (2, 2));
    }

    #[test]
    fn a_discarded_pipe_makes_room() {
        let mut pool = Pool::new(256 * 1024, 2, 1);
        let pipe = pool.lease(0).unwrap();
        pool.discard(pipe);
        assert_eq!(pool.open(), 0);
        assert!(pool.lease(0).is_some());
    }
}
