//! The load of the benchmark: a target, and clients of it. One file, standard library alone: `rustc -O load.rs`.
//!
//! A session begins with the target's banner, one byte; the client's first byte says what follows.

use std::io::{Read, Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const BLOCK: usize = 256 * 1024;
const STACK: usize = 32 * 1024;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["serve", address] => serve(address),
        ["bulk", address, way, bytes] => bulk(address, way, number(bytes)),
        ["ping", address, count] => ping(address, number(count)),
        ["rate", address, count, at_once] => rate(address, number(count), number(at_once)),
        ["hold", address, count, banner] => hold(address, number(count), banner == "banner"),
        ["count", address] => count(address),
        _ => panic!("serve | bulk | ping | rate | hold | count"),
    };
    if let Err(error) = done {
        eprintln!("load: {error}");
        std::process::exit(1);
    }
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

struct Served {
    listener: TcpListener,
    accepted: AtomicU64,
    /// Threads that wait for a connection.
    free: AtomicI64,
}

fn serve(address: &str) -> Result<()> {
    let listener = TcpListener::bind(address)?;
    println!("{}", listener.local_addr()?.port());
    let served = Arc::new(Served { listener, accepted: AtomicU64::new(0), free: AtomicI64::new(0) });
    for _ in 0..64 {
        worker(served.clone());
    }
    wait_for_end();
    Ok(())
}

/// A thread that serves one connection after the other, and sees to it that another one waits meanwhile.
fn worker(served: Arc<Served>) {
    served.free.fetch_add(1, Relaxed);
    let body = move || loop {
        let accepted = served.listener.accept();
        if served.free.fetch_sub(1, Relaxed) <= 4 {
            worker(served.clone());
        }
        if let Ok((socket, _)) = accepted {
            served.accepted.fetch_add(1, Relaxed);
            let _ = session(socket, &served);
        }
        served.free.fetch_add(1, Relaxed);
    };
    thread::Builder::new().stack_size(STACK).spawn(body).expect("a thread");
}

fn session(mut socket: TcpStream, served: &Served) -> Result<()> {
    socket.set_nodelay(true)?;
    socket.write_all(b"B")?;
    let mut what = [0];
    socket.read_exact(&mut what)?;
    match what[0] {
        b'e' => {
            let mut buffer = [0; 4096];
            loop {
                match socket.read(&mut buffer)? {
                    0 => return Ok(()),
                    bytes => socket.write_all(&buffer[..bytes])?,
                }
            }
        }
        b'd' => {
            let mut bytes = [0; 8];
            socket.read_exact(&mut bytes)?;
            send(&mut socket, u64::from_le_bytes(bytes))?;
            socket.shutdown(Shutdown::Write)?;
            receive(&mut socket).map(|_| ())
        }
        b'u' => {
            let bytes = receive(&mut socket)?;
            socket.write_all(&bytes.to_le_bytes())
        }
        _ => socket.write_all(&served.accepted.load(Relaxed).to_le_bytes()),
    }
}

fn send(socket: &mut TcpStream, bytes: u64) -> Result<()> {
    let block = vec![7; BLOCK];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(BLOCK as u64);
        socket.write_all(&block[..now as usize])?;
        left -= now;
    }
    Ok(())
}

fn receive(socket: &mut TcpStream) -> Result<u64> {
    let mut block = vec![0; BLOCK];
    let mut sum = 0;
    loop {
        match socket.read(&mut block)? {
            0 => return Ok(sum),
            bytes => sum += bytes as u64,
        }
    }
}

/// A connection that has seen the banner.
fn open(address: &str) -> Result<TcpStream> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    socket.read_exact(&mut [0])?;
    Ok(socket)
}

/// Prints seconds.
fn bulk(address: &str, way: &str, bytes: u64) -> Result<()> {
    let mut socket = open(address)?;
    let begun = Instant::now();
    let moved = if way == "down" {
        socket.write_all(b"d")?;
        socket.write_all(&bytes.to_le_bytes())?;
        receive(&mut socket)?
    } else {
        socket.write_all(b"u")?;
        send(&mut socket, bytes)?;
        socket.shutdown(Shutdown::Write)?;
        let mut counted = [0; 8];
        socket.read_exact(&mut counted)?;
        u64::from_le_bytes(counted)
    };
    assert_eq!(moved, bytes, "bytes were lost");
    println!("{}", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Prints the median and the 99th percentile of round trips of 64 bytes, in microseconds.
fn ping(address: &str, count: u64) -> Result<()> {
    let mut socket = open(address)?;
    socket.write_all(b"e")?;
    let mut buffer = [0; 64];
    let mut times = Vec::new();
    for turn in 0..count + count / 10 {
        let begun = Instant::now();
        socket.write_all(&buffer)?;
        socket.read_exact(&mut buffer)?;
        if turn >= count / 10 {
            times.push(begun.elapsed().as_secs_f64() * 1e6);
        }
    }
    println!("{}", quantiles(times));
    Ok(())
}

fn quantiles(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN);
    format!("{} {}", at(0.5), at(0.99))
}

/// Prints seconds, how many failed, and the median and 99th percentile of a whole connection, in microseconds.
fn rate(address: &str, count: u64, at_once: u64) -> Result<()> {
    let left = Arc::new(AtomicI64::new(count as i64));
    let times = Arc::new(Mutex::new(Vec::new()));
    let begun = Instant::now();
    let threads: Vec<_> = (0..at_once)
        .map(|_| {
            let (address, left, times) = (address.to_owned(), left.clone(), times.clone());
            thread::spawn(move || {
                let mut own = Vec::new();
                while left.fetch_sub(1, Relaxed) > 0 {
                    let begun = Instant::now();
                    if exchange(&address).is_ok() {
                        own.push(begun.elapsed().as_secs_f64() * 1e6);
                    }
                }
                times.lock().unwrap().extend(own);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let seconds = begun.elapsed().as_secs_f64();
    let times = times.lock().unwrap().clone();
    println!("{} {} {}", seconds, count - times.len() as u64, quantiles(times));
    Ok(())
}

fn exchange(address: &str) -> Result<()> {
    let mut socket = open(address)?;
    socket.write_all(b"ex")?;
    socket.read_exact(&mut [0])
}

/// Prints how many are open, and keeps them until its input ends.
fn hold(address: &str, count: u64, banner: bool) -> Result<()> {
    let left = Arc::new(AtomicI64::new(count as i64));
    let sockets = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..16)
        .map(|_| {
            let (address, left, sockets) = (address.to_owned(), left.clone(), sockets.clone());
            thread::spawn(move || {
                while left.fetch_sub(1, Relaxed) > 0 {
                    let socket = if banner { open(&address) } else { TcpStream::connect(&address) };
                    match socket {
                        Ok(socket) => sockets.lock().unwrap().push(socket),
                        Err(_) => break,
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", sockets.lock().unwrap().len());
    wait_for_end();
    Ok(())
}

/// Prints how many connections the target has accepted, this one included.
fn count(address: &str) -> Result<()> {
    let mut socket = open(address)?;
    socket.write_all(b"c")?;
    let mut counted = [0; 8];
    socket.read_exact(&mut counted)?;
    println!("{}", u64::from_le_bytes(counted));
    Ok(())
}

fn wait_for_end() {
    let _ = std::io::stdin().read(&mut [0]);
}
