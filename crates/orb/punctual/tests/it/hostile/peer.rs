//! Peer without an ORB, which sends bytes of its own over any link.

use punctual::SystemExceptionKind as Kind;
use punctual::protocol::{
    Address, Cause, Connection, Deadline, Link, LinkError, Properties, SendError,
};
use punctual::stub::{Block, ByteOrder, Coding, Encoder};
use punctual_giop::{
    MessageHeader, MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags,
    ServiceContext, ServiceContexts, SystemExceptionBody, Target, align_body, begin_message,
    finish_message, message_decoder,
};
use std::io::{ErrorKind, IoSlice};
use std::sync::Arc;
use std::time::Duration;

/// Connection without an ORB behind it; closed on drop.
pub(crate) struct Peer {
    connection: Arc<dyn Connection>,
    /// Received data that the test has not taken yet.
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

    /// Returns the peer's address as the server sees it.
    pub(crate) fn address(&self) -> &Address {
        self.connection.local()
    }

    pub(crate) fn send(&mut self, octets: &[u8]) -> &mut Self {
        self.try_send(octets).unwrap();
        self
    }

    /// Sends data that the server may refuse before it has read all of it; the error is returned.
    pub(crate) fn try_send(&mut self, octets: &[u8]) -> Result<(), SendError> {
        self.connection.send(&[IoSlice::new(octets)], patience())
    }

    /// Sends data, and then receives any data; each takes at most `long`.
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

    /// Closes the connection, even if data is in flight.
    pub(crate) fn close(&mut self) -> &mut Self {
        self.connection.close();
        self
    }

    /// Receives the next `length` octets from the server.
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

    /// Receives a message; returns its kind and all its octets.
    pub(crate) fn receive(&mut self) -> (MessageKind, Vec<u8>) {
        self.wait_for(MessageHeader::LEN);
        let header = MessageHeader::parse(self.received.first_chunk().unwrap()).unwrap();
        (header.kind, self.octets(header.message_len()))
    }

    /// Returns whether the header of a message arrives within this time.
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

    /// Receives all further data until the server closes the connection; fails if it does not.
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

    /// Returns the number of octets until the connection ends, in the middle of a message.
    pub(crate) fn count_until_cut_off(&mut self) -> usize {
        let mut count = self.received.len();
        loop {
            self.received.clear();
            match self.connection.receive(&mut self.received, 1, patience()) {
                Ok(octets) => count += octets,
                Err(error) => {
                    assert!(!matches!(error.cause, Cause::TimedOut), "{error}");
                    return count;
                }
            }
        }
    }

    /// Asserts that the server answers with MessageError and closes.
    pub(crate) fn assert_refused(&mut self) {
        let (kind, _) = self.receive();
        assert_eq!(kind, MessageKind::MessageError);
        assert!(self.rest().is_empty());
    }

    /// Receives a message, which must be a reply with a system exception, and returns the
    /// exception's kind.
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

/// Returns whether an error means that the server closed the connection; TCP resets a connection
/// that is closed before all data was read.
fn is_end(cause: &Cause) -> bool {
    match cause {
        Cause::Closed => true,
        Cause::Os(error) => error.kind() == ErrorKind::ConnectionReset,
        _ => false,
    }
}

/// Returns a deadline that is longer than any step; the watchdog ends a test that hangs.
pub(crate) fn patience() -> Deadline {
    Deadline::after(crate::hostile::LIMIT)
}

/// Returns a GIOP 1.2 request with the given arguments.
pub(crate) fn request(
    key: &[u8],
    operation: &str,
    arguments: impl FnOnce(&mut Encoder<'_>),
) -> Vec<u8> {
    request_with(&[], key, operation, arguments)
}

/// Returns a GIOP 1.2 request with the given service contexts and arguments.
pub(crate) fn request_with(
    contexts: &[ServiceContext<'_>],
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
        contexts: ServiceContexts::new(contexts),
    }
    .encode(&mut out)
    .unwrap();
    align_body(&mut out);
    arguments(&mut out);
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    block.into_vec()
}
