//! TLS handshake in progress, performed step by step. The socket may be non-blocking, or block
//! until a time-out.

use rustls::{Connection, Error, InvalidMessage};
use std::io;
use std::net::TcpStream;

/// TLS connection whose handshake is not complete yet.
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

    /// Sends pending data, receives once, and returns whether the handshake is done. Data that does
    /// not fit the socket's buffer is sent at the next step. Receives once only, so that a peer
    /// that sends a byte at a time cannot stretch a step beyond the caller's deadline.
    ///
    /// # Errors
    /// The operating system's, and faults in the peer's data; the peer has been sent an alert.
    pub(crate) fn advance(&mut self) -> io::Result<bool> {
        if self.check_done()? {
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
            // The alert for the peer; if it cannot be sent, the peer sees the end.
            let _ = self.flush();
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                Failure::from(error),
            ));
        }
        self.check_done()
    }

    fn check_done(&mut self) -> io::Result<bool> {
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

/// Failure of the TLS protocol.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The peer's data is not TLS. A variant of its own, since the TLS library's message does not
    /// say so.
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
