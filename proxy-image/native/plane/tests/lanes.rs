//! Clients that the thread itself takes, connects and splices; and those that it leaves to the lane's owner.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;

use common::{Bench, PATIENCE, Peer, Told, reset};
use splice_plane::{GuestEnded, Handed, News, Options, Reason, Room, Shut};

const A_LONG_TIME_MS: u64 = 60_000;

/// A target, a lane to it, and what the lane has told so far.
struct Scene {
    bench: Bench,
    lane: u32,
    address: SocketAddr,
    target: TcpListener,
    room: Arc<Room>,
    heard: News,
    counts: [u32; 2],
}

impl Scene {
    fn new() -> Scene {
        Scene::with(None)
    }

    fn with(opening: Option<Vec<u8>>) -> Scene {
        let bench = Bench::new(Options::default());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let [room, all] = [1_000, 1_000].map(|cap| {
            let room = Arc::new(Room::default());
            room.set_cap(cap);
            room
        });
        let lane = bench.plane.add_lane(listener.as_fd(), [room.clone(), all], opening).unwrap();
        let target = TcpListener::bind("127.0.0.1:0").unwrap();
        Scene { bench, lane, address, target, room, heard: News::default(), counts: [0, 0] }
    }

    fn opened() -> Scene {
        let scene = Scene::new();
        scene.open();
        scene
    }

    fn open(&self) {
        self.open_to(self.target.local_addr().unwrap());
    }

    fn open_to(&self, target: SocketAddr) {
        self.bench.plane.open_lane(self.lane, target, A_LONG_TIME_MS, 64);
    }

    fn client(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client
    }

    fn accept(&self) -> TcpStream {
        let target = self.target.accept().unwrap().0;
        target.set_read_timeout(Some(PATIENCE)).unwrap();
        target
    }

    fn look(&mut self) {
        let Shut { dialling, spliced, news } = self.bench.plane.shut_lane(self.lane).unwrap();
        self.counts = [dialling, spliced];
        self.heard.joined += news.joined;
        self.heard.handed.extend(news.handed);
        self.heard.ended.extend(news.ended);
        self.heard.trouble = news.trouble.or(self.heard.trouble);
    }

    /// Waits for calls until this is so. The lane is shut by that.
    fn look_until(&mut self, so: impl Fn(&News) -> bool) {
        self.look();
        while !so(&self.heard) {
            match self.bench.told.recv_timeout(PATIENCE).expect("no news in time") {
                Told::News(lane) => assert_eq!(lane, self.lane),
                _ => panic!("not the news of a lane"),
            }
            self.look();
        }
    }

    fn handed(&mut self) -> Handed {
        self.look_until(|news| !news.handed.is_empty());
        self.heard.handed.remove(0)
    }

    fn ended(&mut self) -> GuestEnded {
        self.look_until(|news| !news.ended.is_empty());
        self.heard.ended.remove(0)
    }

    /// A client that has passed.
    fn session(&self) -> (TcpStream, TcpStream) {
        let mut client = self.client();
        let mut target = self.accept();
        target.write_all(b"B").unwrap();
        assert_eq!(read(&mut client, 1), b"B");
        (client, target)
    }
}

fn read(peer: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    peer.read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_client_passes_an_open_lane_and_is_accounted_for() {
    let mut scene = Scene::opened();
    let (mut client, mut target) = scene.session();
    client.write_all(b"hello").unwrap();
    assert_eq!(read(&mut target, 5), b"hello");
    scene.look_until(|news| news.joined == 1);
    assert_eq!(scene.counts, [0, 1]);
    client.end();
    target.end();
    let end = scene.ended();
    assert_eq!((end.ended.reason, end.ended.up, end.ended.down), (Reason::Closed, 5, 1));
    assert_eq!(end.address, client.local_addr().unwrap().ip());
    assert_eq!(scene.counts, [0, 0]);
}

#[test]
fn who_says_something_else_first_than_the_lane_s_clients_do_is_a_stranger() {
    for (first, stranger) in
        [("SSH-2.0", false), ("SSH-", false), ("SSH", true), ("GET / ", true), ("", true)]
    {
        let mut scene = Scene::with(Some(b"SSH-".to_vec()));
        scene.open();
        let (mut client, mut target) = scene.session();
        for byte in first.bytes() {
            client.write_all(&[byte]).unwrap();
            assert_eq!(read(&mut target, 1), [byte]);
        }
        drop((client, target));
        assert_eq!(scene.ended().stranger, stranger, "{first}");
    }
}

#[test]
fn what_the_client_says_before_the_target_s_first_byte_goes_after_it() {
    let scene = Scene::opened();
    let mut client = scene.client();
    client.write_all(b"early").unwrap();
    let mut target = scene.accept();
    target.set_nonblocking(true).unwrap();
    assert_eq!(target.read(&mut [0; 8]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    target.set_nonblocking(false).unwrap();
    target.write_all(b"B").unwrap();
    assert_eq!(read(&mut client, 1), b"B");
    assert_eq!(read(&mut target, 5), b"early");
}

#[test]
fn a_lane_that_is_shut_hands_every_client_over() {
    let mut scene = Scene::new();
    let mut client = scene.client();
    let handed = scene.handed();
    assert!(handed.target.is_none());
    TcpStream::from(handed.client).write_all(b"by hand").unwrap();
    assert_eq!(read(&mut client, 7), b"by hand");
    assert_eq!(scene.counts, [0, 0]);
}

#[test]
fn nobody_passes_any_more_once_it_is_shut() {
    for _ in 0..common::scale(200) {
        let mut scene = Scene::opened();
        let clients = std::thread::spawn({
            let address = scene.address;
            move || (0..20).map(|_| TcpStream::connect(address).unwrap()).collect::<Vec<_>>()
        });
        scene.look();
        let dialled = scene.counts.iter().sum::<u32>() + scene.heard.handed.len() as u32;
        let clients = clients.join().unwrap();
        scene.look_until(|news| news.handed.len() == clients.len());
        let with_target = scene.heard.handed.iter().filter(|handed| handed.target.is_some()).count();
        assert!(with_target as u32 <= dialled, "{with_target} of {dialled}");
    }
}

#[test]
fn a_target_that_refuses_or_says_nothing_leaves_the_client_to_the_owner() {
    let mut scene = Scene::new();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let refusing = nobody.local_addr().unwrap();
    drop(nobody);
    scene.open_to(refusing);
    let _refused = scene.client();
    assert!(scene.handed().target.is_none());

    scene.open();
    let _ended = scene.client();
    drop(scene.accept());
    assert!(scene.handed().target.is_none());

    scene.open();
    let mut mute = scene.client();
    let mut target = scene.accept();
    let handed = scene.handed();
    let mut ours = TcpStream::from(handed.target.expect("its connection to the target"));
    target.write_all(b"late").unwrap();
    assert_eq!(read(&mut ours, 4), b"late");
    TcpStream::from(handed.client).write_all(b"late").unwrap();
    assert_eq!(read(&mut mute, 4), b"late");
}

#[test]
fn a_client_that_ends_first_is_the_owner_s_to_judge() {
    let mut scene = Scene::opened();
    let client = scene.client();
    let _target = scene.accept();
    client.end();
    let handed = scene.handed();
    assert_eq!(TcpStream::from(handed.client).read(&mut [0; 8]).unwrap(), 0);
    assert!(handed.target.is_some());

    scene.open();
    let client = scene.client();
    let _target = scene.accept();
    reset(client);
    let mut handed = TcpStream::from(scene.handed().client);
    assert!(handed.read(&mut [0; 8]).map_or(true, |count| count == 0));
}

#[test]
fn it_shuts_with_everybody_it_hands_over() {
    let mut scene = Scene::opened();
    let mute = scene.client();
    let _target = scene.accept();
    mute.end();
    scene.look_until(|news| news.handed.len() == 1);
    let _next = scene.client();
    scene.look_until(|news| news.handed.len() == 2);
    assert!(scene.heard.handed.iter().any(|handed| handed.target.is_none()));
}

#[test]
fn a_target_that_speaks_and_ends_in_one_breath_is_heard() {
    let mut scene = Scene::opened();
    let client = scene.client();
    let mut target = scene.accept();
    target.write_all(b"busy").unwrap();
    drop(target);
    assert_eq!(common::read_all(&client).unwrap(), b"busy");
    client.end();
    assert_eq!(scene.ended().ended.down, 4);
}

#[test]
fn those_on_their_way_are_taken_back() {
    let mut scene = Scene::opened();
    let _clients = [scene.client(), scene.client()];
    let mut targets = [scene.accept(), scene.accept()];
    scene.bench.plane.recall_lane(scene.lane);
    scene.look_until(|news| news.handed.len() == 2);
    assert!(scene.heard.handed.iter().all(|handed| handed.target.is_none()));
    for target in &mut targets {
        assert_eq!(target.read(&mut [0; 1]).unwrap(), 0);
    }
}

#[test]
fn a_cut_ends_all_of_a_lane_and_nobody_else() {
    let mut scene = Scene::opened();
    let (client, target) = scene.session();
    let on_the_way = scene.client();
    let _target = scene.accept();
    let (_, other, _other_target) = scene.bench.session::<TcpStream>([Vec::new(), Vec::new()]);
    scene.bench.plane.cut_lane(scene.lane);
    for peer in [&client, &target, &on_the_way] {
        assert!(common::is_reset(&common::read_all(peer)));
    }
    scene.look_until(|news| news.ended.len() == 2);
    assert!(scene.heard.ended.iter().all(|end| end.ended.reason == Reason::Cut));
    assert_eq!(scene.bench.plane.stats().live, 1);
    drop(other);
}

#[test]
fn a_closed_lane_refuses_and_keeps_its_clients() {
    let scene = Scene::opened();
    let (mut client, mut target) = scene.session();
    scene.bench.plane.close_lane(scene.lane);
    assert!(TcpStream::connect(scene.address).is_err());
    client.write_all(b"still").unwrap();
    assert_eq!(read(&mut target, 5), b"still");
}

#[test]
fn room_is_given_back_by_every_way_out() {
    let mut scene = Scene::opened();
    scene.room.set_cap(1);
    for _ in 0..3 {
        let (client, target) = scene.session();
        drop((client, target));
        scene.ended();
        scene.open();
        let _mute = scene.client();
        let _target = scene.accept();
        scene.handed();
        scene.open();
    }
    let _session = scene.session();
    let _one_too_many = scene.client();
    assert!(scene.handed().target.is_none());
}

#[test]
fn more_than_the_owner_looks_at_waits_in_the_kernel_and_is_taken_later() {
    // What may wait for the owner, and no more than the listener's own queue holds beside it.
    const CLIENTS: usize = 256 + 100;
    let mut scene = Scene::new();
    let clients: Vec<_> = (0..CLIENTS).map(|_| scene.client()).collect();
    let mut most = 0;
    while scene.heard.handed.len() < CLIENTS {
        let before = scene.heard.handed.len();
        scene.look_until(|news| news.handed.len() > before);
        most = most.max(scene.heard.handed.len() - before);
    }
    assert!(most <= 256, "{most} at once");
    drop(clients);
}

#[test]
fn only_a_listening_socket_is_a_lane() {
    let bench = Bench::new(Options::default());
    let (client, _target) = TcpStream::pair();
    let rooms = || [Arc::new(Room::default()), Arc::new(Room::default())];
    assert!(bench.plane.add_lane(client.as_fd(), rooms(), None).is_err());
}

#[test]
fn a_round_is_over_when_all_before_it_has_been_told() {
    let mut scene = Scene::opened();
    let (client, target) = scene.session();
    drop((client, target));
    let round = scene.bench.plane.ask_round();
    while !scene.bench.plane.round_over(round) {
        std::thread::yield_now();
    }
    scene.look();
    assert_eq!((scene.heard.joined, scene.heard.ended.len()), (1, 1));
}
