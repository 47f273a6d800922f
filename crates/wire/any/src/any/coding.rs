//! Anys from values and from messages, and back.

use std::sync::Arc;

use punctual_cdr::{
    Block, ByteOrder, CdrError, CodeSets, Coding, Decoder, Encoder, Environment, GiopVersion,
    Limits, Marshal, NarrowCodeSet, Unmarshal, ValueFactory,
};

use super::environment::LocalEnvironment;
use super::octets::Octets;
use super::{Any, Body};
use crate::shape::{Holds, Sizes};
use crate::type_code::{Node, Shapes, TypeCode, Typed};
use crate::walk::{marshal_id, phase, skip, transcode};

/// Size in bytes up to which memory in which values were encoded is kept for the thread's next block. It is what
/// links keep by default, so that their blocks, which come from the same cache, are not freed sooner.
const SCRATCH: usize = 256 << 10;

impl Any {
    /// Makes an Any that holds this value.
    ///
    /// Allocates for the encoding.
    ///
    /// # Errors
    /// A violation of the value's type: see [`Marshal::marshal`].
    pub fn new<T: Typed + Marshal + ?Sized>(value: &T) -> Result<Self, CdrError> {
        Self::with_type(&T::type_code(), value)
    }

    /// Makes an Any that holds this value with the stated type: an alias, or another type that is
    /// encoded as the value's own is. A `wstring` is not: [`Any::of_value`] makes one of text.
    ///
    /// # Errors
    /// As [`Any::new`]; [`CdrError::BadTypeCode`]; some of the errors of reading if the encoding
    /// does not match the type.
    pub fn with_type<T: Marshal + ?Sized>(
        type_code: &TypeCode,
        value: &T,
    ) -> Result<Self, CdrError> {
        Self::written(type_code, |out| value.marshal(out))
    }

    /// Makes an Any whose value `write` writes, for callers that have it in another form, such as
    /// the members of an exception without its id. `write` is responsible for matching the type; a
    /// mismatch is found by readers. It is called once more, to write in another code set, if it
    /// returns [`CdrError::CharacterNotInCodeSet`].
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`], and those of `write`.
    pub fn written(
        type_code: &TypeCode,
        mut write: impl FnMut(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<Self, CdrError> {
        type_code.check()?;
        let mut code_sets = CodeSets::NATIVE;
        let mut block = Block::of_thread(0, SCRATCH);
        let mut written = write_into(&mut block, type_code, code_sets, &mut write);
        // A `char` beyond ASCII takes one byte only in ISO 8859-1.
        if matches!(written, Err(CdrError::CharacterNotInCodeSet)) {
            code_sets.narrow = NarrowCodeSet::Iso8859_1;
            block.clear();
            written = write_into(&mut block, type_code, code_sets, &mut write);
        }
        let holds = type_code.arena().shapes()?.shape(type_code.at()).holds;
        let body = Body {
            octets: Octets::of(block),
            phase: 0,
            order: ByteOrder::NATIVE,
            holds,
            version: GiopVersion::V1_2,
            code_sets,
            nesting: Limits::DEFAULT.nesting,
            environment: LocalEnvironment::of(written?),
        };
        Ok(Self {
            type_code: type_code.clone(),
            body: Some(Arc::new(body)),
        })
    }

    /// Reads a value of this type in place of the current one, whose memory is reused unless it is
    /// shared. The bytes are copied, and examined only as far as their number depends on them.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`], and errors of the encoding; the content is then unspecified.
    pub fn unmarshal_as(
        &mut self,
        type_code: &TypeCode,
        input: &mut Decoder<'_>,
    ) -> Result<(), CdrError> {
        let types = type_code.arena().shapes()?;
        let shape = types.shape(type_code.at());
        if !self.type_code.is_same(type_code) {
            self.type_code = type_code.clone();
        }
        if shape.sizes == Some([0; 8]) {
            self.body = None;
            return Ok(());
        }
        // A value outside of chunks may begin behind a chunk.
        if !shape.holds.has_values() {
            input.align(shape.first.into())?;
        }
        if let Some(sizes) = &shape.sizes
            && self.take_at_once(sizes, shape.holds, input)?
        {
            return Ok(());
        }
        let (here, begin) = (input.unbroken(), phase(input));
        let mut ahead = input.ahead();
        // Only reading a valuetype finds its end.
        let skipped = match shape.holds.has_values() {
            true => None,
            false => skip(types, type_code, &mut ahead).ok(),
        };
        let skipped = skipped.filter(|skipped| skipped.is_self_contained);
        let length = ahead.position().saturating_sub(input.position());
        let is_whole = input.remaining().checked_sub(ahead.remaining()) == Some(length);
        let octets = here.get(..length).filter(|_| is_whole && skipped.is_some());
        let holds = match (octets, skipped) {
            (Some(_), Some(skipped)) => skipped.holds,
            _ => shape.holds,
        };
        let environment = holds
            .has_live()
            .then(|| input.coding().environment.map(Environment::share))
            .flatten();
        let body = self.body_mut(input);
        (body.environment, body.holds) = (environment, holds);
        let Some(octets) = octets else {
            // If malformed input is the reason, this reports it.
            return body.gather(types, type_code, length, input);
        };
        body.order = input.order();
        body.phase = begin;
        body.copy(octets);
        input.catch_up(ahead);
        Ok(())
    }

    /// Copies a value whose size depends only on its alignment, if it is contiguous; returns
    /// whether it did.
    fn take_at_once(
        &mut self,
        sizes: &Sizes,
        holds: Holds,
        input: &mut Decoder<'_>,
    ) -> Result<bool, CdrError> {
        let (here, at, order) = (input.unbroken(), phase(input), input.order());
        let size = sizes.get(at).and_then(|size| usize::try_from(*size).ok());
        let Some(octets) = size.and_then(|size| here.get(..size)) else {
            return Ok(false);
        };
        input.skip(octets.len())?;
        let body = self.body_mut(input);
        (body.environment, body.order, body.phase) = (None, order, at);
        body.holds = holds;
        body.copy(octets);
        Ok(true)
    }

    /// Returns a body owned by this Any alone, with the input's encoding, whose bytes are to be replaced.
    #[inline]
    fn body_mut(&mut self, input: &Decoder<'_>) -> &mut Body {
        let is_own = self
            .body
            .as_mut()
            .is_some_and(|body| Arc::get_mut(body).is_some());
        if !is_own {
            self.body = None;
        }
        let coding = input.coding();
        let body = self.body.get_or_insert_with(|| {
            Arc::new(Body {
                octets: Octets::default(),
                phase: 0,
                order: ByteOrder::NATIVE,
                holds: Holds::default(),
                version: coding.version,
                code_sets: coding.code_sets,
                nesting: coding.limits.nesting,
                environment: None,
            })
        });
        // It is not shared, so this never clones.
        let body = Arc::make_mut(body);
        (body.version, body.code_sets) = (coding.version, coding.code_sets);
        body.nesting = coding.limits.nesting;
        body
    }

    /// Writes the value without its TypeCode, as a value of that type is encoded in a message.
    ///
    /// Allocates only if the block has to grow, unless the value has to be transcoded and holds
    /// text.
    ///
    /// # Errors
    /// Those of the target encoding; errors of the value's encoding, if it has to be read.
    pub fn marshal_value(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let Some(body) = &self.body else {
            return Ok(());
        };
        let types = self.type_code.arena().shapes()?;
        let shape = types.shape(self.type_code.at());
        out.align(shape.first.into());
        if body.fits(out) {
            if let Some(environment) = &body.environment {
                out.add_value_factories(LocalEnvironment::factories(&**environment));
            }
            out.put_bytes(body.encoding());
            return Ok(());
        }
        self.marshal_anew(body, out)
    }

    #[cold]
    fn marshal_anew(&self, body: &Body, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let types = self.type_code.arena().shapes()?;
        // Another encoding takes about as many bytes.
        out.reserve(body.octets.len());
        self.read(|input| transcode(types, &self.type_code, input, out))
    }
}

impl Body {
    /// Reads a value of about `length` bytes that is not contiguous, or refers to data outside of
    /// it.
    #[cold]
    fn gather(
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
        let mut octets = self.octets.take_many();
        octets.reserve(length);
        let mut out = Encoder::new(Block::from_vec(octets), self.order, coding);
        transcode(types, type_code, input, &mut out)?;
        self.octets = out.into_block().into_vec().into();
        Ok(())
    }
}

/// Writes the value and restores the block in any case. Returns the factories of the valuetypes in it.
fn write_into(
    block: &mut Block,
    type_code: &TypeCode,
    code_sets: CodeSets,
    write: &mut impl FnMut(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<Vec<Arc<dyn ValueFactory>>, CdrError> {
    let coding = Coding {
        code_sets,
        ..Coding::default()
    };
    let mut out = Encoder::new(std::mem::take(block), ByteOrder::NATIVE, coding);
    let arena = type_code.arena();
    let may_have_values = arena
        .shapes()?
        .shape(type_code.at())
        .holds
        .may_have_values();
    if may_have_values {
        out.record_value_factories();
    }
    let id = match arena.node(arena.resolved(type_code.at())) {
        Node::Exception { name, .. } => marshal_id(&name.id, &mut out),
        _ => Ok(()),
    };
    let written = id.and_then(|()| write(&mut out));
    let factories = match may_have_values {
        true => out.take_value_factories(),
        false => Vec::new(),
    };
    out.put_back(block);
    written.map(|()| factories)
}

/// Writes the TypeCode, then the value (CORBA 3.3 part 2, §9.3.5.2).
impl Marshal for Any {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.type_code.marshal(out)?;
        self.marshal_value(out)
    }
}

impl Unmarshal for Any {
    const MIN_SIZE: usize = 4;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let mut this = Self::default();
        this.unmarshal_into(input)?;
        Ok(this)
    }

    fn unmarshal_into(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        let type_code = TypeCode::unmarshal(input)?;
        input.nested(|input| self.unmarshal_as(&type_code, input))
    }
}
