//! A client without an ORB, whose bytes are its own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use punctual_cdr::{Block, ByteOrder, Coding, Decoder, Encoder, Unmarshal};
use punctual_giop::{
    MessageHeader, MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags,
    ServiceContexts, Target, align_body, begin_message, finish_message, message_decoder,
};
use punctual_ior::{IiopProfile, Ior};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

/// Upper bound of each wait: a hang is a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// Operation, and the arguments that it is sent with.
pub(crate) type Request = (&'static str, fn(&mut Encoder<'_>));

/// Place of an object.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) address: SocketAddr,
    pub(crate) key: Arc<[u8]>,
}

/// A connection to an object's server.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    place: Place,
}

/// A reply.
#[derive(Debug)]
pub(crate) struct Reply {
    status: ReplyStatus,
    /// Key of the object that the reply's body begins with a reference to, if it is one.
    key: Option<Arc<[u8]>>,
}

impl Client {
    pub(crate) fn new(place: &Place) -> std::io::Result<Self> {
        Ok(Self::of(TcpStream::connect(place.address)?, place))
    }

    /// Connects from another address of this host.
    pub(crate) fn from_elsewhere(place: &Place) -> std::io::Result<Self> {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&socket, &SocketAddr::from(([127, 0, 0, 2], 0)))?;
        connect(&socket, &place.address)?;
        Ok(Self::of(TcpStream::from(socket), place))
    }

    fn of(stream: TcpStream, place: &Place) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream,
            place: place.clone(),
        }
    }

    /// Waits no longer than `long` from now on.
    pub(crate) fn impatient(self, long: Duration) -> Self {
        self.stream.set_read_timeout(Some(long)).unwrap();
        self.stream.set_write_timeout(Some(long)).unwrap();
        self
    }

    /// Calls an operation, and returns its reply.
    ///
    /// # Errors
    /// If the connection ends before.
    pub(crate) fn call(
        &mut self,
        operation: &str,
        arguments: impl FnOnce(&mut Encoder<'_>),
    ) -> std::io::Result<Reply> {
        let request = request(&self.place.key, operation, arguments);
        self.stream.write_all(&request)?;
        self.reply()
    }

    /// Sends a whole request, and returns its reply.
    pub(crate) fn send(&mut self, request: &[u8]) -> std::io::Result<Reply> {
        self.stream.write_all(request)?;
        self.reply()
    }

    /// Calls from now on the object that requests lead to, each from the object of the one before. Returns `false` if one is
    /// answered otherwise.
    ///
    /// # Errors
    /// If the connection ends before.
    pub(crate) fn follow(&mut self, path: &[Request]) -> std::io::Result<bool> {
        for (operation, arguments) in path {
            let reply = self.call(operation, arguments)?;
            match reply
                .key
                .filter(|_| reply.status == ReplyStatus::NoException)
            {
                Some(key) => self.place.key = key,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Returns the key of the object that is called.
    pub(crate) fn key(&self) -> &[u8] {
        &self.place.key
    }

    fn reply(&mut self) -> std::io::Result<Reply> {
        let mut message = vec![0; MessageHeader::LEN];
        self.stream.read_exact(&mut message)?;
        let header = MessageHeader::parse(message.first_chunk().unwrap()).unwrap();
        message.resize(header.message_len(), 0);
        self.stream.read_exact(&mut message[MessageHeader::LEN..])?;
        if header.kind != MessageKind::Reply {
            return Err(std::io::ErrorKind::ConnectionAborted.into());
        }
        let mut decoder = message_decoder(&header, &message, Coding::default());
        let status = ReplyHeader::decode(&mut decoder).unwrap().status;
        Ok(Reply {
            status,
            key: key_in(&mut decoder),
        })
    }
}

impl Reply {
    pub(crate) fn is_result(&self) -> bool {
        self.status == ReplyStatus::NoException
    }
}

fn key_in(body: &mut Decoder<'_>) -> Option<Arc<[u8]>> {
    body.align(8).ok()?;
    let reference = Ior::unmarshal(body).ok()?;
    let first = reference.profiles.first()?;
    Some(IiopProfile::decode(&first.data).ok()?.object_key.into())
}

/// Returns a GIOP 1.2 request.
pub(crate) fn request(
    key: &[u8],
    operation: &str,
    arguments: impl FnOnce(&mut Encoder<'_>),
) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    begin_message(&mut out, MessageKind::Request);
    RequestHeader {
        request_id: 2,
        response: ResponseFlags::SYNC_WITH_TARGET,
        target: Target::ObjectKey(key),
        operation,
        contexts: ServiceContexts::none(),
    }
    .encode(&mut out)
    .unwrap();
    align_body(&mut out);
    arguments(&mut out);
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    block.into_vec()
}
