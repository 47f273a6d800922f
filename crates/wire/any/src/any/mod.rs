//! Values of any type.

mod body;
mod coding;
mod debug;
mod display;
mod environment;
mod octets;
mod passed;
mod show_each;
mod text;
mod typed;
mod user_exception;

use std::fmt;
use std::sync::Arc;

use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Unmarshal};
use thiserror::Error;

pub(crate) use body::Body;
pub use passed::PassedAnys;

use crate::kind::TypeKind;
use crate::type_code::{Node, TypeCode, Typed};
use crate::walk::pass_id;

/// Value of any type: its TypeCode, and its encoding as it was received or written here.
///
/// A clone shares the encoding. An Any that passes through is not decoded: it is copied where byte
/// order, alignment and code sets agree, and transcoded by its TypeCode where they do not. One that
/// holds valuetypes is decoded, as nothing else tells where they end.
#[derive(Clone, Default)]
pub struct Any {
    type_code: TypeCode,
    /// Encoded value; `None` for a value of no bytes.
    body: Option<Arc<Body>>,
}

/// Reason why a value cannot be extracted from an [`Any`], or its type not be changed.
#[derive(Clone, PartialEq, Eq, Error)]
pub enum AnyError {
    /// The type of the value is not equivalent to the requested one.
    #[error("the Any holds a value of type {held}, not of type {wanted}")]
    TypeMismatch {
        /// Type of the value in the Any.
        held: Box<str>,
        /// Type that was requested of the Any.
        wanted: Box<str>,
    },
    /// The encoding is not a value of its type.
    #[error(transparent)]
    Cdr(#[from] CdrError),
}

impl AnyError {
    /// Makes a type mismatch of the type held and the type wanted.
    #[must_use]
    pub fn mismatch(held: &TypeCode, wanted: impl fmt::Display) -> Self {
        Self::TypeMismatch {
            held: held.to_string().into(),
            wanted: wanted.to_string().into(),
        }
    }
}

/// Shows the message of Display, so that it is readable where `main` returns the error.
impl fmt::Debug for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Any {
    /// Returns the TypeCode of the value in the Any.
    #[inline]
    #[must_use]
    pub fn type_code(&self) -> &TypeCode {
        &self.type_code
    }

    /// Replaces the type by an equivalent one: an alias, or one without names.
    ///
    /// # Errors
    /// [`AnyError::TypeMismatch`].
    pub fn set_type(&mut self, type_code: &TypeCode) -> Result<(), AnyError> {
        if !self.type_code.equivalent(type_code) {
            return Err(AnyError::mismatch(&self.type_code, type_code));
        }
        self.type_code = type_code.clone();
        Ok(())
    }

    /// Returns whether the Any holds nothing: its type is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.type_code.kind() == TypeKind::Null
    }

    /// Extracts the value as a Rust type, whose IDL type has to be equivalent to that of the value.
    /// A bounded string or sequence may be read as an unbounded one, as `String` and `Vec` are, and
    /// is checked against its bound.
    ///
    /// # Errors
    /// [`AnyError::TypeMismatch`]; [`AnyError::Cdr`] if the encoding does not match the Any's type.
    pub fn extract<T: Typed + Unmarshal>(&self) -> Result<T, AnyError> {
        let wanted = T::type_code();
        if !self.type_code.equivalent(&wanted) {
            if !self.type_code.is_read_as(&wanted) {
                return Err(AnyError::mismatch(&self.type_code, &wanted));
            }
            // Checks bounds, which the Rust type does not know.
            self.value()?;
        }
        Ok(self.read(|input| {
            if let Node::Exception { name, .. } = self.original() {
                pass_id(&name.id, input);
            }
            T::unmarshal(input)
        })?)
    }

    fn original(&self) -> &Node {
        let arena = self.type_code.arena();
        arena.node(arena.resolved(self.type_code.at()))
    }

    /// Decodes the value by `read`. The value of an exception begins with its repository id, unless
    /// it came from an ORB that omits it.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn read<R>(
        &self,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<R, CdrError>,
    ) -> Result<R, CdrError> {
        let Some(body) = &self.body else {
            let coding = Coding::default();
            return read(&mut Decoder::new(&[], ByteOrder::NATIVE, coding));
        };
        body.read(body.phase, read)
    }

    /// Returns the encoded value, if it has any bytes.
    pub(crate) fn body(&self) -> Option<&Arc<Body>> {
        self.body.as_ref()
    }
}

/// Compares as CORBA's `equal` does: equivalent types, and values equal in every part. A valuetype
/// equals only itself.
impl PartialEq for Any {
    fn eq(&self, other: &Self) -> bool {
        if !self.type_code.equivalent(&other.type_code) {
            return false;
        }
        match (&self.body, &other.body) {
            (None, None) => true,
            (Some(one), Some(another)) if Arc::ptr_eq(one, another) => true,
            _ => matches!((self.value(), other.value()), (Ok(one), Ok(another)) if one == another),
        }
    }
}
