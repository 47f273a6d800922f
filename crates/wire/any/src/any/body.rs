//! What an Any holds beside its TypeCode.

use std::sync::Arc;

use punctual_cdr::{
    Block, ByteOrder, CdrError, CodeSets, Coding, Decoder, Encoder, Environment, GiopVersion,
    Limits,
};

use crate::shape::Shape;
use crate::type_code::{Shapes, TypeCode};
use crate::walk::transcode;

/// Octets, and all that they depend on.
#[derive(Clone)]
pub(crate) struct Body {
    /// The value, behind as many octets as it began behind a multiple of 8.
    pub(super) octets: Vec<u8>,
    pub(super) phase: usize,
    pub(super) order: ByteOrder,
    pub(super) version: GiopVersion,
    pub(super) code_sets: CodeSets,
    /// How deep values may nest that are read from it: as where they came from.
    pub(super) nesting: u16,
    /// For what may have to come alive.
    pub(super) environment: Option<Arc<dyn Environment>>,
}

impl Body {
    /// Reads the octets from `at` on.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn read<R, E>(
        &self,
        at: usize,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        // The octets are here already: nothing is gained by limits on lengths.
        let limits = Limits {
            string: usize::MAX,
            sequence: usize::MAX,
            nesting: self.nesting,
            ..Limits::DEFAULT
        };
        let coding = Coding {
            version: self.version,
            code_sets: self.code_sets,
            limits: &limits,
            environment: self.environment.as_deref(),
        };
        read(&mut Decoder::at(&self.octets, at, self.order, coding))
    }

    /// Whether the octets are what `out` would have at its place.
    pub(super) fn fits(&self, shape: &Shape, out: &Encoder<'_>) -> bool {
        let (holds, coding) = (shape.holds, out.coding());
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

    /// Takes a value over that is not in one piece, or refers to what is outside of it: of about so many octets.
    #[cold]
    pub(super) fn gather(
        &mut self,
        types: Shapes<'_>,
        type_code: &TypeCode,
        length: usize,
        input: &mut Decoder<'_>,
    ) -> Result<(), CdrError> {
        self.order = ByteOrder::NATIVE;
        self.phase = 0;
        let coding = Coding {
            version: self.version,
            code_sets: self.code_sets,
            ..*input.coding()
        };
        let mut octets = std::mem::take(&mut self.octets);
        octets.reserve(length);
        let mut out = Encoder::new(Block::from_vec(octets), self.order, coding);
        transcode(types, type_code, input, &mut out)?;
        self.octets = out.into_block().into_vec();
        Ok(())
    }
}
