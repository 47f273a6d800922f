//! Templates of message headers, which are written once and sent repeatedly; only the request id
//! and the message size change.

use super::protocol::{Head, Session};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Encoder, GiopVersion};
use punctual_giop::{MessageKind, ServiceContext, ServiceContexts};

/// Length in bytes of the header of a GIOP 1.2 reply without contexts.
const SHORT: usize = 24;
/// Length in bytes of the header of a GIOP 1.2 reply with a single context of four bytes, and the
/// padding before its body.
const WITH_WORD: usize = 40;

/// Position of a number in a header. A small type, so that one comparison checks that it is within
/// the block.
type Place = u16;

/// Template of the header of a request message.
#[derive(Debug)]
pub(crate) struct Template {
    /// Bytes of the header, including the padding before the body.
    octets: Box<[u8]>,
    /// Length in bytes of a message with this header and no body.
    bare: usize,
    /// Position in the message from which CDR alignment is counted.
    origin: usize,
    request_id: Place,
    size: Place,
    /// Number of leading bytes that the message's size does not include.
    uncounted: usize,
    /// Position of the first service context's data; unused if there is none.
    word: Place,
    /// Start and end of the data of each service context.
    slots: Box<[(usize, usize)]>,
}

impl Template {
    /// Makes the template of a header, whose request id must be 0; returns `None` if the protocol's
    /// headers differ from message to message.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub(crate) fn new(
        session: &dyn Session,
        kind: MessageKind,
        head: &Head<'_>,
        coding: Coding<'_>,
    ) -> Result<Option<Self>, CdrError> {
        let Some(layout) = session.repeatable_head(coding.version) else {
            return Ok(None);
        };
        let places = (
            Place::try_from(layout.request_id),
            Place::try_from(layout.size),
        );
        let (Ok(request_id), Ok(size)) = places else {
            return Ok(None);
        };
        let mut out = session.begin(Block::default(), kind, ByteOrder::NATIVE, coding);
        session.put_head(&mut out, head)?;
        let bare = out.position();
        if coding.version == GiopVersion::V1_2 {
            out.align(8);
        }
        Ok(Some(Self {
            octets: out.into_block().into_vec().into(),
            bare,
            origin: layout.origin,
            request_id,
            size,
            uncounted: layout.uncounted,
            word: Place::MAX,
            slots: Box::default(),
        }))
    }

    /// Makes the template of a header with service contexts of these ids and lengths, whose data
    /// are filled in for each message. `head` returns the header for given contexts, which must be
    /// at the header's end, as in GIOP 1.2.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub(crate) fn with_contexts<'h>(
        session: &dyn Session,
        kind: MessageKind,
        head: impl Fn(ServiceContexts<'h>) -> Head<'h>,
        (contexts, lengths): (&'h [ServiceContext<'h>], &[usize]),
        coding: Coding<'_>,
    ) -> Result<Option<Self>, CdrError> {
        let without = Self::new(session, kind, &head(ServiceContexts::none()), coding)?;
        let Some(without) = without else {
            return Ok(None);
        };
        if contexts.is_empty() {
            return Ok(Some(without));
        }
        if coding.version != GiopVersion::V1_2 {
            return Ok(None);
        }
        let with = Self::new(session, kind, &head(ServiceContexts::new(contexts)), coding)?;
        let mut at = without.bare;
        let mut slots = Vec::with_capacity(lengths.len());
        for length in lengths {
            // Each context follows its id and its length, which are aligned.
            let data = at.next_multiple_of(4) + 8;
            at = data + length;
            slots.push((data, at));
        }
        let first = slots.first().map(|(begin, _)| Place::try_from(*begin));
        let Some(Ok(word)) = first else {
            return Ok(None);
        };
        Ok(with.filter(|with| with.bare == at).map(|with| Self {
            word,
            slots: slots.into(),
            ..with
        }))
    }

    /// Returns the length of the header, with the padding before a body.
    pub(crate) fn head_length(&self) -> usize {
        self.octets.len()
    }

    /// Returns `true` if the template has slots for service contexts.
    #[inline]
    pub(crate) fn has_contexts(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Fills in the data of the service contexts, each in its slot, of a message whose encoding was
    /// begun with this template.
    #[inline]
    pub(crate) fn fill_contexts<C>(
        &self,
        out: &mut Encoder<'_>,
        contexts: impl IntoIterator<Item = C>,
        fill: impl Fn(C, &mut [u8]),
    ) {
        self.fill_contexts_of(out.block_mut(), contexts, fill);
    }

    /// Fills in the data of the contexts of a message whose header has been put into a block.
    #[inline]
    pub(crate) fn fill_contexts_of<C>(
        &self,
        block: &mut Block,
        contexts: impl IntoIterator<Item = C>,
        fill: impl Fn(C, &mut [u8]),
    ) {
        let block = block.as_mut_slice();
        for (&(begin, end), context) in self.slots.iter().zip(contexts) {
            if let Some(data) = block.get_mut(begin..end) {
                fill(context, data);
            }
        }
    }

    /// Copies the service contexts of a message whose header has been put into a block, from the data of the first one on.
    /// Returns the number of bytes; `None` if `to` is too short for them.
    #[inline]
    pub(crate) fn save_contexts(&self, block: &Block, to: &mut [u8]) -> Option<usize> {
        let (&(begin, _), &(_, end)) = (self.slots.first()?, self.slots.last()?);
        let from = block.get(begin..end)?;
        to.get_mut(..from.len())?.copy_from_slice(from);
        Some(from.len())
    }

    /// Returns the data of each service context among those that [`Template::save_contexts`] has copied.
    pub(crate) fn saved_contexts(&self, saved: &[u8]) -> Vec<Vec<u8>> {
        let first = self.slots.first().map_or(0, |(begin, _)| *begin);
        let slots = self.slots.iter();
        let data = slots.map(|(begin, end)| saved.get(begin - first..end - first));
        data.map(|data| data.unwrap_or_default().to_vec()).collect()
    }

    /// Writes the header with the given request id into an empty block.
    #[inline]
    pub(crate) fn put_head(&self, block: &mut Block, request_id: u32) {
        self.put_head_mostly_of::<SHORT>(block, request_id);
    }

    /// Puts the header, with the data of its only service context, which has four bytes, into an
    /// empty block.
    #[inline]
    pub(crate) fn put_head_with_word(&self, block: &mut Block, request_id: u32, data: [u8; 4]) {
        self.put_head_mostly_of::<WITH_WORD>(block, request_id);
        self.fill_word(block, data);
    }

    /// Writes the data of the only service context, which has four bytes, of a message whose header
    /// has been put into a block.
    #[inline]
    pub(crate) fn fill_word(&self, block: &mut Block, data: [u8; 4]) {
        patch(block, self.word, u32::from_ne_bytes(data));
    }

    #[inline(always)]
    fn put_head_mostly_of<const LENGTH: usize>(&self, block: &mut Block, request_id: u32) {
        match <&[u8; LENGTH]>::try_from(&*self.octets) {
            // The length is known at compile time, so no function is called.
            Ok(octets) => block.extend_from_slice(octets),
            Err(_) => block.extend_from_slice(&self.octets),
        }
        patch(block, self.request_id, request_id);
    }

    /// Returns an encoder that continues after the block's contents: the header, or nothing if the
    /// encoder itself writes the header next.
    #[inline]
    pub(crate) fn resume<'e>(&self, block: Block, coding: Coding<'e>) -> Encoder<'e> {
        Encoder::resume(block, self.origin, ByteOrder::NATIVE, coding)
    }

    /// Completes a message: removes the padding if the body is empty, and fills in the size. A
    /// message too long for the size field exceeds every limit anyway. Returns its length, with `left_out` bytes that are
    /// sent from elsewhere.
    #[inline]
    pub(crate) fn finish(&self, out: &mut Encoder<'_>, left_out: usize) -> usize {
        let block = out.block_mut();
        let mut length = block.full_len() + left_out;
        if length == self.octets.len() {
            length = self.bare;
            block.truncate(length);
        }
        let size = u32::try_from(length - self.uncounted).unwrap_or(u32::MAX);
        patch(block, self.size, size);
        length
    }
}

/// Overwrites a four-byte field of a message header.
#[inline]
fn patch(block: &mut Block, at: Place, number: u32) {
    let at = usize::from(at);
    if let Some(place) = block.as_mut_slice().get_mut(at..at + 4) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
}
