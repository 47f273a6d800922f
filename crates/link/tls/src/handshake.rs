//! A handshake under way, a step at a time: on a socket that blocks for a while or not at all.

use rustls::{Connection, Error, InvalidMessage};
use std::io;
use std::net::TcpStream;

/// A connection that is not one yet.
#[derive(Debug)]
pub(crate) struct Handshake {
    pub(crate) stream: TcpStream,
    pub(crate) tls: Connection,
}

impl Handshake {
    pub(crate) fn new(stream: TcpStream, tls: impl Into<Connection>) -> Self {
        Self {
            stream,
            tls: tls.into(),
        }
    }

    /// Sends what there is to send, takes once what has come, and tells whether the handshake is done.
    /// What the socket has no room for is sent at the next step. Receives once only, so that a peer
    /// that sends an octet at a time cannot stretch a step beyond the caller's deadline.
    ///
    /// # Errors
    /// The operating system's, and what is wrong with what the peer sent; the peer has been told.
    pub(crate) fn advance(&mut self) -> io::Result<bool> {
        if self.is_done()? {
            return Ok(true);
        }
        match self.tls.read_tls(&mut self.stream) {
            Ok(0) => {
                let reason = "the peer closed the connection during the handshake";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason));
            }
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) =>
            {
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        if let Err(error) = self.tls.process_new_packets() {
            // The alert that tells the peer; if it does not go out, the end does.
            let _ = self.flush();
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                Failure::from(error),
            ));
        }
        self.is_done()
    }

    fn is_done(&mut self) -> io::Result<bool> {
        Ok(self.flush()? && !self.tls.is_handshaking())
    }

    fn flush(&mut self) -> io::Result<bool> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.stream) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

/// What went wrong in TLS.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The library's words do not say so.
    #[error("the peer does not speak TLS: plain GIOP, perhaps")]
    NoTls,
    #[error("TLS: {0}")]
    Tls(#[source] Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => Self::NoTls,
            error => Self::Tls(error),
        }
    }
}
