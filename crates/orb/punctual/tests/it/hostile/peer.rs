//! A peer that sends octets of its own, by any link.

use punctual::SystemExceptionKind as Kind;
use punctual::protocol::{
    Address, Cause, Connection, Deadline, Link, LinkError, Properties, SendError,
};
use punctual::stub::{Block, ByteOrder, Coding, Encoder};
use punctual_giop::{
    MessageHeader, MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags,
    ServiceContexts, SystemExceptionBody, Target, align_body, begin_message, finish_message,
    message_decoder,
};
use std::io::{ErrorKind, IoSlice};
use std::sync::Arc;
use std::time::Duration;

/// A connection without an ORB behind it. Dropped, it is closed.
pub(crate) struct Peer {
    connection: Arc<dyn Connection>,
    /// What has come and was not taken yet.
    received: Block,
}

impl Peer {
    pub(crate) fn connect(link: &dyn Link, address: &Address) -> Self {
        let connection = link.connect(address, &Properties::NONE, patience());
        Self::of(connection.unwrap())
    }

    pub(crate) fn of(connection: Arc<dyn Connection>) -> Self {
        Self {
            received: connection.lend(0),
            connection,
        }
    }

    /// How the other side knows it.
    pub(crate) fn address(&self) -> &Address {
        self.connection.local()
    }

    pub(crate) fn send(&mut self, octets: &[u8]) -> &mut Self {
        self.try_send(octets).unwrap();
        self
    }

    /// For what the server may refuse before it has read all of it.
    pub(crate) fn try_send(&mut self, octets: &[u8]) -> Result<(), SendError> {
        self.connection.send(&[IoSlice::new(octets)], patience())
    }

    /// Sends, and receives whatever comes; each takes as long at most.
    pub(crate) fn send_and_receive_within(
        &mut self,
        octets: &[u8],
        long: Duration,
    ) -> Result<(), LinkError> {
        let sent = self
            .connection
            .send(&[IoSlice::new(octets)], Deadline::after(long));
        sent.map_err(|failed| failed.error)?;
        self.received.clear();
        let soon = Deadline::after(long);
        match self.connection.receive(&mut self.received, 1, soon) {
            Err(error) if !matches!(error.cause, Cause::TimedOut) => Err(error),
            _ => Ok(()),
        }
    }

    /// Closes, whatever is under way.
    pub(crate) fn close(&mut self) -> &mut Self {
        self.connection.close();
        self
    }

    /// The next `length` octets.
    pub(crate) fn octets(&mut self, length: usize) -> Vec<u8> {
        self.wait_for(length);
        let octets = self.received.as_slice()[..length].to_vec();
        self.received.consume_front(length);
        octets
    }

    fn wait_for(&mut self, length: usize) {
        while self.received.len() < length {
            let received = self
                .connection
                .receive(&mut self.received, length, patience());
            received.unwrap();
        }
    }

    /// The kind of the next message, and the whole of it.
    pub(crate) fn receive(&mut self) -> (MessageKind, Vec<u8>) {
        self.wait_for(MessageHeader::LEN);
        let header = MessageHeader::parse(self.received.first_chunk().unwrap()).unwrap();
        (header.kind, self.octets(header.message_len()))
    }

    /// Whether a message begins to come within that time.
    pub(crate) fn hears_within(&mut self, long: Duration) -> bool {
        let soon = Deadline::after(long);
        let need = MessageHeader::LEN;
        while self.received.len() < need {
            let received = self.connection.receive(&mut self.received, need, soon);
            match received {
                Ok(_) => {}
                Err(error) if matches!(error.cause, Cause::TimedOut) => return false,
                Err(error) => panic!("{error}"),
            }
        }
        true
    }

    /// Takes what is left, and asserts that the server then closes.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        loop {
            let need = self.received.len() + 1;
            match self
                .connection
                .receive(&mut self.received, need, patience())
            {
                Ok(_) => {}
                Err(error) => {
                    assert!(is_end(&error.cause), "{error}");
                    break;
                }
            }
        }
        let length = self.received.len();
        self.octets(length)
    }

    /// Asserts that the server answers with MessageError and closes.
    pub(crate) fn is_refused(&mut self) {
        let (kind, _) = self.receive();
        assert_eq!(kind, MessageKind::MessageError);
        assert!(self.rest().is_empty());
    }

    /// The exception that the next message, a reply, holds.
    pub(crate) fn exception(&mut self) -> Kind {
        let (kind, octets) = self.receive();
        assert_eq!(kind, MessageKind::Reply);
        let header = MessageHeader::parse(octets.first_chunk().unwrap()).unwrap();
        let mut decoder = message_decoder(&header, &octets, Coding::default());
        let reply = ReplyHeader::decode(&mut decoder).unwrap();
        assert_eq!(reply.status, ReplyStatus::SystemException);
        let body = SystemExceptionBody::decode(&mut decoder).unwrap();
        Kind::from_repository_id(body.repository_id).unwrap()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.connection.close();
    }
}

/// Closed by the other side; one that closes before it has read all resets a TCP connection.
fn is_end(cause: &Cause) -> bool {
    match cause {
        Cause::Closed => true,
        Cause::Os(error) => error.kind() == ErrorKind::ConnectionReset,
        _ => false,
    }
}

/// Longer than anything here takes: a watchdog ends what hangs.
pub(crate) fn patience() -> Deadline {
    Deadline::after(crate::hostile::LIMIT)
}

/// A GIOP 1.2 request with the given arguments.
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
