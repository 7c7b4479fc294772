//! What is done to sockets beside moving their bytes.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::{Errno, Result, fcntl_dupfd_cloexec, ioctl_fionbio};
use rustix::net::{SocketType, sockopt};

use crate::plane::KeepAlive;

/// Below are the standard streams: a duplicate must never become one of them.
pub const FIRST_FD: i32 = 3;

/// A descriptor of our own for somebody else's stream socket. It shares the open file, and with it every option.
pub fn duplicate(fd: BorrowedFd<'_>, keep_alive: Option<KeepAlive>) -> Result<OwnedFd> {
    // Anything else could block the one thread there is.
    if sockopt::socket_type(fd)? != SocketType::STREAM {
        return Err(Errno::PROTOTYPE);
    }
    ioctl_fionbio(fd, true)?;
    if let Some(keep_alive) = keep_alive {
        set_keep_alive(fd, keep_alive);
    }
    fcntl_dupfd_cloexec(fd, FIRST_FD)
}

/// A nicety: a socket that has no such options is none the worse.
pub fn set_keep_alive(fd: BorrowedFd<'_>, keep_alive: KeepAlive) {
    let set = || -> Result<()> {
        sockopt::set_tcp_keepidle(fd, Duration::from_secs(keep_alive.idle_s.into()))?;
        sockopt::set_tcp_keepintvl(fd, Duration::from_secs(keep_alive.interval_s.into()))?;
        sockopt::set_tcp_keepcnt(fd, keep_alive.count)?;
        sockopt::set_socket_keepalive(fd, true)
    };
    let _ = set();
}

/// As every socket of a session is: nothing waits to be sent with more, and a dead peer is noticed.
pub fn tune(fd: impl AsFd, keep_alive: Option<KeepAlive>) {
    let _ = sockopt::set_tcp_nodelay(&fd, true);
    if let Some(keep_alive) = keep_alive {
        set_keep_alive(fd.as_fd(), keep_alive);
    }
}

/// Makes the close that follows a reset, so that a session that was cut can't be taken for a complete one.
pub fn abort_on_close(fd: impl AsFd) {
    let _ = sockopt::set_socket_linger(fd, Some(Duration::ZERO));
}

/// The error that the socket has had, and has no more once it was asked.
pub fn take_error(fd: impl AsFd) -> Option<Errno> {
    match sockopt::socket_error(fd) {
        Ok(Ok(())) => None,
        Ok(Err(errno)) | Err(errno) => Some(errno),
    }
}

/// Bytes that were sent and that the peer has not confirmed yet.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub fn unconfirmed(fd: impl AsFd) -> u32 {
    use rustix::ioctl::{Getter, ioctl};
    const TIOCOUTQ: u32 = 0x5411;
    // SAFETY: on these two architectures this is the number of TIOCOUTQ, for which a socket writes one int.
    #[allow(unsafe_code)]
    let asked = unsafe { ioctl(fd, Getter::<TIOCOUTQ, i32>::new()) };
    asked.map_or(0, |bytes| bytes.max(0) as u32)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn unconfirmed(_fd: impl AsFd) -> u32 {
    0
}
