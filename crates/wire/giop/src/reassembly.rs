//! Fragments put together again, for one direction of one connection (CORBA 3.3 part 2, §9.4.9).
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
/// A message may have this many fragments whatever its limit is.
const FRAGMENTS_ALWAYS: usize = 1024;
/// Beyond that, as many as the longest message would have in fragments of this many octets.
/// Those that ORBs send are longer.
const SMALL_FRAGMENT: usize = 512;
/// What it takes to note where a fragment begins.
const SEAM: usize = size_of::<usize>();

/// The messages of one direction of a connection that are not whole yet.
#[derive(Debug)]
pub struct Reassembly {
    max_message: usize,
    max_fragments: usize,
    max_pending: usize,
    max_bytes: usize,
    /// Octets held by `pending` together, seams included.
    held: usize,
    pending: Vec<Partial>,
    /// The mark that messages get which begin.
    mark: u64,
}

#[derive(Debug)]
struct Partial {
    /// The request id; `None` in 1.1.
    id: Option<u32>,
    header: MessageHeader,
    bytes: Vec<u8>,
    seams: Vec<usize>,
    /// How many fragments continued it, empty ones included.
    fragments: usize,
    /// What the header of a 1.1 request says, once it was asked for: see [`Reassembly::cancel`].
    id_1_1: Option<u32>,
    /// See [`Reassembly::mark`].
    mark: u64,
}

/// What became of a message.
#[derive(Debug)]
pub enum Accepted {
    /// It is whole: use it as it is.
    Whole,
    /// It was kept; more has to come.
    Pending,
    /// It was the last fragment of this message.
    Assembled(Assembled),
}

/// A message as though it had never been fragmented.
#[derive(Debug)]
pub struct Assembled {
    /// Its header: the size is that of the whole, and no fragments follow.
    pub header: MessageHeader,
    /// The message, its header included.
    pub bytes: Vec<u8>,
    /// Where in `bytes` alignment starts anew, in GIOP 1.1; see [`Decoder::with_seams`].
    pub seams: Vec<usize>,
}

impl Assembled {
    /// A decoder of the message, which stands behind its header.
    #[must_use]
    pub fn decoder<'m>(&'m self, coding: Coding<'m>) -> Decoder<'m> {
        message_decoder_with_seams(&self.header, &self.bytes, &self.seams, coding)
    }
}

/// Why a fragment is not taken. The peer broke the protocol or a limit; the connection can't go
/// on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FragmentError {
    /// A fragment that continues nothing.
    #[error("a fragment continues no message")]
    WithoutStart,
    /// A second message in 1.1, or a second one with the same id in 1.2, before the first ended.
    #[error("a message begins before the one it is mixed up with has ended")]
    Interleaved,
    /// A kind of message that may not be fragmented.
    #[error("a {0} message cannot be fragmented")]
    NotFragmentable(MessageKind),
    /// A fragmented message or fragment that ends before its request id.
    #[error("a fragment ends before its request id")]
    TooShort,
    /// A fragment in another version or byte order than the message it continues.
    #[error("a fragment differs from its message in version or byte order")]
    Inconsistent,
    /// The whole would exceed the limit on messages.
    #[error("a fragmented message exceeds the limit of {limit} octets")]
    Oversized {
        /// The limit.
        limit: usize,
    },
    /// A message is in too many fragments.
    #[error("a message is in more than {limit} fragments")]
    TooManyFragments {
        /// The limit, which follows from that on messages.
        limit: usize,
    },
    /// Too many messages are unfinished.
    #[error("more than {limit} fragmented messages are unfinished")]
    TooManyPending {
        /// The limit.
        limit: usize,
    },
    /// Unfinished messages hold too much together.
    #[error("unfinished fragmented messages exceed {limit} octets")]
    TooManyBytes {
        /// The limit.
        limit: usize,
    },
}

impl Reassembly {
    /// Nothing is unfinished yet. Does not allocate.
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

    /// Takes the next message received; `message` are its octets, header included. Allocates only
    /// for messages in fragments, in proportion to what was received.
    ///
    /// # Errors
    /// [`FragmentError`]; what is unfinished stays as it is.
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

    /// How many messages are unfinished.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// How many octets they hold together, what is noted of where fragments begin included.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held
    }

    /// Marks what begins from now on: by the time, say. See [`Reassembly::first_mark`].
    pub fn mark(&mut self, mark: u64) {
        self.mark = mark;
    }

    /// The smallest mark of an unfinished message.
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

    /// A cancelled message gets no more fragments: what came is dropped.
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

    /// Checks the limits for `more` octets of a message that has `so_far` already, and `noted`
    /// octets beside the message.
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
    /// Where alignment counts from at the end of what is held: the message's start, or where the
    /// header of 12 octets of the fragment at the last seam would stand.
    fn origin(&self) -> usize {
        let seam = self.seams.last().map_or(0, |seam| *seam);
        seam.saturating_sub(MessageHeader::LEN)
    }

    /// What counts against the limit on octets.
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

    /// The id of an unfinished 1.1 request, if its header is there already. The header is read
    /// once, so that it does not matter how long it is and how often this is asked.
    fn request_id_1_1(&mut self) -> Option<u32> {
        if self.id_1_1.is_none() {
            // The size of the first piece would hide what followed.
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

/// The request id that a fragmented 1.2 message, or fragment of one, begins with.
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

/// Whether octets at this offset from where alignment counts are aligned as they were behind a
/// header of 12 octets.
fn octets_behind_header(offset: usize) -> bool {
    offset % 8 == MessageHeader::LEN % 8
}
