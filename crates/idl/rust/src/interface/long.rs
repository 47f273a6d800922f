//! Values that may be sent from where they lie, without a copy in the message: long sequences of octets and numbers.

use punctual_idl::model::{Primitive, Specification, Type};

/// Length in bytes of the shortest sequence that the ORB sends from its own memory: `CallerMemory::LEAST` of the crate
/// `punctual-cdr`, on which the compiler does not stand.
const LEAST: u64 = 32 * 1024;

/// Returns the bound of a sequence of octets or numbers that may be so long, the largest number for none; `None` for other
/// types.
pub(super) fn bound_if_long(spec: &Specification, ty: &Type) -> Option<u32> {
    let Type::Sequence { element, bound } = spec.resolve(ty) else {
        return None;
    };
    let size = size_of_number(spec.resolve(element))?;
    let bound = bound.unwrap_or(u32::MAX);
    (size * u64::from(bound) >= LEAST).then_some(bound)
}

/// Returns the size of an octet or a number in bytes; `None` for other types.
fn size_of_number(ty: &Type) -> Option<u64> {
    use Primitive as P;
    let Type::Primitive(primitive) = ty else {
        return None;
    };
    match primitive {
        P::Octet | P::Int8 | P::UInt8 => Some(1),
        P::Short | P::UShort => Some(2),
        P::Long | P::ULong | P::Float => Some(4),
        P::LongLong | P::ULongLong | P::Double => Some(8),
        P::Boolean | P::Char | P::WChar | P::LongDouble => None,
    }
}
