//! Abstract interfaces, an object or a value (CORBA 3.3 part 2, §9.3.4.7): a boolean that
//! distinguishes them, then the object reference or the value.

use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{FormalValue, ValueFactory, ValueRef};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::value::{Marshal, Unmarshal};

/// Writes an object reference, a value, or, if there is neither, null.
///
/// # Errors
/// Those of either.
pub fn marshal_abstract<O: Marshal>(
    object: Option<&O>,
    value: Option<&ValueRef>,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    out.put_bool(object.is_some());
    match object {
        Some(object) => object.marshal(out),
        None => out.put_value(value),
    }
}

/// Reads an object reference or a value, which `formal` admits.
///
/// # Errors
/// Those of either.
pub fn unmarshal_abstract<O, V>(
    formal: &dyn FormalValue,
    input: &mut Decoder<'_>,
    object: impl FnOnce(O) -> V,
    value: impl FnOnce(ValueRef) -> V,
) -> Result<Option<V>, CdrError>
where
    Option<O>: Unmarshal,
{
    if input.get_bool()? {
        return Ok(Option::<O>::unmarshal(input)?.map(object));
    }
    Ok(input.get_value(formal)?.map(value))
}

/// Formal type of a member, parameter or result that is a value supporting the abstract interface
/// `T`.
#[derive(Debug)]
pub struct Supports<T>(PhantomData<fn() -> T>);

impl<T> Supports<T> {
    /// Makes the formal type for values that support an abstract interface.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Default for Supports<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: 'static> FormalValue for Supports<T> {
    fn repository_id(&self) -> &str {
        ""
    }

    fn factory(&self) -> Option<Arc<dyn ValueFactory>> {
        None
    }

    fn admits(&self, factory: &dyn ValueFactory) -> bool {
        factory.kinds().contains(&TypeId::of::<T>())
    }
}
