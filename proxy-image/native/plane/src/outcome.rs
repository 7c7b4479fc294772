use rustix::io::Errno;

/// Which of the two ends; also the index of the end, and of the flow that starts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client = 0,
    Target = 1,
}

impl Side {
    pub const BOTH: [Side; 2] = [Side::Client, Side::Target];

    pub fn other(self) -> Side {
        match self {
            Side::Client => Side::Target,
            Side::Target => Side::Client,
        }
    }
}

/// How a pair ended. The numbers are what JavaScript sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// Both directions ended in order.
    Closed = 0,
    ClientReset = 1,
    TargetReset = 2,
    /// The network gave the end up: it no longer answers.
    ClientLost = 3,
    TargetLost = 4,
    /// The end took no byte of what waited for it, for as long as the stall limit.
    ClientStalled = 5,
    TargetStalled = 6,
    /// One direction had ended, and nothing moved in the other for as long as the linger.
    HalfClosed = 7,
    /// Ended on this side: by id, or with the plane.
    Cut = 8,
    /// The kernel refused; the error number says why.
    Broken = 9,
}

/// One finished pair. Both sockets are closed by the time anybody hears of it.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub id: u64,
    pub reason: Reason,
    /// Of the error behind the reason; 0 where there was none.
    pub errno: i32,
    /// Delivered to the target, bytes that came before the pair included.
    pub up: u64,
    /// Delivered to the client.
    pub down: u64,
}

/// A verdict on a pair, before its sockets are closed.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    pub reason: Reason,
    pub errno: i32,
}

impl Verdict {
    pub fn of(reason: Reason) -> Verdict {
        Verdict { reason, errno: 0 }
    }

    /// What an error on one end means for the pair.
    pub fn on(side: Side, errno: Errno) -> Verdict {
        let reason = match errno {
            Errno::CONNRESET | Errno::PIPE | Errno::NOTCONN | Errno::CONNABORTED | Errno::SHUTDOWN => {
                [Reason::ClientReset, Reason::TargetReset][side as usize]
            }
            Errno::TIMEDOUT
            | Errno::HOSTUNREACH
            | Errno::HOSTDOWN
            | Errno::NETUNREACH
            | Errno::NETDOWN
            | Errno::NETRESET
            | Errno::NONET => [Reason::ClientLost, Reason::TargetLost][side as usize],
            _ => Reason::Broken,
        };
        Verdict { reason, errno: errno.raw_os_error() }
    }

    pub fn stalled(side: Side) -> Verdict {
        Verdict::of([Reason::ClientStalled, Reason::TargetStalled][side as usize])
    }
}
