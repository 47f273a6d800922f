//! Messages' heads, written once and sent again and again with nothing changed but the request's id and
//! the message's size.

use super::protocol::{Head, RepeatableHead, Session};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Encoder, GiopVersion};
use punctual_giop::MessageKind;

/// A message up to its body.
#[derive(Debug)]
pub(crate) struct Template {
    /// Padding before the body included.
    octets: Box<[u8]>,
    /// Its length where there is no body.
    bare: usize,
    layout: RepeatableHead,
}

impl Template {
    /// Writes a head, whose id is to be 0; `None` where the protocol has heads that differ each time.
    ///
    /// # Errors
    /// Those of writing it.
    pub(crate) fn new(
        session: &dyn Session,
        kind: MessageKind,
        head: &Head<'_>,
        coding: Coding<'_>,
    ) -> Result<Option<Self>, CdrError> {
        let Some(layout) = session.repeatable_head(coding.version) else {
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
            layout,
        }))
    }

    /// Begins a message with it, in an empty block: an encoder that stands at the body.
    #[inline]
    pub(crate) fn begin<'e>(
        &self,
        mut block: Block,
        request_id: u32,
        coding: Coding<'e>,
    ) -> Encoder<'e> {
        block.extend_from_slice(&self.octets);
        let mut out = Encoder::resume(block, self.layout.origin, ByteOrder::NATIVE, coding);
        out.patch_u32(self.layout.request_id, request_id);
        out
    }

    /// Ends it: a body that turned out to be empty takes no padding, and the size is filled in. A message
    /// too long for that is too long for every limit.
    #[inline]
    pub(crate) fn end(&self, mut out: Encoder<'_>) -> Block {
        let mut length = out.block().full_len();
        if length == self.octets.len() {
            length = self.bare;
            out.block_mut().truncate(length);
        }
        let size = u32::try_from(length - self.layout.uncounted).unwrap_or(u32::MAX);
        out.patch_u32(self.layout.size, size);
        out.into_block()
    }
}
