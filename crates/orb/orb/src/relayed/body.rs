//! Body of a message as uninterpreted bytes.

use punctual_cdr::{ByteOrder, CdrError, Decoder, Encoder, GiopVersion, Lender, Lent};

/// Alignment of bodies of GIOP 1.2; no value has a larger one.
const ALIGNMENT: usize = 8;

/// Body of a message: bytes, and the properties on which their meaning depends.
#[derive(Clone, Copy, Debug)]
pub struct RawBody<'m> {
    octets: &'m [u8],
    /// Memory lent beside the bytes; positions are relative to the message's origin.
    lent: &'m [Lent],
    /// Position in the message at which the body begins.
    begin: usize,
    order: ByteOrder,
    version: GiopVersion,
}

impl<'m> RawBody<'m> {
    /// Returns the rest of `input`, which is positioned after a header. `lent` is all memory lent
    /// with the message.
    pub(crate) fn of(input: &Decoder<'m>, lent: &'m [Lent]) -> Result<Self, CdrError> {
        let (begin, version) = (input.position(), input.coding().version);
        if version == GiopVersion::V1_1 && !is_evenly_aligned(input) {
            return Err(CdrError::Invalid(
                "the body came in GIOP 1.1 fragments that break its alignment",
            ));
        }
        let first = lent.partition_point(|lent| lent.at < begin);
        Ok(Self {
            octets: input.rest(),
            lent: lent.get(first..).unwrap_or_default(),
            begin,
            order: input.order(),
            version,
        })
    }

    /// Returns a body that was kept: its bytes, its start position modulo 8, its byte order, and the GIOP version of its message.
    #[must_use]
    pub fn from_parts(
        octets: &'m [u8],
        phase: usize,
        order: ByteOrder,
        version: GiopVersion,
    ) -> Self {
        Self {
            octets,
            lent: &[],
            begin: phase,
            order,
            version,
        }
    }

    /// Returns the byte order of the values in the body.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Returns the GIOP version of the body's message.
    #[must_use]
    pub fn version(&self) -> GiopVersion {
        self.version
    }

    /// Returns the body's start position modulo 8. The alignment of a byte is its position in the
    /// body plus this, modulo 8.
    #[must_use]
    pub fn phase(&self) -> usize {
        self.begin % ALIGNMENT
    }

    /// Returns the total number of bytes, including lent ones.
    #[must_use]
    pub fn len(&self) -> usize {
        let lent: usize = self.lent.iter().map(|lent| lent.segment.len()).sum();
        self.octets.len() + lent
    }

    /// Returns `true` if the message has no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a contiguous copy of the message's body.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut whole = Vec::with_capacity(self.len());
        self.for_each_run(|run, lent| {
            whole.extend_from_slice(run);
            if let Some(lent) = lent {
                let begin = whole.len();
                whole.resize(begin + lent.segment.len(), 0);
                if let Some(to) = whole.get_mut(begin..) {
                    lent.segment.copy_to(to);
                }
            }
        });
        whole
    }

    /// Returns the body with its bytes replaced by `octets`, which must be as many as
    /// [`RawBody::to_vec`] returns.
    #[must_use]
    pub fn with_octets<'o>(&self, octets: &'o [u8]) -> RawBody<'o> {
        RawBody {
            octets,
            lent: &[],
            begin: self.begin,
            order: self.order,
            version: self.version,
        }
    }

    /// Returns the number of bytes by which a header that ends at `position` must be extended for
    /// the body to keep its alignment: a multiple of 4, which a service context can fill; 0 in GIOP
    /// 1.2, where bodies are aligned.
    ///
    /// # Errors
    /// If no multiple of 4 is suitable, as after a principal of odd length.
    pub(crate) fn shift_behind(&self, position: usize) -> Result<usize, CdrError> {
        if self.version == GiopVersion::V1_2 || self.is_empty() {
            return Ok(0);
        }
        match self.begin.wrapping_sub(position) % ALIGNMENT {
            even @ (0 | 4) => Ok(even),
            _ => Err(CdrError::Invalid(
                "the body's alignment cannot be kept behind another header",
            )),
        }
    }

    /// Writes the body after a header. Lent memory is copied, as its content is unknown: into
    /// memory of `lender`, which is sent without a further copy, or into private memory.
    pub(crate) fn put(&self, out: &mut Encoder<'_>, lender: Option<&dyn Lender>) {
        if self.is_empty() {
            return;
        }
        if self.version == GiopVersion::V1_2 {
            out.align(ALIGNMENT);
        }
        self.for_each_run(|run, lent| {
            out.put_bytes(run);
            if let Some(lent) = lent {
                let segment = lender.and_then(|to| to.lend(lent.segment.as_slice()));
                out.block_mut()
                    .attach(segment.unwrap_or_else(|| lent.segment.clone()));
            }
        });
    }

    /// Calls `each` with each run of the body's own bytes and the lent memory that follows it.
    fn for_each_run(&self, mut each: impl FnMut(&'m [u8], Option<&'m Lent>)) {
        let mut from = 0;
        for lent in self.lent {
            let to = lent.at.saturating_sub(self.begin);
            each(self.octets.get(from..to).unwrap_or_default(), Some(lent));
            from = to;
        }
        each(self.octets.get(from..).unwrap_or_default(), None);
    }
}

/// Returns `true` if alignment is continuous through all the remaining bytes: joined fragments of
/// GIOP 1.1 may restart it.
fn is_evenly_aligned(input: &Decoder<'_>) -> bool {
    let mut ahead = input.clone();
    loop {
        let to_next = ahead.position().wrapping_neg() % ALIGNMENT;
        let step = if to_next == 0 { ALIGNMENT } else { to_next };
        if ahead.skip(step).is_err() {
            return true;
        }
        let before = ahead.position();
        if ahead.remaining() > 0 && (ahead.align(ALIGNMENT).is_err() || ahead.position() != before)
        {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_cdr::{Block, Coding};

    fn body(octets: &[u8], begin: usize, version: GiopVersion) -> RawBody<'_> {
        RawBody {
            octets,
            lent: &[],
            begin,
            order: ByteOrder::NATIVE,
            version,
        }
    }

    #[test]
    fn a_body_of_giop_1_2_is_aligned_and_one_that_is_not_there_takes_no_room() {
        for (octets, length) in [(&b"abcd"[..], 20), (b"", 13)] {
            let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
            out.put_bytes(&[1; 13]);
            body(octets, 24, GiopVersion::V1_2).put(&mut out, None);
            assert_eq!(out.position(), length);
        }
    }

    #[test]
    fn a_head_of_giop_1_0_is_moved_by_4_or_not_at_all() {
        let body = body(b"abcd", 40, GiopVersion::V1_0);
        assert_eq!(body.shift_behind(48), Ok(0));
        assert_eq!(body.shift_behind(52), Ok(4));
        assert!(body.shift_behind(49).is_err());
    }

    #[test]
    fn fragments_of_giop_1_1_that_restart_alignment_elsewhere_are_found() {
        let octets = [0; 64];
        let coding = Coding::new(GiopVersion::V1_1, &punctual_cdr::Limits::DEFAULT);
        for (seam, even) in [(28, true), (30, false), (32, false)] {
            let seams = [seam];
            let input = Decoder::with_seams(&octets, &seams, ByteOrder::NATIVE, coding);
            assert_eq!(is_evenly_aligned(&input), even, "a seam at {seam}");
        }
    }
}
