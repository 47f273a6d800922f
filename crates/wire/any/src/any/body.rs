//! Content of an Any other than its TypeCode: the encoded value.

use std::sync::Arc;

use punctual_cdr::{
    ByteOrder, CodeSets, Coding, Decoder, Encoder, Environment, GiopVersion, Limits,
};

use super::octets::Octets;
use crate::shape::Holds;

/// Encoded value of an Any, with the parameters of its encoding.
#[derive(Clone)]
pub(crate) struct Body {
    /// Encoded value, preceded by `phase` bytes: the value's distance from the last multiple of 8
    /// when it was encoded, so that its alignment is preserved.
    pub(super) octets: Octets,
    pub(super) phase: usize,
    pub(super) order: ByteOrder,
    /// Sorts of content that the value holds, or may hold.
    pub(super) holds: Holds,
    pub(super) version: GiopVersion,
    pub(super) code_sets: CodeSets,
    /// Limit on nesting of values read from the Any, as in the message it came from.
    pub(super) nesting: u16,
    /// Environment for decoding object references and valuetypes in the Any.
    pub(super) environment: Option<Arc<dyn Environment>>,
}

/// Limits for readers that borrow from a body. Its bytes are in memory already, so limits on lengths would gain nothing.
static SHALLOW: Limits = Limits {
    string: usize::MAX,
    sequence: usize::MAX,
    ..Limits::DEFAULT
};

/// Limits as [`SHALLOW`], for bodies that came from messages with deeper nesting.
static DEEP: Limits = Limits {
    nesting: 1000,
    ..SHALLOW
};

impl Body {
    /// Returns a decoder of the value, which borrows from the body.
    pub(crate) fn decoder(&self) -> Decoder<'_> {
        self.decoder_at(0)
    }

    /// Returns a decoder of the value from an offset on.
    pub(crate) fn decoder_at(&self, offset: usize) -> Decoder<'_> {
        let limits = match self.nesting <= SHALLOW.nesting {
            true => &SHALLOW,
            false => &DEEP,
        };
        let at = self.phase.saturating_add(offset);
        Decoder::at(&self.octets, at, self.order, self.coding(limits))
    }

    /// Copies the bytes of a value behind as many as the phase says. Allocates at most once.
    pub(super) fn copy(&mut self, value: &[u8]) {
        self.octets.copy(self.phase, value);
    }

    /// Returns the bytes of the value.
    pub(crate) fn encoding(&self) -> &[u8] {
        self.octets.get(self.phase..).unwrap_or_default()
    }

    fn coding<'a>(&'a self, limits: &'a Limits) -> Coding<'a> {
        Coding {
            version: self.version,
            code_sets: self.code_sets,
            limits,
            environment: self.environment.as_deref(),
        }
    }

    /// Reads the bytes from `at` on.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn read<R, E>(
        &self,
        at: usize,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        let limits = Limits {
            nesting: self.nesting,
            ..SHALLOW
        };
        let coding = self.coding(&limits);
        read(&mut Decoder::at(&self.octets, at, self.order, coding))
    }

    /// Returns whether the bytes can be copied to `out`'s position unchanged.
    pub(super) fn fits(&self, out: &Encoder<'_>) -> bool {
        let (holds, coding) = (self.holds, out.coding());
        let alignment = holds.alignment();
        let same_place =
            self.phase & (alignment - 1) == out.padding(alignment).wrapping_neg() & (alignment - 1);
        let same_order = alignment == 1 || self.order == out.order();
        let same_narrow = !holds.has_narrow() || self.code_sets.narrow == coding.code_sets.narrow;
        let same_wide = !holds.has_wide()
            || (self.version, self.code_sets.wide) == (coding.version, coding.code_sets.wide);
        // Within a chunked value, other values stand between chunks.
        let same_chunks = !holds.may_have_values() || !out.is_in_chunks();
        same_place && same_order && same_narrow && same_wide && same_chunks
    }
}
