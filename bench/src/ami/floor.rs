//! Pipelined raw socket, the baseline: one write for each request and each reply, reads of up to 64
//! KiB, requests of 64 bytes and replies of 32.

use super::WINDOW;
use crate::Result;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use super::client::{Idle, Window};

const REQUEST: usize = 64;
const REPLY: usize = 32;
const READ: usize = 64 << 10;

/// Serves each connection on a thread of its own; returns the address.
pub(super) fn serve() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // The connection ends when the client closes it.
            thread::spawn(move || drop(answer(stream)));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; READ];
    let (mut left_over, reply) = (0, [7; REPLY]);
    loop {
        let received = stream.read(&mut buffer)?;
        if received == 0 {
            return Ok(());
        }
        let octets = left_over + received;
        for _ in 0..octets / REQUEST {
            stream.write_all(&reply)?;
        }
        left_over = octets % REQUEST;
    }
}

/// Client's TCP connection in the raw-socket baseline.
pub(super) struct Floor(TcpStream);

impl Floor {
    pub(super) fn connect(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    /// Returns the nanoseconds of each of `calls` exchanges, made one after the other.
    pub(super) fn latency(&mut self, calls: u32) -> Result<Vec<u64>> {
        let (request, mut reply) = ([1; REQUEST], [0; REPLY]);
        let one = |_| {
            let begun = Instant::now();
            self.0.write_all(&request)?;
            self.0.read_exact(&mut reply)?;
            Ok(crate::peer::nanoseconds_since(begun))
        };
        (0..calls).map(one).collect()
    }

    /// Makes `calls` exchanges, with a window of them in flight: one thread writes, another reads.
    pub(super) fn throughput(&mut self, calls: u32) -> Result<()> {
        let window = Arc::new(Window::new(WINDOW, Idle::Parks));
        let mut reader = self.0.try_clone()?;
        let reads = {
            let window = window.clone();
            thread::spawn(move || -> io::Result<()> {
                let mut buffer = vec![0; READ];
                let (mut left_over, mut replies) = (0, 0);
                while replies < calls {
                    let received = reader.read(&mut buffer)?;
                    if received == 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    let octets = left_over + received;
                    let some = u32::try_from(octets / REPLY).unwrap_or(u32::MAX);
                    left_over = octets % REPLY;
                    replies += some;
                    window.end(some);
                }
                Ok(())
            })
        };
        let request = [1; REQUEST];
        for _ in 0..calls {
            window.begin();
            self.0.write_all(&request)?;
        }
        reads.join().map_err(|_| "the reader panicked")??;
        Ok(())
    }
}
