//! Status of a service for its operators: liveness, readiness and metrics, by HTTP at an address of its own.
//!
//! | path | reply |
//! |---|---|
//! | `/health`, `/live` | 200: the process answers |
//! | `/ready` | 200 if the service answers requests, else 503 and the reason |
//! | `/metrics` | Prometheus' text format |
//!
//! Each request is answered on a thread of its own, and its connection closed. At most 32
//! connections are open; a further one closes the oldest. Each has two seconds. So peers that send
//! nothing cannot prevent a supervisor from getting its answer.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use punctual_exec::thread::{JoinHandle, ThreadSpec};

use crate::metrics::Exposition;
use crate::service::Service;

/// Time limit for a peer to send its whole request.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum number of concurrent connections.
const MOST_PEERS: usize = 32;

/// Maximum length of a request's head, in bytes.
const MOST: usize = 8 << 10;

/// HTTP server of a service's status, which ends when this is dropped.
#[derive(Debug)]
pub struct Status {
    address: SocketAddr,
    has_ended: Arc<AtomicBool>,
    peers: Arc<Peers>,
    thread: Option<JoinHandle<()>>,
}

impl Status {
    /// Serves the status of a service at an address; port 0 means any free port. The service is not
    /// used any more once the returned value has been dropped.
    ///
    /// # Errors
    /// The address is in use or not of this machine; the system has no thread for it.
    pub fn listen<S: Service>(service: Arc<S>, address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let has_ended = Arc::new(AtomicBool::new(false));
        let ends = has_ended.clone();
        let peers = Arc::new(Peers::default());
        let open = peers.clone();
        let serve = move || {
            for peer in listener.incoming() {
                // Pairs with the store in `drop`, which connects after it.
                if ends.load(Ordering::Acquire) {
                    return;
                }
                let (peers, service) = (open.clone(), service.clone());
                let begun = peer.and_then(|peer| begin(peer, peers, service));
                if let Err(error) = begun {
                    tracing::debug!("a request for the status was not answered: {error}");
                }
            }
        };
        let thread = ThreadSpec::named(format!("{}-status", S::NAME)).start(serve);
        let thread = thread.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            address,
            has_ended,
            peers,
            thread: Some(thread),
        })
    }

    /// Returns the address at which the status is served.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Release);
        // Wakes the thread.
        let woken = TcpStream::connect_timeout(&self.address, PATIENCE);
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
        self.peers.end();
    }
}

/// Connections whose requests are being answered.
#[derive(Debug, Default)]
struct Peers {
    open: Mutex<Open>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Open {
    /// Open connections with their numbers, the oldest first, except those that were shut down.
    peers: VecDeque<(u64, TcpStream)>,
    next: u64,
    /// Number of threads that are running; each ends some time after its connection.
    threads: usize,
}

impl Peers {
    /// Adds a connection; returns its number. If there are too many, the oldest is shut down.
    fn add(&self, peer: &TcpStream) -> io::Result<u64> {
        let peer = peer.try_clone()?;
        let mut open = self.open.lock();
        let number = open.next;
        open.next += 1;
        open.threads += 1;
        if open.peers.len() >= MOST_PEERS
            && let Some((_, oldest)) = open.peers.pop_front()
        {
            // It may have ended by itself.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        open.peers.push_back((number, peer));
        Ok(number)
    }

    /// Removes a connection whose thread has ended.
    fn remove(&self, number: u64) {
        let mut open = self.open.lock();
        open.peers.retain(|(one, _)| *one != number);
        open.threads -= 1;
        self.ended.notify_all();
    }

    /// Stops reading from all connections, and waits until the requests that have arrived are
    /// answered.
    fn end(&self) {
        let mut open = self.open.lock();
        for (_, peer) in &open.peers {
            // It may have ended by itself.
            let _ = peer.shutdown(Shutdown::Read);
        }
        self.ended.wait_while(&mut open, |open| open.threads > 0);
    }
}

/// Starts the thread that answers a connection's request.
fn begin<S: Service>(peer: TcpStream, peers: Arc<Peers>, service: Arc<S>) -> io::Result<()> {
    let number = peers.add(&peer)?;
    let answers = {
        let peers = peers.clone();
        move || {
            if let Err(error) = answer(peer, &*service) {
                tracing::debug!("a request for the status was not answered: {error}");
            }
            // The service's store is closed with it: not behind the end of the status.
            drop(service);
            peers.remove(number);
        }
    };
    let started = ThreadSpec::named(format!("{}-status", S::NAME)).start(answers);
    started.map(drop).map_err(|error| {
        peers.remove(number);
        io::Error::other(error.to_string())
    })
}

fn answer(mut peer: TcpStream, service: &impl Service) -> io::Result<()> {
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

/// Reads a request's head.
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

fn reply<S: Service>(head: &str, service: &S) -> (&'static str, String) {
    let mut words = head.split(' ');
    let (method, path) = (words.next(), words.next().unwrap_or_default());
    if method != Some("GET") {
        return ("405 Method Not Allowed", "GET is allowed\n".to_owned());
    }
    match path {
        "/health" | "/live" => ("200 OK", "alive\n".to_owned()),
        "/ready" => match service.check_ready() {
            Ok(()) => ("200 OK", "ready\n".to_owned()),
            Err(why) => ("503 Service Unavailable", format!("{why}\n")),
        },
        "/metrics" => ("200 OK", metrics(service)),
        _ => (
            "404 Not Found",
            "there are /health, /live, /ready and /metrics\n".to_owned(),
        ),
    }
}

/// Returns a service's metrics, including its readiness.
fn metrics<S: Service>(service: &S) -> String {
    let mut out = Exposition::of(S::NAME);
    service.metrics(&mut out);
    let ready = u64::from(service.check_ready().is_ok());
    out.gauge("ready", "1 if the service answers requests, else 0.", ready);
    out.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::{NotReady, ServeError};

    struct Idle(AtomicBool);

    impl Service for Idle {
        const NAME: &'static str = "idle";
        const INITIAL_REFERENCE: &'static str = "Idle";

        fn serve(&self, _: &punctual::Poa) -> Result<punctual::ObjectRef, ServeError> {
            Err(ServeError::of::<Self>("it has no objects"))
        }

        fn check_ready(&self) -> Result<(), NotReady> {
            match self.0.load(Ordering::Relaxed) {
                true => Ok(()),
                false => Err(NotReady("the store cannot be reached".to_owned())),
            }
        }

        fn metrics(&self, out: &mut Exposition) {
            out.gauge("things", "Things.", 7);
        }
    }

    fn listening() -> (Arc<Idle>, Status) {
        let service = Arc::new(Idle(AtomicBool::new(true)));
        let status = Status::listen(service.clone(), "127.0.0.1:0").unwrap();
        (service, status)
    }

    fn asked(status: &Status, request: &[u8]) -> String {
        let mut peer = TcpStream::connect(status.address()).unwrap();
        peer.write_all(request).unwrap();
        let mut reply = String::new();
        peer.read_to_string(&mut reply).unwrap();
        reply
    }

    #[test]
    fn who_runs_it_learns_that_it_is_alive_and_ready_and_what_it_has_counted() {
        let (service, status) = listening();
        let get = |path| asked(&status, format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes());
        for (path, first, part) in [
            ("/health", "HTTP/1.1 200 OK", "alive"),
            ("/live", "HTTP/1.1 200 OK", "alive"),
            ("/ready", "HTTP/1.1 200 OK", "ready"),
            ("/metrics", "HTTP/1.1 200 OK", "punctual_idle_things 7\n"),
            ("/metrics", "HTTP/1.1 200 OK", "punctual_idle_ready 1\n"),
            ("/", "HTTP/1.1 404 Not Found", "/metrics"),
        ] {
            let reply = get(path);
            assert!(reply.starts_with(first) && reply.contains(part), "{reply}");
        }
        service.0.store(false, Ordering::Relaxed);
        let reply = get("/ready");
        assert!(reply.starts_with("HTTP/1.1 503"), "{reply}");
        assert!(reply.contains("the store cannot be reached"), "{reply}");
        assert!(get("/health").starts_with("HTTP/1.1 200"));
    }

    #[test]
    fn peers_that_send_nothing_do_not_keep_others_from_an_answer() {
        let (_service, status) = listening();
        let connect = |_| TcpStream::connect(status.address()).unwrap();
        let silent: Vec<TcpStream> = (0..3 * MOST_PEERS).map(connect).collect();
        for _ in 0..MOST_PEERS {
            let reply = asked(&status, b"GET /health HTTP/1.1\r\n\r\n");
            assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        }
        // The first of them were closed for those that came later.
        let mut first = &silent[0];
        assert_eq!(first.read(&mut [0; 1]).unwrap_or(0), 0);
    }

    #[test]
    fn the_service_is_let_go_when_the_status_ends_whatever_peers_do() {
        let (service, status) = listening();
        let silent = TcpStream::connect(status.address()).unwrap();
        // Connections are taken in order: now the silent one is waited for.
        assert!(asked(&status, b"GET /health HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
        drop(status);
        assert_eq!(Arc::strong_count(&service), 1);
        drop(silent);
    }

    #[test]
    fn requests_that_are_none_or_too_long_end_and_the_next_is_answered() {
        let (_service, status) = listening();
        let post = asked(&status, b"POST /metrics HTTP/1.1\r\n\r\n");
        assert!(post.starts_with("HTTP/1.1 405"), "{post}");
        let mut endless = TcpStream::connect(status.address()).unwrap();
        // The connection is cut off before all of this is read, or after.
        let _ = endless.write_all(&[b'a'; 64 << 10]);
        drop(TcpStream::connect(status.address()).unwrap());
        assert!(asked(&status, b"GET /health HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
    }
}
