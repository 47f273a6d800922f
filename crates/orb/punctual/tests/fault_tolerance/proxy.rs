//! Proxy between clients and a server, which can lose replies, and records what clients send.

use punctual_giop::{MessageHeader, RequestHeader, message_decoder, service_context};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Proxy on a port of its own.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// Number of replies that are lost from now on: the connection is closed instead.
    losing: AtomicU32,
    requests: Mutex<Vec<Recorded>>,
}

/// Request that a client has sent.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) operation: String,
    pub(crate) contexts: Vec<(u32, Vec<u8>)>,
}

impl Recorded {
    pub(crate) fn context(&self, id: u32) -> Option<&[u8]> {
        let mut contexts = self.contexts.iter();
        contexts.find_map(|(of, data)| (*of == id).then_some(&data[..]))
    }

    pub(crate) fn ft_request(&self) -> Option<&[u8]> {
        self.context(service_context::FT_REQUEST)
    }

    /// Returns the version of the group that the client knows.
    pub(crate) fn version(&self) -> Option<u32> {
        let data = self.context(service_context::FT_GROUP_VERSION)?;
        Some(u32::from_ne_bytes(data[4..8].try_into().unwrap()))
    }
}

impl Proxy {
    /// Starts a proxy to a port of this host.
    pub(crate) fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let of_thread = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let state = of_thread.clone();
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else {
                    continue;
                };
                std::thread::spawn(move || state.pass(client, server));
            }
        });
        Self { port, state }
    }

    /// Loses the replies to the next requests, with their connections.
    pub(crate) fn lose(&self, replies: u32) {
        self.state.losing.store(replies, Ordering::SeqCst);
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.state.requests.lock().unwrap().clone()
    }
}

impl State {
    fn pass(self: Arc<Self>, client: TcpStream, server: TcpStream) {
        let (mut from_client, mut to_server) =
            (client.try_clone().unwrap(), server.try_clone().unwrap());
        let state = self.clone();
        std::thread::spawn(move || {
            while let Some(message) = message_of(&mut from_client) {
                state.record(&message);
                if to_server.write_all(&message).is_err() {
                    break;
                }
            }
            let _ = to_server.shutdown(Shutdown::Both);
        });
        let (mut from_server, mut to_client) = (server, client);
        while let Some(message) = message_of(&mut from_server) {
            let losing = |left: u32| left.checked_sub(1);
            let (set, fetched) = (Ordering::SeqCst, Ordering::SeqCst);
            if self.losing.fetch_update(set, fetched, losing).is_ok() {
                break;
            }
            if to_client.write_all(&message).is_err() {
                break;
            }
        }
        let _ = to_client.shutdown(Shutdown::Both);
        let _ = from_server.shutdown(Shutdown::Both);
    }

    fn record(&self, message: &[u8]) {
        let header = MessageHeader::parse(message.first_chunk().unwrap()).unwrap();
        if header.kind != punctual_giop::MessageKind::Request {
            return;
        }
        let limits = punctual::stub::Limits::DEFAULT;
        let coding = punctual::stub::Coding::new(header.version, &limits);
        let mut input = message_decoder(&header, message, coding);
        let request = RequestHeader::decode(&mut input).unwrap();
        let contexts = request.contexts.iter();
        self.requests.lock().unwrap().push(Recorded {
            operation: request.operation.to_owned(),
            contexts: contexts.map(|(id, data)| (id, data.to_vec())).collect(),
        });
    }
}

/// Reads one message.
fn message_of(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut message = vec![0; MessageHeader::LEN];
    stream.read_exact(&mut message).ok()?;
    let size: [u8; 4] = message[8..12].try_into().unwrap();
    let size = match message[6] & 1 {
        1 => u32::from_le_bytes(size),
        _ => u32::from_be_bytes(size),
    };
    let begin = message.len();
    message.resize(begin + size as usize, 0);
    stream.read_exact(&mut message[begin..]).ok()?;
    Some(message)
}
