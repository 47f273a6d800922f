//! Scripted server that reads and writes raw GIOP messages on a socket, as a test prescribes.

use super::generated::asynchronous::Clerk;
use punctual::{Interface, Orb};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

/// Type and request id of a received GIOP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) kind: u8,
    pub(super) id: u32,
}

pub(super) const REQUEST: u8 = 0;
pub(super) const CANCEL: u8 = 2;

/// Server's end of one client connection.
pub(super) struct Peer(TcpStream);

impl Peer {
    /// Returns the next GIOP 1.2 message, which must be in this machine's byte order; `None` at the
    /// end of the connection.
    pub(super) fn next(&mut self) -> Option<Received> {
        let mut header = [0; 12];
        self.0.read_exact(&mut header).ok()?;
        assert_eq!(&header[..4], b"GIOP");
        let [.., kind, z0, z1, z2, z3] = header;
        let mut body = vec![0; u32::from_ne_bytes([z0, z1, z2, z3]) as usize];
        self.0.read_exact(&mut body).ok()?;
        let id = u32::from_ne_bytes(*body.first_chunk()?);
        Some(Received { kind, id })
    }

    /// Waits for a client to connect.
    pub(super) fn accept(listener: &TcpListener) -> Self {
        Self(listener.accept().unwrap().0)
    }

    /// Answers a request with a result of the IDL type `long`.
    pub(super) fn answer(&mut self, id: u32, result: i32) {
        self.reply(id, 0, &result.to_ne_bytes());
    }

    /// Answers a request with a reply of this status and body.
    pub(super) fn reply(&mut self, id: u32, status: u32, body: &[u8]) {
        let mut numbers = Vec::new();
        for number in [id, status, 0] {
            numbers.extend_from_slice(&number.to_ne_bytes());
        }
        self.send(1, &[&numbers, body].concat());
    }

    /// Sends CloseConnection, so that unanswered requests may be repeated.
    pub(super) fn close(mut self) {
        self.send(5, &[]);
    }

    fn send(&mut self, kind: u8, body: &[u8]) {
        let order = u8::from(cfg!(target_endian = "little"));
        let length = u32::try_from(body.len()).unwrap().to_ne_bytes();
        let header = [&b"GIOP\x01\x02"[..], &[order, kind], &length].concat();
        self.0.write_all(&[&header, body].concat()).unwrap();
    }
}

/// Returns a reference of the ORB `client` to an object of a scripted server, which serves one
/// connection with `serve`.
pub(super) fn serve<R: Send + 'static>(
    client: &Orb,
    serve: impl FnOnce(Peer) -> R + Send + 'static,
) -> (Clerk, JoinHandle<R>) {
    serve_all(client, |listener| serve(Peer::accept(&listener)))
}

/// Returns a reference of the ORB `client` to an object of a scripted server, which accepts its
/// connections itself.
pub(super) fn serve_all<R: Send + 'static>(
    client: &Orb,
    serve: impl FnOnce(TcpListener) -> R + Send + 'static,
) -> (Clerk, JoinHandle<R>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || serve(listener));
    let text = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/clerk");
    let object = client.string_to_object(&text).unwrap();
    (Clerk::from_object(object), server)
}
