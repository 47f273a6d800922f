//! Connections, and their guarantees.

use crate::{Address, LinkError, Loan, Phase, SendError};
use punctual_cdr::{Block, Lender};
use punctual_exec::Deadline;
use punctual_sys::dscp::Dscp;
use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;

/// Framing of a link: whether message boundaries are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Stream of bytes: messages may arrive in pieces or several at once.
    Stream,
    /// Datagrams: each send arrives whole or not at all.
    Datagram,
}

/// Guarantees of a link; the needs of a messaging protocol are expressed in the same terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarantees {
    /// `true` if data that was sent arrives, or the connection reports its end.
    pub reliable: bool,
    /// `true` if data arrives in the order in which it was sent.
    pub ordered: bool,
    /// Framing of the transmitted data: byte stream or datagrams.
    pub framing: Framing,
    /// Size of the largest message that can be sent in one piece, in bytes; `None` for no limit.
    pub largest: Option<usize>,
}

impl Guarantees {
    /// Guarantees of a stream like TCP's: reliable, ordered, messages of any size.
    pub const STREAM: Self = Self {
        reliable: true,
        ordered: true,
        framing: Framing::Stream,
        largest: None,
    };
}

/// Protection of a link's data against parties other than the two ends of a connection.
///
/// Staying on the host alone is no protection: a reference from elsewhere names a path, at which
/// any local process may listen first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// No protection known to the link: others may read or change the data.
    #[default]
    None,
    /// Encryption, with a server that has proved its identity.
    Encryption,
}

/// Means by which a thread can wait for data on a connection.
#[derive(Debug)]
#[non_exhaustive]
pub enum Waitable<'a> {
    /// Descriptor that is readable when the connection is, for `epoll` and the like.
    Descriptor(BorrowedFd<'a>),
    /// Link-specific wait: a thread blocks in [`Connection::receive`].
    Own,
}

/// Result of receiving on a connection without blocking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Number of bytes received, at least one.
    pub octets: usize,
    /// `true` if that was all: the next receive would find nothing, so that a reader notified of
    /// changes need not try again, unless it was notified of the end.
    pub all: bool,
}

/// State of the incoming side of a connection that no thread reads at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// No data: quiet and, as far as this side knows, open.
    Nothing,
    /// State in which data can be received.
    Data,
    /// State in which the other side has closed the connection.
    End,
}

/// Connection to one peer, made by a connector or an acceptor.
///
/// Any number of threads may share one, but at each moment at most one may send and at most one may
/// receive. The layers above, which know their threads (a reply table, a reactor), ensure that.
pub trait Connection: Send + Sync + Debug {
    /// Lends an empty block with room for at least `capacity` bytes. Dropping it returns it.
    /// Allocates only when all blocks of the connection are out or too small.
    fn lend(&self, capacity: usize) -> Block;

    /// Sends all of `parts`, one after the other, as one message. Blocks until the operating system
    /// has taken them, or `deadline`. A part that lies in memory which this connection's
    /// [`Connection::lender`] lent is sent by reference.
    ///
    /// # Errors
    /// After any error with [`SendError::sent`] above 0 the stream is broken off in mid-message:
    /// the connection must be closed.
    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError>;

    /// Returns whether threads may send at the same time, each message by itself: then one need not wait while another is
    /// sending. Default no, as on a stream the messages would mix.
    fn sends_apart(&self) -> bool {
        false
    }

    /// Receives at least one byte, appends the data to `block`, and returns the number of bytes
    /// received. Blocks until data arrives or `deadline`. Receives until `block` holds `need` bytes
    /// at most, apart from further data that arrived with them.
    ///
    /// `need` is the size that the peer claims to send: memory grows with the data that arrives,
    /// not with the claim. On an error the block keeps its contents. A link that shares memory with
    /// its peer may attach received data to the block instead ([`Block::attach`]); it counts like
    /// other bytes.
    ///
    /// # Errors
    /// [`crate::Cause::Closed`] when the peer has closed, [`crate::Cause::TimedOut`] at the
    /// deadline (receiving may continue later), or the operating system's.
    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError>;

    /// Returns whether [`Connection::receive_now`] and [`Connection::send_now`] work, and changes
    /// of [`Connection::waitable`]'s descriptor tell when to call them: a reactor can serve it
    /// then. Otherwise, the default, a thread has to.
    fn serves_without_blocking(&self) -> bool {
        false
    }

    /// Receives the data at hand and appends it to `block`, for `need` as in
    /// [`Connection::receive`]; returns `None` when there is none. Does not block; one system call.
    ///
    /// Changes of the descriptor are reported once: a reader that waits for them receives until it
    /// gets `None` or [`Taken::all`], and if the end was reported too, until `None` or an error.
    ///
    /// # Errors
    /// As [`Connection::receive`], except the deadline's; [`crate::Cause::Os`] with
    /// [`std::io::ErrorKind::Unsupported`] where it does not work.
    fn receive_now(&self, block: &mut Block, need: usize) -> Result<Option<Taken>, LinkError> {
        let _ = (block, need);
        Err(LinkError::only_blocking(Phase::Receive))
    }

    /// Receives as [`Connection::receive_now`] does, but polls for the next data for a moment, as
    /// [`Connection::receive`] does before it blocks. For a reader that knows that there is none
    /// yet: a link that does not poll, the default, returns `None` at once.
    ///
    /// # Errors
    /// As [`Connection::receive_now`].
    fn receive_soon(&self, block: &mut Block, need: usize) -> Result<Option<Taken>, LinkError> {
        let _ = (block, need);
        Ok(None)
    }

    /// Sends as much of `parts`, from the first on, as the operating system takes now, and returns
    /// the number of bytes, 0 for none. Does not block.
    ///
    /// The next send on this connection, by either function, must begin with the bytes after those
    /// that were sent: a link that encrypts may have them under way already.
    ///
    /// # Errors
    /// As [`Connection::send`], except the deadline's; [`crate::Cause::Os`] with
    /// [`std::io::ErrorKind::Unsupported`] where it does not work.
    fn send_now(&self, parts: &[IoSlice<'_>]) -> Result<usize, SendError> {
        let _ = parts;
        Err(SendError {
            error: LinkError::only_blocking(Phase::Send),
            sent: 0,
        })
    }

    /// Returns the state of the incoming side, without blocking and without taking data. One system
    /// call.
    fn pending(&self) -> Pending;

    /// Ends both directions and wakes the threads that wait on the connection; callable from any
    /// thread.
    fn close(&self);

    /// Returns the address of the peer.
    fn peer(&self) -> &Address;

    /// Returns the address of this side of the connection.
    fn local(&self) -> &Address;

    /// Returns the means to wait for data on the connection.
    fn waitable(&self) -> Waitable<'_>;

    /// Gives the packets that are sent from now on this priority in networks; `None` gives them the one that they had when the
    /// connection was opened. Links without packets of their own, the default, ignore it. Packets that several
    /// connections' peers get from one socket have that socket's.
    ///
    /// # Errors
    /// Errors of `setsockopt(2)`.
    fn set_dscp(&self, dscp: Option<Dscp>) -> io::Result<()> {
        let _ = dscp;
        Ok(())
    }

    /// Returns the number of the network device's queue by which the last data came (NAPI id of Linux); `None`, the default,
    /// where there is none. One system call.
    fn napi_id(&self) -> Option<u32> {
        None
    }

    /// Returns the gatherer, which combines small messages that follow one another, if the link has
    /// one.
    fn gatherer(&self) -> Option<&dyn Gatherer> {
        None
    }

    /// Returns the lender, if memory is shared with the peer: it takes large runs of bytes out of a
    /// message, so that they are sent by reference.
    fn lender(&self) -> Option<&dyn Lender> {
        None
    }

    /// Returns a buffer of `length` bytes of the memory shared with the peer, for the application
    /// to fill; `None` where no memory is shared, or none is free.
    fn loan(&self, length: usize) -> Option<Loan> {
        let _ = length;
        None
    }

    /// Returns the certificates that authenticated the peer, in DER and its own first; none where
    /// the link does not authenticate, or the peer gave none.
    fn peer_certificates(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Returns whether the peer's process certainly runs as the user of this one, or as root: false
    /// where the operating system does not know the peer's user, as over a network.
    fn peer_is_owner(&self) -> bool {
        false
    }

    /// Returns the user of the peer's process, if the operating system knows it, as for Unix sockets.
    fn peer_user(&self) -> Option<u32> {
        None
    }
}

/// Sender that combines small messages that follow one another into fewer packets; each call
/// returns once the operating system has accepted its message.
pub trait Gatherer {
    /// Sends a message, as [`Connection::send`] does, that another message will follow at once.
    /// Data that the operating system holds back leaves with the next [`Connection::send`], with
    /// [`Gatherer::push`], or by itself: over TCP after 200 ms.
    ///
    /// # Errors
    /// As [`Connection::send`].
    fn send_before_more(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError>;

    /// Sends the data that was held back to be combined with more. May be called while another thread
    /// sends.
    fn push(&self);
}
