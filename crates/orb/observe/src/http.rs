//! Small HTTP server for metrics and the state of a process, at an address of its own.
//!
//! Each request is answered on a thread of its own, and its connection closed. At most 32
//! connections are open; a further one closes the oldest. Each has two seconds. So peers that send
//! nothing cannot prevent a supervisor from getting its answer.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use punctual_exec::thread::{JoinHandle, ThreadSpec};

/// Time that a peer has for its whole request.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum number of HTTP connections served at a time.
const MOST_PEERS: usize = 32;

/// Maximum length of an HTTP request's head, in bytes.
const MOST: usize = 8 << 10;

/// Reply to an HTTP request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Status line without the version, such as `200 OK`.
    pub status: &'static str,
    /// Text of the reply's body.
    pub body: String,
}

impl Reply {
    /// Makes an HTTP reply with status 200.
    #[must_use]
    pub fn ok(body: impl Into<String>) -> Self {
        let status = "200 OK";
        let body = body.into();
        Self { status, body }
    }

    /// Makes a reply with status 503: what is asked for is not there at present.
    #[must_use]
    pub fn unavailable(body: impl Into<String>) -> Self {
        let status = "503 Service Unavailable";
        let body = body.into();
        Self { status, body }
    }

    /// Makes a reply with status 404, which lists the paths that there are.
    #[must_use]
    pub fn not_found(body: impl Into<String>) -> Self {
        let status = "404 Not Found";
        let body = body.into();
        Self { status, body }
    }
}

/// Server that answers until it is dropped. When that has returned, `reply` is not used any more.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    has_ended: Arc<AtomicBool>,
    answers: Arc<Answers>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers at an address, by threads of this name; port 0 is any free port. `reply` gets the path of each GET
    /// request.
    ///
    /// # Errors
    /// The address is in use or not of this machine; the system has no thread for it.
    pub fn listen(
        name: &str,
        address: &str,
        reply: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let has_ended = Arc::new(AtomicBool::new(false));
        let ends = has_ended.clone();
        let name = name.to_owned();
        let answers = Arc::new(Answers {
            name: name.clone(),
            peers: Peers::default(),
            reply: Mutex::new(Some(Arc::new(reply))),
        });
        let taken = answers.clone();
        let serve = move || {
            for peer in listener.incoming() {
                // Pairs with the store in `drop`, which connects after it.
                if ends.load(Ordering::Acquire) {
                    return;
                }
                // A peer that is not answered has gone, or asks again.
                let _ = peer.and_then(|peer| begin(peer, taken.clone()));
            }
        };
        let thread = ThreadSpec::named(name).start(serve);
        let thread = thread.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            address,
            has_ended,
            answers,
            thread: Some(thread),
        })
    }

    /// Returns the address at which the HTTP server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Release);
        // Wakes the thread.
        let woken = TcpStream::connect_timeout(&self.address, PATIENCE);
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
        self.answers.peers.end();
        *self.answers.reply.lock() = None;
    }
}

/// Set of the HTTP connections whose requests are being answered.
#[derive(Debug, Default)]
struct Peers {
    open: Mutex<Open>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Open {
    /// Connections with their numbers, the oldest first, without those that were shut down.
    peers: VecDeque<(u64, TcpStream)>,
    next: u64,
    /// Number of threads, which end some time after their connection.
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

    /// Removes the HTTP connection with this number, whose thread has ended.
    fn remove(&self, number: u64) {
        let mut open = self.open.lock();
        open.peers.retain(|(one, _)| *one != number);
        open.threads -= 1;
        self.ended.notify_all();
    }

    /// Reads from no connection any more, and waits until those whose requests had come are answered.
    fn end(&self) {
        let mut open = self.open.lock();
        for (_, peer) in &open.peers {
            // It may have ended by itself.
            let _ = peer.shutdown(Shutdown::Read);
        }
        self.ended.wait_while(&mut open, |open| open.threads > 0);
    }
}

/// State shared by the threads of an HTTP server.
struct Answers {
    name: String,
    peers: Peers,
    /// Function that answers requests; `None` once the server has ended.
    reply: Mutex<Option<Arc<MakeReply>>>,
}

/// Function that makes the reply to an HTTP request for a path.
type MakeReply = dyn Fn(&str) -> Reply + Send + Sync;

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers")
            .field("name", &self.name)
            .field("peers", &self.peers)
            .finish_non_exhaustive()
    }
}

/// Starts a thread that answers the HTTP request of a connection.
fn begin(peer: TcpStream, answers: Arc<Answers>) -> io::Result<()> {
    let number = answers.peers.add(&peer)?;
    let thread = ThreadSpec::named(answers.name.clone());
    let answering = {
        let answers = answers.clone();
        move || {
            let reply = answers.reply.lock().clone();
            if let Some(reply) = reply {
                // A peer that is not answered has gone, or asks again.
                let _ = answer(peer, &*reply);
            }
            answers.peers.remove(number);
        }
    };
    thread.start(answering).map(drop).map_err(|error| {
        answers.peers.remove(number);
        io::Error::other(error.to_string())
    })
}

fn answer(mut peer: TcpStream, reply: &MakeReply) -> io::Result<()> {
    peer.set_write_timeout(Some(PATIENCE))?;
    let head = head(&mut peer)?;
    let mut words = head.split(' ');
    let (method, path) = (words.next(), words.next().unwrap_or_default());
    let Reply { status, body } = match method {
        Some("GET") => reply(path),
        _ => Reply {
            status: "405 Method Not Allowed",
            body: "GET is allowed\n".to_owned(),
        },
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    peer.write_all(head.as_bytes())?;
    peer.write_all(body.as_bytes())
}

/// Reads the head of an HTTP request.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn listening() -> Server {
        let reply = |path: &str| match path {
            "/health" => Reply::ok("alive\n"),
            "/ready" => Reply::unavailable("the store is away\n"),
            _ => Reply::not_found("there are /health and /ready\n"),
        };
        Server::listen("test-http", "127.0.0.1:0", reply).unwrap()
    }

    fn asked(server: &Server, request: &[u8]) -> String {
        let mut peer = TcpStream::connect(server.address()).unwrap();
        peer.write_all(request).unwrap();
        let mut reply = String::new();
        peer.read_to_string(&mut reply).unwrap();
        reply
    }

    #[test]
    fn each_path_has_its_reply() {
        let server = listening();
        for (path, first, body) in [
            ("/health", "HTTP/1.1 200 OK", "alive\n"),
            (
                "/ready",
                "HTTP/1.1 503 Service Unavailable",
                "the store is away\n",
            ),
            (
                "/",
                "HTTP/1.1 404 Not Found",
                "there are /health and /ready\n",
            ),
        ] {
            let reply = asked(&server, format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes());
            assert!(reply.starts_with(first) && reply.ends_with(body), "{reply}");
        }
    }

    #[test]
    fn peers_that_send_nothing_do_not_keep_others_from_an_answer() {
        let server = listening();
        let connect = |_| TcpStream::connect(server.address()).unwrap();
        let silent: Vec<TcpStream> = (0..3 * MOST_PEERS).map(connect).collect();
        for _ in 0..MOST_PEERS {
            let reply = asked(&server, b"GET /health HTTP/1.1\r\n\r\n");
            assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        }
        // The first of them were closed for those that came later.
        let mut first = &silent[0];
        assert_eq!(first.read(&mut [0; 1]).unwrap_or(0), 0);
    }

    #[test]
    fn requests_that_are_none_or_too_long_end_and_the_next_is_answered() {
        let server = listening();
        let post = asked(&server, b"POST /health HTTP/1.1\r\n\r\n");
        assert!(post.starts_with("HTTP/1.1 405"), "{post}");
        let mut endless = TcpStream::connect(server.address()).unwrap();
        // The connection is cut off before all of this is read, or after.
        let _ = endless.write_all(&[b'a'; 64 << 10]);
        drop(TcpStream::connect(server.address()).unwrap());
        assert!(asked(&server, b"GET /health HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
    }
}
