//! Raw shared memory: each side spins on a number that the other one counts up, with the message
//! beside it.
//!
//! ```text
//! word 0: messages so far   1: length   2: length of the reply wanted   from octet 64: the message
//! ```
//!
//! Each side has a sealed memory file of its own, to which only that side writes. There are no
//! one-ways.

use super::request_of;
use crate::Result;
use crate::case::{Case, Operation};
use crate::peer::{Caller, serve_until_the_end};
use crate::protocol::References;
use punctual_sys::memory::{PeerMemory, Words, create};
use punctual_sys::passing;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Size of the shared memory into which one side writes, in bytes.
const SIZE: usize = 128 << 10;
/// Offset of a message, in bytes and in words.
const BODY: usize = 64;
const BODY_WORD: usize = BODY / 4;
/// Upper bound of a message, in bytes.
pub(crate) const LONGEST: usize = SIZE - BODY;
/// Number of spins before a side sleeps: some milliseconds.
const LOOKS: u32 = 1_000_000;
/// Interval at which a side that has stopped spinning checks for a message.
const SLEEP: Duration = Duration::from_millis(1);
/// Time limit of the handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Serves each connection on a thread of its own until the input ends.
pub(in crate::peer) fn serve() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("floor");
    let listener = UnixListener::bind(&path)?;
    std::thread::Builder::new()
        .name("acceptor".to_owned())
        .spawn(move || {
            for socket in listener.incoming().flatten() {
                let server = std::thread::Builder::new().name("connection".to_owned());
                // A connection without a thread never gets an answer, and its harness ends it.
                let _ = server.spawn(move || answer(&socket));
            }
        })?;
    serve_until_the_end(path.display().to_string())
}

/// Answers the peer's messages until the process ends.
fn answer(socket: &UnixStream) -> Result<()> {
    let mut ends = Ends::exchange(socket)?;
    let mut request = Vec::new();
    loop {
        let wanted = ends.receive(&mut request)?;
        let reply = vec![0; wanted.min(LONGEST)];
        ends.send(&reply, 0);
    }
}

/// Shared memories of both sides of a connection.
struct Ends {
    own: Words,
    peer: PeerMemory,
    sent: u32,
    received: u32,
}

impl Ends {
    /// Sends this side's memory to the other side, and receives the other's.
    fn exchange(socket: &UnixStream) -> Result<Self> {
        let (file, region) = create("floor", SIZE)?;
        passing::send_with(socket, b"floor", &[file.as_fd()])?;
        // The receive below fails if the descriptor has not come by then.
        let _ = passing::wait(socket, Some(HANDSHAKE));
        let mut descriptors = Vec::new();
        passing::receive_with(socket, &mut [0; 16], &mut descriptors)?;
        let theirs = descriptors.pop().ok_or("no memory came")?;
        Ok(Self {
            own: region.into_words(),
            peer: PeerMemory::map(theirs, SIZE)?,
            sent: 0,
            received: 0,
        })
    }

    #[allow(clippy::cast_possible_truncation)]
    fn send(&mut self, message: &[u8], wanted: usize) {
        for (word, octets) in self.own[BODY_WORD..].iter().zip(message.chunks(4)) {
            let mut four = [0; 4];
            four[..octets.len()].copy_from_slice(octets);
            word.store(u32::from_ne_bytes(four), Ordering::Relaxed);
        }
        // Both are below SIZE.
        self.own[1].store(message.len() as u32, Ordering::Relaxed);
        self.own[2].store(wanted as u32, Ordering::Relaxed);
        self.sent = self.sent.wrapping_add(1);
        // Release: pairs with the acquiring load in `receive`.
        self.own[0].store(self.sent, Ordering::Release);
    }

    /// Waits for a message, and returns the reply length that the message requests.
    fn receive(&mut self, message: &mut Vec<u8>) -> Result<usize> {
        let mut looks = 0;
        while self.peer.load_acquire(0) == self.received {
            if looks < LOOKS {
                looks += 1;
                std::hint::spin_loop();
            } else {
                // The peer sends no wake-up, which would cost a system call for every message.
                self.peer.wait(0, self.received, Some(SLEEP));
            }
        }
        self.received = self.received.wrapping_add(1);
        let length = self.peer.load(1) as usize;
        message.clear();
        self.peer.append_to(BODY, length, message)?;
        Ok(self.peer.load(2) as usize)
    }
}

/// Client's end of a shared-memory connection, without an ORB.
pub(in crate::peer) struct Client {
    ends: Ends,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Client {
    pub(in crate::peer) fn new(address: &str) -> Result<Self> {
        Ok(Self {
            ends: Ends::exchange(&UnixStream::connect(Path::new(address))?)?,
            request: Vec::new(),
            reply: Vec::new(),
        })
    }
}

impl Caller for Client {
    fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>> {
        let lengths = request_of(case, &mut self.request)?;
        if lengths.reply == 0 || lengths.request.max(lengths.reply) > LONGEST {
            return Err(format!("raw shared memory has no {case}").into());
        }
        Ok(Box::new(move || {
            self.ends.send(&self.request, lengths.reply);
            self.ends.receive(&mut self.reply)?;
            Ok(())
        }))
    }

    fn settle(&mut self) -> Result<()> {
        self.prepare(Case::plain(Operation::CubeVoid))?()
    }

    fn flood(&mut self, _: u32, _: u32, _: References) -> Result<Duration> {
        Err("raw shared memory has one thread a connection".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_whole_and_its_reply_is_as_long_as_it_wants() {
        let (here, there) = UnixStream::pair().unwrap();
        std::thread::spawn(move || answer(&there));
        let mut ends = Ends::exchange(&here).unwrap();
        let mut reply = Vec::new();
        for wanted in [24, 5, 4096] {
            ends.send(&[7; 70], wanted);
            ends.receive(&mut reply).unwrap();
            assert_eq!(reply, vec![0; wanted]);
        }
    }
}
