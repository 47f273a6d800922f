//! A connection, and what it guarantees.

use crate::{Address, LinkError, Loan, Phase, SendError};
use punctual_cdr::{Block, Lender};
use punctual_exec::Deadline;
use std::fmt::Debug;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;

/// How a link keeps what is sent together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A stream of octets: messages may arrive in pieces or several at once.
    Stream,
    /// Datagrams: each send arrives whole or not at all.
    Datagram,
}

/// What a link guarantees; a messaging protocol says what it needs in the same words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarantees {
    /// What was sent arrives, or the connection reports its end.
    pub reliable: bool,
    /// What was sent first arrives first.
    pub ordered: bool,
    /// Stream or datagrams.
    pub framing: Framing,
    /// The largest message that can be sent in one piece, in octets; `None` for no limit.
    pub largest: Option<usize>,
}

impl Guarantees {
    /// A stream like TCP's: reliable, ordered, of messages of any size.
    pub const STREAM: Self = Self {
        reliable: true,
        ordered: true,
        framing: Framing::Stream,
        largest: None,
    };
}

/// Who could read or change what a link carries, beside the two ends of a connection.
///
/// What does not leave the host is not protected by that alone: a reference from elsewhere names a path, at which
/// whoever was quicker listens here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// Others, as far as the link knows.
    #[default]
    None,
    /// Nobody: it is encrypted, and the server has proved who it is.
    Encryption,
}

/// How a connection is waited on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Waitable<'a> {
    /// Readable when this descriptor is, for `epoll` and the like.
    Descriptor(BorrowedFd<'a>),
    /// In its own way: a thread blocks in [`Connection::receive`].
    Own,
}

/// What was received without blocking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// How many octets, at least one.
    pub octets: usize,
    /// Whether that was all: the next receive would find nothing, so that whoever is told of changes
    /// need not look again, unless it was told of the end.
    pub all: bool,
}

/// What waits on a connection that nobody reads at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// Nothing: quiet and, as far as this side knows, open.
    Nothing,
    /// Something to receive.
    Data,
    /// The end: the other side has closed.
    End,
}

/// A way to one peer, made by a connector or an acceptor.
///
/// Any number of threads may share one, but at each moment at most one sends and at most one
/// receives: who that is, is settled above (a reply table, a reactor), where it can be known.
pub trait Connection: Send + Sync + Debug {
    /// Lends a block, empty, with room for at least `capacity` octets. It comes back by being
    /// dropped. Allocates only when all that the connection lends are out or too small.
    fn lend(&self, capacity: usize) -> Block;

    /// Sends all of `parts`, one after the other, as one message. Blocks until the operating system
    /// has taken them, or `deadline`. A part that lies in memory which this connection's
    /// [`Connection::lender`] lent is sent by reference.
    ///
    /// # Errors
    /// After any error with [`SendError::sent`] above 0 the stream is broken off in mid-message: the
    /// connection must be closed.
    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError>;

    /// Receives behind what `block` holds, at least one octet, at most until it holds `need` (and
    /// whatever arrived with it), and returns how many came. Blocks until then or `deadline`.
    ///
    /// `need` is what the peer claims to send: memory grows with what arrives, not with the claim.
    /// On an error the block keeps what it held. A link that shares memory with its peer may attach
    /// what it received to the block instead ([`Block::attach`]); it counts like octets.
    ///
    /// # Errors
    /// [`crate::Cause::Closed`] when the peer has closed, [`crate::Cause::TimedOut`] at the deadline
    /// (receiving may go on later), or the operating system's.
    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError>;

    /// Whether [`Connection::receive_now`] and [`Connection::send_now`] work, and changes of
    /// [`Connection::waitable`]'s descriptor tell when to call them: a reactor can serve it then.
    /// Otherwise, the default, a thread has to.
    fn serves_without_blocking(&self) -> bool {
        false
    }

    /// Receives behind what `block` holds, for `need` as in [`Connection::receive`], what is there;
    /// `None` when nothing is. Does not block; one system call.
    ///
    /// Changes of the descriptor are told once: whoever waits for them receives until it gets `None`
    /// or [`Taken::all`], and where it was told of the end too, until `None` or an error.
    ///
    /// # Errors
    /// As [`Connection::receive`], but for the deadline's; [`crate::Cause::Os`] with
    /// [`std::io::ErrorKind::Unsupported`] where it does not work.
    fn receive_now(&self, block: &mut Block, need: usize) -> Result<Option<Taken>, LinkError> {
        let _ = (block, need);
        Err(LinkError::only_blocking(Phase::Receive))
    }

    /// Sends of `parts`, from the first on, what the operating system takes now, and returns how many
    /// octets, 0 for none. Does not block.
    ///
    /// What is sent next on this connection, in whatever way, must begin with the octets behind those
    /// that went: a link that encrypts may have them under way already.
    ///
    /// # Errors
    /// As [`Connection::send`], but for the deadline's; [`crate::Cause::Os`] with
    /// [`std::io::ErrorKind::Unsupported`] where it does not work.
    fn send_now(&self, parts: &[IoSlice<'_>]) -> Result<usize, SendError> {
        let _ = parts;
        Err(SendError {
            error: LinkError::only_blocking(Phase::Send),
            sent: 0,
        })
    }

    /// What waits to be received, without blocking and without taking it. One system call.
    fn pending(&self) -> Pending;

    /// Ends both directions and wakes whoever waits on it, from any thread.
    fn close(&self);

    /// Where the peer is.
    fn peer(&self) -> &Address;

    /// Where this side is.
    fn local(&self) -> &Address;

    /// How to wait for it.
    fn waitable(&self) -> Waitable<'_>;

    /// What puts small messages together that follow one another, where the link can.
    fn gatherer(&self) -> Option<&dyn Gatherer> {
        None
    }

    /// Where memory is shared with the peer: what takes large runs of octets out of a message, so that
    /// they are sent by reference.
    fn lender(&self) -> Option<&dyn Lender> {
        None
    }

    /// A buffer of `length` octets of the memory shared with the peer, for the application to fill;
    /// `None` where no memory is shared, or none is free.
    fn loan(&self, length: usize) -> Option<Loan> {
        let _ = length;
        None
    }

    /// The certificates by which the peer has proved who it is, in DER and its own first; none where
    /// the link knows no such proof, or the peer gave none.
    fn peer_certificates(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// Puts small messages that follow one another into one packet, at the transport: each was taken by the operating
/// system when its call returns.
pub trait Gatherer {
    /// As [`Connection::send`], of a message behind which another follows at once. What the operating system keeps
    /// back leaves with the next [`Connection::send`], with [`Gatherer::push`], or by itself: over TCP after 200 ms.
    ///
    /// # Errors
    /// As [`Connection::send`].
    fn send_before_more(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError>;

    /// Lets go out what was kept back.
    fn push(&self);
}
