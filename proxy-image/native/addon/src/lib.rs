//! The plane as JavaScript sees it. Nothing is decided here: arguments become the crate's, results become numbers.

mod lane;

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::{Either, FnArgs, Function, Uint8ArraySlice, Undefined};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode::NonBlocking};
use napi::{Env, Error, Result, Status};
use napi_derive::napi;
use splice_plane::{Counts, Ended, Errno, KeepAlive, Listener, Options, Plane, Room};

use lane::SpliceLane;

/// Absent is the default of the crate's `Options`, which says what each is for.
#[napi(object)]
pub struct PlaneOptions {
    pub pipe_bytes: Option<u32>,
    pub idle_pipes: Option<u32>,
    pub max_pipes: Option<u32>,
    pub stall_ms: Option<f64>,
    pub half_close_ms: Option<f64>,
    pub keep_alive: Option<KeepAliveOptions>,
    /// False: copy every byte, as where the kernel doesn't splice.
    pub splice: Option<bool>,
}

/// Whole seconds, since the kernel knows nothing finer.
#[napi(object)]
pub struct KeepAliveOptions {
    pub idle_seconds: u32,
    pub interval_seconds: u32,
    pub count: u32,
}

/// Bytes delivered, and for how long none has been.
#[napi(object)]
pub struct PairCounts {
    pub bytes_up: f64,
    pub bytes_down: f64,
    pub idle_ms: f64,
}

#[napi(object)]
pub struct PlaneStats {
    pub live: u32,
    /// Those of `live` that lanes have and the target has not spoken to.
    pub approaching: u32,
    pub pipes: u32,
    pub idle_pipes: u32,
    pub bytes_up: f64,
    pub bytes_down: f64,
    /// False where every byte is copied.
    pub splices: bool,
}

/// `(id, reason, errno, bytesUp, bytesDown)`
type EndedArgs = FnArgs<(f64, u32, i32, f64, f64)>;
/// `(watch, gone)`
type HungUpArgs = FnArgs<(f64, bool)>;

/// Calls that don't keep Node's event loop alive: whoever has sessions does that.
type Call<T> = ThreadsafeFunction<T, (), T, Status, false, true>;

/// `(lane)`
type NewsArgs = FnArgs<(u32,)>;

struct Calls {
    ended: Call<EndedArgs>,
    hung_up: Call<HungUpArgs>,
    news: Call<NewsArgs>,
}

impl Listener for Calls {
    fn ended(&mut self, ended: Ended) {
        let args = (ended.id as f64, ended.reason as u32, ended.errno, ended.up as f64, ended.down as f64);
        // Refused only while the environment is being torn down.
        self.ended.call(args.into(), NonBlocking);
    }

    fn hung_up(&mut self, watch: u64, gone: bool) {
        self.hung_up.call((watch as f64, gone).into(), NonBlocking);
    }

    fn news(&mut self, lane: u32) {
        self.news.call((lane,).into(), NonBlocking);
    }
}

/// One thread that splices. Ids are numbers that are never used twice.
#[napi]
pub struct SplicePlane {
    plane: Arc<Plane>,
    /// By the numbers that JavaScript gives them.
    rooms: Mutex<Vec<Arc<Room>>>,
}

#[napi]
impl SplicePlane {
    /// `ended(id, reason, errno, bytesUp, bytesDown)` is called once for every pair, after both sockets are closed and
    /// never before `add` has returned. `hungUp(watch, gone)` may still come after `unwatch`, never for an id that was
    /// not given out. `news(lane)` says that something has happened on a lane, and not again before it was shut.
    #[napi(constructor)]
    pub fn new(
        env: Env,
        options: PlaneOptions,
        ended: Function<'_, EndedArgs, ()>,
        hung_up: Function<'_, HungUpArgs, ()>,
        news: Function<'_, NewsArgs, ()>,
    ) -> Result<SplicePlane> {
        let calls = Calls {
            ended: ended
                .build_threadsafe_function::<EndedArgs>()
                .weak::<true>()
                .build_callback(|context| Ok(context.value))?,
            hung_up: hung_up
                .build_threadsafe_function::<HungUpArgs>()
                .weak::<true>()
                .build_callback(|context| Ok(context.value))?,
            news: news
                .build_threadsafe_function::<NewsArgs>()
                .weak::<true>()
                .build_callback(|context| Ok(context.value))?,
        };
        let plane = Arc::new(Plane::start(read_options(options), calls).map_err(|error| {
            Error::new(Status::GenericFailure, format!("the splice thread can't be started: {error}"))
        })?);
        // A worker's environment ends without collecting what is in it. Weak, so that the hook doesn't keep a plane
        // alive that nobody else has.
        let weak = Arc::downgrade(&plane);
        env.add_env_cleanup_hook((), move |()| {
            if let Some(plane) = weak.upgrade() {
                plane.stop();
            }
        })?;
        Ok(SplicePlane { plane, rooms: Mutex::default() })
    }

    /// Takes a session over: duplicates both descriptors, so that the caller can and must close its own at once.
    /// `early` has come from the client and goes to the target first; `first` the other way round. Throws with a
    /// `code` such as `EMFILE`, and then nothing was taken.
    #[napi]
    pub fn add(
        &self,
        client_fd: i32,
        target_fd: i32,
        early: Option<Uint8ArraySlice<'_>>,
        first: Option<Uint8ArraySlice<'_>>,
    ) -> Result<f64, &'static str> {
        let bytes = |array: Option<Uint8ArraySlice<'_>>| array.map_or_else(Vec::new, |array| array.to_vec());
        // SAFETY: the descriptors are those of sockets that the caller holds open during this call.
        let (client, target) = unsafe { (borrow(client_fd)?, borrow(target_fd)?) };
        let id = self.plane.add(client, target, [bytes(early), bytes(first)]).map_err(refusal)?;
        Ok(id as f64)
    }

    /// Ends a pair by a reset of both ends, or in order once what was read has been delivered. One that is over
    /// already is none.
    #[napi]
    pub fn end(&self, id: f64, reset: bool) {
        self.plane.end(id as u64, reset);
    }

    /// `undefined` for a pair that is over.
    #[napi]
    pub fn counts(&self, id: f64) -> Either<PairCounts, Undefined> {
        match self.plane.counts(id as u64) {
            Some(Counts { up, down, idle_ms }) => Either::A(PairCounts {
                bytes_up: up as f64,
                bytes_down: down as f64,
                idle_ms: idle_ms as f64,
            }),
            None => Either::B(()),
        }
    }

    #[napi(getter)]
    pub fn live(&self) -> u32 {
        self.plane.stats().live
    }

    #[napi]
    pub fn stats(&self) -> PlaneStats {
        let stats = self.plane.stats();
        PlaneStats {
            live: stats.live,
            approaching: stats.approaching,
            pipes: stats.pipes,
            idle_pipes: stats.idle_pipes,
            bytes_up: stats.up as f64,
            bytes_down: stats.down as f64,
            splices: self.plane.splices(),
        }
    }

    /// Watches a client that is held: `hungUp(watch, false)` when it has ended its side in order, whether or not bytes
    /// before that are unread, and `hungUp(watch, true)` when the connection is gone. Ends with `unwatch`, with
    /// `add`, and with the descriptor.
    #[napi]
    pub fn watch(&self, fd: i32) -> Result<f64, &'static str> {
        // SAFETY: as in `add`.
        let fd = unsafe { borrow(fd)? };
        Ok(self.plane.watch(fd).map_err(refusal)? as f64)
    }

    #[napi]
    pub fn unwatch(&self, watch: f64) {
        self.plane.unwatch(watch as u64);
    }

    /// How many clients the lanes of one room may hold together. Nobody at first.
    #[napi]
    pub fn set_room(&self, room: u32, cap: u32) {
        self.room(room).set_cap(cap);
    }

    /// Takes over a listening socket, as a lane that is shut and whose clients are in both rooms. Duplicates the
    /// descriptor: the caller closes its own at once. `opening`, of seven bytes at most, is what clients say first who
    /// are no strangers; absent, nobody is one. Throws as `add` does.
    #[napi]
    pub fn listen(
        &self,
        fd: i32,
        room: u32,
        outer_room: u32,
        opening: Option<Uint8ArraySlice<'_>>,
    ) -> Result<SpliceLane, &'static str> {
        // SAFETY: as in `add`.
        let fd = unsafe { borrow(fd)? };
        let rooms = [self.room(room), self.room(outer_room)];
        let id = self.plane.add_lane(fd, rooms, opening.map(|bytes| bytes.to_vec())).map_err(refusal)?;
        Ok(SpliceLane::new(self.plane.clone(), id))
    }

    /// Asks for one more turn of the thread. What the kernel had to tell before is dealt with, and all news have been
    /// called, once `roundOver` is true of the result.
    #[napi]
    pub fn ask_round(&self) -> f64 {
        self.plane.ask_round() as f64
    }

    #[napi]
    pub fn round_over(&self, round: f64) -> bool {
        self.plane.round_over(round as u64)
    }

    /// Cuts every session, waits for the thread to end, and takes nothing from then on.
    #[napi]
    pub fn stop(&self) {
        self.plane.stop();
    }

    fn room(&self, room: u32) -> Arc<Room> {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let index = room as usize;
        if rooms.len() <= index {
            rooms.resize_with(index + 1, Arc::default);
        }
        rooms[index].clone()
    }
}

/// # Safety
///
/// The descriptor stays open for as long as the result is used.
unsafe fn borrow<'fd>(fd: i32) -> Result<BorrowedFd<'fd>, &'static str> {
    if fd < 0 {
        return Err(Error::new("EBADF", "not a descriptor"));
    }
    // SAFETY: it is not -1, and the rest is the caller's promise.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// With the error's name as `code`, as Node's own have it.
fn refusal(errno: Errno) -> Error<&'static str> {
    let code = match errno {
        Errno::MFILE => "EMFILE",
        Errno::NFILE => "ENFILE",
        Errno::BADF => "EBADF",
        Errno::NOTSOCK => "ENOTSOCK",
        Errno::PROTOTYPE => "EPROTOTYPE",
        Errno::NOMEM => "ENOMEM",
        Errno::NOSPC => "ENOSPC",
        Errno::CANCELED => "ECANCELED",
        _ => "EIO",
    };
    Error::new(code, errno.to_string())
}

fn read_options(options: PlaneOptions) -> Options {
    let defaults = Options::default();
    let count = |given: Option<u32>, default: usize| given.map_or(default, |given| given as usize);
    Options {
        pipe_bytes: count(options.pipe_bytes, defaults.pipe_bytes),
        idle_pipes: count(options.idle_pipes, defaults.idle_pipes),
        max_pipes: count(options.max_pipes, defaults.max_pipes),
        stall_ms: options.stall_ms.map_or(defaults.stall_ms, |ms| ms as u64),
        half_close_ms: options.half_close_ms.map_or(defaults.half_close_ms, |ms| ms as u64),
        keep_alive: options.keep_alive.map(|given| KeepAlive {
            idle_s: given.idle_seconds,
            interval_s: given.interval_seconds,
            count: given.count,
        }),
        splice: options.splice.unwrap_or(defaults.splice),
    }
}
