//! What those ask who run the service: whether it is alive and ready, and what it has counted, by HTTP at an address of
//! its own.
//!
//! | path | reply |
//! |---|---|
//! | `/health` | 200: the process answers |
//! | `/ready` | 200 if names are resolved and changed, else 503 and why |
//! | `/metrics` | Prometheus' text format |
//!
//! One thread answers one request after the other and closes its connection. A peer that is slow has two seconds, and
//! delays others by as much: the address is for those who supervise, not for the clients of the service.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use punctual_exec::thread::{JoinHandle, ThreadSpec};

use crate::service::NamingService;

/// How long a peer may take, all in all.
const PATIENCE: Duration = Duration::from_secs(2);

/// Bytes of a request's head.
const MOST: usize = 8 << 10;

/// Answers until it is dropped.
#[derive(Debug)]
pub struct Status {
    address: SocketAddr,
    has_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Status {
    /// Answers for a service at an address; port 0 is any that is free.
    ///
    /// # Errors
    /// The address is in use or not of this machine; the system has no thread for it.
    pub fn listen(service: &NamingService, address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let has_ended = Arc::new(AtomicBool::new(false));
        let (service, ends) = (service.clone(), has_ended.clone());
        let serve = move || {
            for peer in listener.incoming() {
                // Pairs with the store in `drop`, which connects after it.
                if ends.load(Ordering::Acquire) {
                    return;
                }
                let answered = peer.and_then(|peer| answer(peer, &service));
                if let Err(error) = answered {
                    tracing::debug!("a request for the status was not answered: {error}");
                }
            }
        };
        let thread = ThreadSpec::named("naming-status").start(serve);
        let thread = thread.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            address,
            has_ended,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Release);
        // So that it looks.
        let woken = TcpStream::connect_timeout(&self.address, PATIENCE);
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            // It has told of its own panic already.
            let _ = thread.join();
        }
    }
}

fn answer(mut peer: TcpStream, service: &NamingService) -> io::Result<()> {
    peer.set_write_timeout(Some(PATIENCE))?;
    let head = head(&mut peer)?;
    let (status, body) = reply(&head, service);
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    peer.write_all(head.as_bytes())?;
    peer.write_all(body.as_bytes())
}

/// A request's head, read within the patience.
fn head(peer: &mut TcpStream) -> io::Result<String> {
    let until = Instant::now() + PATIENCE;
    let mut read = Vec::new();
    let mut some = [0; 1024];
    while !read.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || read.len() > MOST {
            return Err(ErrorKind::TimedOut.into());
        }
        peer.set_read_timeout(Some(left))?;
        let count = peer.read(&mut some)?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        read.extend_from_slice(some.get(..count).unwrap_or_default());
    }
    Ok(String::from_utf8_lossy(&read).into_owned())
}

fn reply(head: &str, service: &NamingService) -> (&'static str, String) {
    let mut words = head.split(' ');
    let (method, path) = (words.next(), words.next().unwrap_or_default());
    if method != Some("GET") {
        return ("405 Method Not Allowed", "GET is allowed\n".to_owned());
    }
    match path {
        "/health" => ("200 OK", "alive\n".to_owned()),
        "/ready" => match service.check_ready() {
            Ok(()) => ("200 OK", "ready\n".to_owned()),
            Err(why) => ("503 Service Unavailable", format!("{why}\n")),
        },
        "/metrics" => ("200 OK", service.metrics()),
        _ => (
            "404 Not Found",
            "there are /health, /ready and /metrics\n".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(status: &Status, request: &[u8]) -> String {
        let mut peer = TcpStream::connect(status.address()).unwrap();
        peer.write_all(request).unwrap();
        let mut reply = String::new();
        peer.read_to_string(&mut reply).unwrap();
        reply
    }

    #[test]
    fn who_runs_it_learns_that_it_is_alive_and_ready_and_what_it_has_counted() {
        let service = NamingService::in_memory().unwrap();
        let status = Status::listen(&service, "127.0.0.1:0").unwrap();
        for (path, first, part) in [
            ("/health", "HTTP/1.1 200 OK", "alive"),
            ("/ready", "HTTP/1.1 200 OK", "ready"),
            (
                "/metrics",
                "HTTP/1.1 200 OK",
                "punctual_naming_contexts 1\n",
            ),
            ("/", "HTTP/1.1 404 Not Found", "/metrics"),
        ] {
            let reply = asked(&status, format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes());
            assert!(reply.starts_with(first) && reply.contains(part), "{reply}");
        }
    }

    #[test]
    fn requests_that_are_none_or_too_long_end_and_the_next_is_answered() {
        let service = NamingService::in_memory().unwrap();
        let status = Status::listen(&service, "127.0.0.1:0").unwrap();
        let post = asked(&status, b"POST /metrics HTTP/1.1\r\n\r\n");
        assert!(post.starts_with("HTTP/1.1 405"), "{post}");
        let mut endless = TcpStream::connect(status.address()).unwrap();
        // It is cut off before all of this is taken, or after.
        let _ = endless.write_all(&[b'a'; 64 << 10]);
        drop(TcpStream::connect(status.address()).unwrap());
        assert!(asked(&status, b"GET /health HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
    }
}
