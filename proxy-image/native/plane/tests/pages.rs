//! Past the limit on a user's pipe pages the kernel makes pipes of two pages, which are worse than none.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;

use common::{Bench, Dice, Peer};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use splice_plane::{Options, Reason};

const NOBODY: u32 = 65_534;

#[test]
fn an_unprivileged_user_at_the_limit_copies() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can become somebody whose limit counts");
        return;
    }
    // Threads have users of their own, and the plane's thread has that of whoever starts it.
    std::thread::spawn(|| {
        let nobody = rustix::thread::Uid::from_raw(NOBODY);
        rustix::thread::set_thread_uid(nobody).unwrap();
        let mut hoard = Vec::new();
        loop {
            let pipe = pipe_with(PipeFlags::CLOEXEC).unwrap();
            if fcntl_setpipe_size(&pipe.0, 256 * 1024).is_err() {
                break;
            }
            hoard.push(pipe);
            assert!(hoard.len() < 4_000, "there is no limit to reach");
        }
        let bench = Bench::new(Options::default());
        exchange(&bench);
        assert_eq!(bench.plane.stats().pipes, 0);
        // Half of what the plane would like is still better than copying.
        hoard.clear();
        exchange(&bench);
    })
    .join()
    .unwrap();
}

fn exchange(bench: &Bench) {
    let (_, mut client, mut target) = bench.session::<TcpStream>([Vec::new(), Vec::new()]);
    let bytes = Dice::new(4).bytes(3_000_000);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            client.write_all(&bytes).unwrap();
            client.end();
        });
        let mut got = Vec::new();
        target.read_to_end(&mut got).unwrap();
        assert!(got == bytes);
        target.end();
    });
    assert_eq!(bench.ended().reason, Reason::Closed);
}
