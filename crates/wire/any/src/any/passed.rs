//! Values that are kept as they are encoded in a message, with places of Anys in them.
//!
//! A service that passes values of a known type on reads of each what it needs, and skips the Anys in it. What it has passed
//! becomes an Any without another look, and the Anys in it are reached by the offsets at which they were.

use std::sync::Arc;

use punctual_cdr::{CdrError, Decoder, Environment};

use super::octets::Octets;
use super::{Any, Body};
use crate::cursor::{Cursor, Scalar};
use crate::shape::Holds;
use crate::type_code::TypeCode;
use crate::walk::{Skipped, phase, skip_any};

/// Levels of nesting that a value may have around its Anys. Those who read it by its type count them, and those who passed
/// it do not.
const AROUND: u16 = 16;

/// Content of the Anys that were passed over in a message, on which depends where the bytes may be copied to.
#[derive(Clone, Copy, Debug)]
pub struct PassedAnys(Skipped);

/// None at all.
impl Default for PassedAnys {
    fn default() -> Self {
        Self(Skipped {
            is_self_contained: true,
            holds: Holds::default(),
        })
    }
}

impl PassedAnys {
    /// Passes over an Any, of which is examined what reading it would examine.
    ///
    /// # Errors
    /// Errors of the encoding. Valuetypes need not be an error for reading; and what is passed over, and cannot be kept
    /// ([`Any::of_passed`]), need not be readable.
    pub fn pass(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        let passed = skip_any(input)?;
        self.0 = Skipped {
            is_self_contained: self.0.is_self_contained && passed.is_self_contained,
            holds: self.0.holds.and(passed.holds),
        };
        Ok(())
    }
}

impl Any {
    /// Makes an Any of a value that was passed over in a message: `end` is `begin` behind it. The bytes are copied. The caller
    /// is responsible for their matching the type; a mismatch is found by readers.
    ///
    /// Returns `None` if the value cannot be copied: it is not in one piece, or refers to data outside of it.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`].
    pub fn of_passed(
        type_code: &TypeCode,
        begin: &Decoder<'_>,
        end: &Decoder<'_>,
        anys: PassedAnys,
    ) -> Result<Option<Self>, CdrError> {
        let shape = type_code.arena().shapes()?.shape(type_code.at());
        let mut begin = begin.clone();
        begin.align(shape.first.into())?;
        let length = end.position().saturating_sub(begin.position());
        let is_whole = begin.remaining().checked_sub(end.remaining()) == Some(length);
        let can_be_copied = is_whole && anys.0.is_self_contained && !shape.holds.has_values();
        let Some(bytes) = begin.unbroken().get(..length).filter(|_| can_be_copied) else {
            return Ok(None);
        };
        let coding = begin.coding();
        let holds = shape.holds.without_anys().and(anys.0.holds);
        let environment = coding.environment.filter(|_| holds.has_live());
        let mut body = Body {
            octets: Octets::default(),
            phase: phase(&begin),
            order: begin.order(),
            holds,
            version: coding.version,
            code_sets: coding.code_sets,
            nesting: coding.limits.nesting.saturating_add(AROUND),
            environment: environment.map(Environment::share),
        };
        body.copy(bytes);
        Ok(Some(Self {
            type_code: type_code.clone(),
            body: Some(Arc::new(body)),
        }))
    }

    /// Returns the bytes of the encoded value.
    #[must_use]
    pub fn encoding(&self) -> &[u8] {
        self.body().map_or(&[], |body| body.encoding())
    }

    /// Returns a cursor at the content of an Any within the value, whose TypeCode begins at this offset of
    /// [`Any::encoding`]. Padding before it may belong to it.
    ///
    /// # Errors
    /// Errors of the encoding, as where no Any begins there.
    pub fn cursor_in(&self, offset: usize) -> Result<Cursor<'_>, CdrError> {
        Cursor::in_any(self, offset)
    }

    /// Reads the value of an Any within the value, as [`Any::cursor_in`] finds it, if it is one without parts; returns its type,
    /// too, and the number of bytes that the type takes, for callers that bound their work. Faster than a cursor.
    ///
    /// # Errors
    /// As [`Any::cursor_in`] and [`Any::scalar`].
    pub fn scalar_in(
        &self,
        offset: usize,
    ) -> Result<Option<(Scalar<'_>, TypeCode, usize)>, CdrError> {
        let Some(body) = self.body() else {
            return Ok(None);
        };
        let mut input = body.decoder_at(offset);
        let begin = input.position();
        let (type_code, _) = TypeCode::pass(&mut input)?;
        let of_type = input.position().saturating_sub(begin);
        let scalar = Scalar::read(&type_code, &mut input)?;
        Ok(scalar.map(|scalar| (scalar, type_code, of_type)))
    }

    /// Decodes the value from an offset of [`Any::encoding`] on, as [`Any::read`] does from its beginning.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn read_from<R>(
        &self,
        offset: usize,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<R, CdrError>,
    ) -> Result<R, CdrError> {
        match self.body() {
            Some(body) => body.read(body.phase.saturating_add(offset), read),
            None => self.read(read),
        }
    }
}
