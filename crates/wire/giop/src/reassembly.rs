//! Reassembly of fragments, for one direction of one connection (CORBA 3.3 part 2, §9.4.9).
//!
//! In 1.1 a fragment continues the only message that is unfinished. In 1.2 it names a request id,
//! so that messages may interleave. GIOP 1.0 has no fragments.

use punctual_cdr::{ByteOrder, Coding, Decoder, GiopVersion, Limits};
use thiserror::Error;

use crate::control::CancelRequest;
use crate::header::{MessageHeader, MessageKind};
use crate::message::{message_decoder, message_decoder_with_seams};
use crate::request::RequestHeader;

const FRAGMENT_HEADER_1_2: usize = MessageHeader::LEN + 4;
/// Number of fragments that a message may always have, whatever its limit.
const FRAGMENTS_ALWAYS: usize = 1024;
/// Fragment size in bytes that bounds the number of fragments above [`FRAGMENTS_ALWAYS`]: as many
/// as the longest message has in fragments of this size. Real ORBs send longer fragments.
const SMALL_FRAGMENT: usize = 512;
/// Memory used to record where a fragment begins, in bytes.
const SEAM: usize = size_of::<usize>();

/// Fragmented GIOP messages in one direction of a connection that are not complete yet.
#[derive(Debug)]
pub struct Reassembly {
    max_message: usize,
    max_fragments: usize,
    max_pending: usize,
    max_bytes: usize,
    /// Number of bytes held by `pending` together, seams included.
    held: usize,
    pending: Vec<Partial>,
    /// Mark recorded for each message whose first fragment arrives from now on.
    mark: u64,
}

#[derive(Debug)]
struct Partial {
    /// Request id of the fragmented message; `None` in GIOP 1.1.
    id: Option<u32>,
    header: MessageHeader,
    bytes: Vec<u8>,
    seams: Vec<usize>,
    /// Number of fragments that have continued the message, empty ones included.
    fragments: usize,
    /// Request id of a GIOP 1.1 request, if it has been read from the request's header:
    /// [`Reassembly::cancel`] reads it when a CancelRequest arrives.
    id_1_1: Option<u32>,
    /// Mark that was current when the message began, see [`Reassembly::mark`].
    mark: u64,
}

/// Outcome of passing a message to the reassembly of fragments.
#[derive(Debug)]
pub enum Accepted {
    /// The message is not fragmented and can be used unchanged.
    Whole,
    /// The fragment was kept until the rest of the message arrives.
    Pending,
    /// The last fragment of the message arrived, which is now complete.
    Assembled(Assembled),
}

/// Reassembled message, as though it had never been fragmented.
#[derive(Debug)]
pub struct Assembled {
    /// Header: the size is that of the whole, and no fragments follow.
    pub header: MessageHeader,
    /// Bytes of the whole message, including the header.
    pub bytes: Vec<u8>,
    /// Offsets in `bytes` where alignment restarts, in GIOP 1.1; see [`Decoder::with_seams`].
    pub seams: Vec<usize>,
}

impl Assembled {
    /// Returns a decoder of the message, positioned after its header.
    #[must_use]
    pub fn decoder<'m>(&'m self, coding: Coding<'m>) -> Decoder<'m> {
        message_decoder_with_seams(&self.header, &self.bytes, &self.seams, coding)
    }
}

/// Reason why a fragment is refused. The peer broke the protocol or a limit; the connection cannot
/// continue.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FragmentError {
    /// The fragment belongs to no message that has begun.
    #[error("a fragment continues no message")]
    WithoutStart,
    /// A second message in GIOP 1.1, or one with the same request id in GIOP 1.2, began before the
    /// first had ended.
    #[error("a message begins before an interleaved one with the same id has ended")]
    Interleaved,
    /// GIOP does not permit messages of this type to be fragmented.
    #[error("a {0} message cannot be fragmented")]
    NotFragmentable(MessageKind),
    /// The fragmented message or fragment ends before its request id.
    #[error("a fragment ends before its request id")]
    TooShort,
    /// The fragment's version or byte order differs from that of the message it continues.
    #[error("a fragment differs from its message in version or byte order")]
    Inconsistent,
    /// The whole message would exceed the limit on the size of messages.
    #[error("a fragmented message exceeds the limit of {limit} octets")]
    Oversized {
        /// Limit on the size of a message, in bytes.
        limit: usize,
    },
    /// The message consists of too many fragments.
    #[error("a message is in more than {limit} fragments")]
    TooManyFragments {
        /// Limit on the number of fragments, derived from the limit on the size of messages.
        limit: usize,
    },
    /// Too many fragmented messages on the connection are incomplete at once.
    #[error("more than {limit} fragmented messages are unfinished")]
    TooManyPending {
        /// Limit on the number of incomplete fragmented messages at one time.
        limit: usize,
    },
    /// Incomplete fragmented messages together occupy too much memory.
    #[error("unfinished fragmented messages exceed {limit} octets")]
    TooManyBytes {
        /// Limit on the memory of all incomplete messages together, in bytes.
        limit: usize,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for FragmentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Reassembly {
    /// Makes the state without unfinished messages. Does not allocate.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            max_message: limits.message,
            max_fragments: FRAGMENTS_ALWAYS.max(limits.message / SMALL_FRAGMENT),
            max_pending: limits.fragments_pending,
            max_bytes: limits.fragments_bytes,
            held: 0,
            pending: Vec::new(),
            mark: 0,
        }
    }

    /// Accepts the next received message; `message` holds its bytes, header included. Allocates
    /// only for fragmented messages, in proportion to the bytes received.
    ///
    /// # Errors
    /// [`FragmentError`]; unfinished messages stay unchanged.
    #[inline]
    pub fn accept(
        &mut self,
        header: &MessageHeader,
        message: &[u8],
    ) -> Result<Accepted, FragmentError> {
        if !header.more_fragments && self.pending.is_empty() && header.kind != MessageKind::Fragment
        {
            return Ok(Accepted::Whole);
        }
        self.accept_fragmented(header, message)
    }

    /// Returns the number of fragmented messages that are incomplete.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Returns the number of bytes that unfinished messages hold together, including the records of
    /// where fragments begin.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held
    }

    /// Sets the mark of messages that begin from now on: the time, for example. See
    /// [`Reassembly::first_mark`].
    pub fn mark(&mut self, mark: u64) {
        self.mark = mark;
    }

    /// Returns the smallest mark of all incomplete fragmented messages, or `None` if there is none.
    #[must_use]
    pub fn first_mark(&self) -> Option<u64> {
        self.pending.iter().map(|partial| partial.mark).min()
    }

    fn accept_fragmented(
        &mut self,
        header: &MessageHeader,
        message: &[u8],
    ) -> Result<Accepted, FragmentError> {
        let message = message.get(..header.message_len()).unwrap_or(message);
        match header.kind {
            MessageKind::Fragment => self.proceed(header, message),
            MessageKind::CancelRequest if !header.more_fragments => {
                self.cancel(header, message);
                Ok(Accepted::Whole)
            }
            kind if header.more_fragments => {
                if !kind.may_be_fragmented(header.version) {
                    return Err(FragmentError::NotFragmentable(kind));
                }
                self.begin(header, message)
            }
            MessageKind::CloseConnection | MessageKind::MessageError => Ok(Accepted::Whole),
            _ if header.version == GiopVersion::V1_1 && self.find(None).is_some() => {
                Err(FragmentError::Interleaved)
            }
            _ => Ok(Accepted::Whole),
        }
    }

    fn begin(&mut self, header: &MessageHeader, message: &[u8]) -> Result<Accepted, FragmentError> {
        let id = fragment_id(header, message)?;
        if self.find(id).is_some() {
            return Err(FragmentError::Interleaved);
        }
        if self.pending.len() >= self.max_pending {
            return Err(FragmentError::TooManyPending {
                limit: self.max_pending,
            });
        }
        self.reserve(0, message.len(), 0)?;
        self.pending.push(Partial {
            id,
            header: *header,
            bytes: message.to_vec(),
            seams: Vec::new(),
            fragments: 0,
            id_1_1: None,
            mark: self.mark,
        });
        Ok(Accepted::Pending)
    }

    fn proceed(
        &mut self,
        header: &MessageHeader,
        message: &[u8],
    ) -> Result<Accepted, FragmentError> {
        let id = fragment_id(header, message)?;
        let index = self.find(id).ok_or(FragmentError::WithoutStart)?;
        let header_len = match header.version {
            GiopVersion::V1_2 => FRAGMENT_HEADER_1_2,
            _ => MessageHeader::LEN,
        };
        let octets = message.get(header_len..).ok_or(FragmentError::TooShort)?;
        let Some(partial) = self.pending.get(index) else {
            return Err(FragmentError::WithoutStart);
        };
        if (partial.header.version, partial.header.order) != (header.version, header.order) {
            return Err(FragmentError::Inconsistent);
        }
        if partial.fragments >= self.max_fragments {
            return Err(FragmentError::TooManyFragments {
                limit: self.max_fragments,
            });
        }
        let so_far = partial.bytes.len();
        let is_seam = header.version == GiopVersion::V1_1
            && !octets_behind_header(so_far - partial.origin())
            && !octets.is_empty();
        let noted = if is_seam { SEAM } else { 0 };
        self.reserve(so_far, octets.len(), noted)?;
        let Some(partial) = self.pending.get_mut(index) else {
            return Err(FragmentError::WithoutStart);
        };
        partial.fragments += 1;
        if is_seam {
            partial.seams.push(so_far);
        }
        partial.bytes.extend_from_slice(octets);
        if header.more_fragments {
            return Ok(Accepted::Pending);
        }
        let partial = self.pending.swap_remove(index);
        self.held = self.held.saturating_sub(partial.held());
        Ok(Accepted::Assembled(partial.finish()))
    }

    /// Drops the fragments of a cancelled request, of which no more will arrive.
    fn cancel(&mut self, header: &MessageHeader, message: &[u8]) {
        let mut input = message_decoder(header, message, Coding::default());
        let Ok(CancelRequest { request_id }) = CancelRequest::decode(&mut input) else {
            return;
        };
        self.pending.retain_mut(|partial| {
            let cancelled = match partial.id {
                Some(id) => id == request_id,
                None => partial.request_id_1_1().is_none_or(|id| id == request_id),
            };
            if cancelled {
                self.held = self.held.saturating_sub(partial.held());
            }
            !cancelled
        });
    }

    fn find(&self, id: Option<u32>) -> Option<usize> {
        self.pending.iter().position(|partial| partial.id == id)
    }

    /// Checks the limits for `more` bytes of a message that has `so_far` already, and `noted` bytes
    /// in addition to the message.
    fn reserve(&mut self, so_far: usize, more: usize, noted: usize) -> Result<(), FragmentError> {
        if so_far.saturating_add(more) > self.max_message {
            return Err(FragmentError::Oversized {
                limit: self.max_message,
            });
        }
        let held = self.held.saturating_add(more).saturating_add(noted);
        if held > self.max_bytes {
            return Err(FragmentError::TooManyBytes {
                limit: self.max_bytes,
            });
        }
        self.held = held;
        Ok(())
    }
}

impl Partial {
    /// Returns the origin of alignment at the end of the held bytes: the message's start, or the
    /// position where the 12-byte header of the fragment at the last seam would stand.
    fn origin(&self) -> usize {
        let seam = self.seams.last().map_or(0, |seam| *seam);
        seam.saturating_sub(MessageHeader::LEN)
    }

    /// Returns the number of bytes that count against the limit.
    fn held(&self) -> usize {
        self.bytes.len() + self.seams.len() * SEAM
    }

    fn finish(mut self) -> Assembled {
        let size = self.bytes.len().saturating_sub(MessageHeader::LEN);
        let header = MessageHeader {
            more_fragments: false,
            size: u32::try_from(size).unwrap_or(u32::MAX),
            ..self.header
        };
        if let Some(start) = self.bytes.first_chunk_mut() {
            *start = header.to_octets();
        }
        Assembled {
            header,
            bytes: self.bytes,
            seams: self.seams,
        }
    }

    /// Returns the id of an unfinished 1.1 request, if its header is complete. The header is read
    /// once, so the cost depends neither on its length nor on the number of calls.
    fn request_id_1_1(&mut self) -> Option<u32> {
        if self.id_1_1.is_none() {
            // The size of the first piece would hide the data behind it.
            let header = MessageHeader {
                size: u32::MAX,
                ..self.header
            };
            let coding = Coding::default();
            let mut input = message_decoder_with_seams(&header, &self.bytes, &self.seams, coding);
            let header = RequestHeader::decode(&mut input).ok()?;
            self.id_1_1 = Some(header.request_id);
        }
        self.id_1_1
    }
}

/// Returns the request id that a fragmented 1.2 message, or fragment of one, begins with.
fn fragment_id(header: &MessageHeader, message: &[u8]) -> Result<Option<u32>, FragmentError> {
    if header.version != GiopVersion::V1_2 {
        return Ok(None);
    }
    let id = message
        .get(MessageHeader::LEN..)
        .and_then(<[u8]>::first_chunk)
        .ok_or(FragmentError::TooShort)?;
    Ok(Some(match header.order {
        ByteOrder::Big => u32::from_be_bytes(*id),
        ByteOrder::Little => u32::from_le_bytes(*id),
    }))
}

/// Returns whether bytes at this offset from the origin of alignment are aligned as after a
/// 12-byte header.
fn octets_behind_header(offset: usize) -> bool {
    offset % 8 == MessageHeader::LEN % 8
}
