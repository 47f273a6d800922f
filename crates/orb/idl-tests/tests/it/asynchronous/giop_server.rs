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

    /// Answers a request with a result of the IDL type `long`.
    pub(super) fn answer(&mut self, id: u32, result: i32) {
        let (order, mut reply) = (u8::from(cfg!(target_endian = "little")), Vec::new());
        reply.extend_from_slice(b"GIOP\x01\x02");
        reply.extend_from_slice(&[order, 1]);
        for number in [16, id, 0, 0, result.cast_unsigned()] {
            reply.extend_from_slice(&number.to_ne_bytes());
        }
        self.0.write_all(&reply).unwrap();
    }
}

/// Returns a reference of the ORB `client` to an object of a scripted server, which serves one
/// connection with `serve`.
pub(super) fn serve<R: Send + 'static>(
    client: &Orb,
    serve: impl FnOnce(Peer) -> R + Send + 'static,
) -> (Clerk, JoinHandle<R>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || serve(Peer(listener.accept().unwrap().0)));
    let text = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/clerk");
    let object = client.string_to_object(&text).unwrap();
    (Clerk::from_object(object), server)
}
