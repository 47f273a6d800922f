//! Baseline of `rt`, the operating system's cost alone: blocking raw sockets, with a server thread
//! for each connection that has the priority of its client.
//!
//! A client begins with the native priority of its thread, in one byte; 0 is none. Messages are as
//! long as GIOP's of a void call with the service context of the priority: a receive and a send on
//! each side.

use super::setup::{Link, Setup};
use super::work;
use crate::Result;
use crate::case::{Case, Lengths, Operation};
use crate::peer::socket::{self, Kind, Listener, Socket};
use std::io;
use std::sync::Arc;

/// Size of the service context RTCorbaPriority in a message, in bytes: id, length, byte order with
/// padding, priority.
const CONTEXT: usize = 12;

/// Returns the kind of raw sockets with which a link's figures are compared.
fn sockets(link: Link) -> Kind {
    let link = match link {
        Link::Iiop => socket::Link::Tcp,
        Link::Uiop | Link::Shmiop => socket::Link::Unix,
    };
    Kind { link, spins: false }
}

/// Returns the sizes of request and reply, in bytes.
fn lengths() -> Lengths {
    let plain = Case::plain(Operation::CubeVoid).lengths();
    Lengths {
        request: plain.request + CONTEXT,
        reply: plain.reply + CONTEXT,
    }
}

/// Starts a thread that accepts connections and serves each on a thread of its own.
///
/// # Errors
/// The socket or the thread cannot be made.
pub(super) fn serve(setup: &Setup, folder: &tempfile::TempDir) -> Result<String> {
    let listener = Listener::bind(sockets(setup.link).link, folder)?;
    let address = listener.address(folder)?;
    let setup = Arc::new(setup.clone());
    setup.control("floor-accept").start(move || {
        while let Ok(stream) = listener.accept(false) {
            // A client whose connection gets no thread sees it close.
            let _ = begin(stream, &setup);
        }
    })?;
    Ok(address)
}

fn begin(stream: Socket, setup: &Arc<Setup>) -> Result<()> {
    let mut priority = [0];
    stream.read_exact(&mut priority)?;
    let [priority] = priority;
    let thread = setup.thread("floor-conn".to_owned(), i16::from(priority));
    let setup = setup.clone();
    thread.start(move || answer(&stream, &setup))?;
    Ok(())
}

/// Answers requests until the other end closes the connection.
fn answer(stream: &Socket, setup: &Setup) -> io::Result<()> {
    let (Lengths { request, reply }, time) = (lengths(), setup.work());
    let (mut request, reply) = (vec![0; request], vec![0; reply]);
    loop {
        stream.read_exact(&mut request)?;
        work::busy(time);
        stream.send_all(&reply)?;
    }
}

/// Client's end of a raw-socket connection, without an ORB.
#[derive(Debug)]
pub(super) struct Client {
    stream: Socket,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Client {
    /// Connects to the server, and sends it the calling thread's native priority.
    pub(super) fn connect(link: Link, address: &str, priority: i16) -> Result<Self> {
        let stream = Socket::connect(sockets(link), address)?;
        stream.send_all(&[u8::try_from(priority)?])?;
        let Lengths { request, reply } = lengths();
        Ok(Self {
            stream,
            request: vec![0; request],
            reply: vec![0; reply],
        })
    }

    /// Sends a request over the raw socket and receives the reply.
    pub(super) fn call(&mut self) -> io::Result<()> {
        self.stream.send_all(&self.request)?;
        self.stream.read_exact(&mut self.reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rt::setup::{Contender, sample};

    #[test]
    fn calls_come_back_by_either_socket() {
        for link in [Link::Uiop, Link::Iiop] {
            let mut setup = sample(Contender::Floor);
            setup.link = link;
            let folder = tempfile::tempdir().unwrap();
            let address = serve(&setup, &folder).unwrap();
            let mut client = Client::connect(link, &address, 3).unwrap();
            for _ in 0..3 {
                client.call().unwrap();
            }
        }
    }
}
