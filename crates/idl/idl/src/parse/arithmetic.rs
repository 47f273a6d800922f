//! Operators of constant expressions on numbers (CORBA 3.3 part 1, §7.10.2).

use crate::lexer::Kind;
use crate::model::Type;

/// Integers that an expression computes with: the number of bits, and whether they are signed.
#[derive(Clone, Copy)]
pub(super) struct Width {
    pub(super) bits: u32,
    pub(super) signed: bool,
}

impl Width {
    /// Returns the width of a type; that of `long` for a type that is not an integer.
    pub(super) fn of(ty: &Type) -> Width {
        let range = match ty {
            Type::Primitive(primitive) => primitive.integer_range(),
            _ => None,
        };
        match range {
            None => Width {
                bits: 32,
                signed: true,
            },
            Some((least, most)) => {
                let unsigned_bits = 128 - most.leading_zeros();
                Width {
                    bits: unsigned_bits + u32::from(least < 0),
                    signed: least < 0,
                }
            }
        }
    }

    /// Computes `~n` in the given number of bits (§7.10.2).
    pub(super) fn complement(self, n: i128) -> i128 {
        if self.signed || n < 0 {
            !n
        } else {
            ((1_i128 << self.bits) - 1) ^ n
        }
    }
}

/// Returns the precedence of a binary operator in constant expressions.
pub(super) fn precedence(operator: Kind) -> Option<u8> {
    Some(match operator {
        Kind::Pipe => 0,
        Kind::Caret => 1,
        Kind::Amp => 2,
        Kind::Shl | Kind::Shr => 3,
        Kind::Plus | Kind::Minus => 4,
        Kind::Star | Kind::Slash | Kind::Percent => 5,
        _ => return None,
    })
}

/// Applies an operator. `Err("")` means that the operator does not apply to integers.
pub(super) fn integers(
    operator: Kind,
    a: i128,
    b: i128,
    width: Width,
) -> Result<i128, &'static str> {
    let too_large = "this goes beyond every integer type on the way";
    let value = match operator {
        Kind::Pipe => Some(a | b),
        Kind::Caret => Some(a ^ b),
        Kind::Amp => Some(a & b),
        Kind::Shl | Kind::Shr => {
            let count = u32::try_from(b).ok().filter(|count| *count < 64);
            let count = count.ok_or("a shift goes from 0 to 63 bits")?;
            match operator {
                Kind::Shl => a.checked_mul(1 << count),
                // Zeros come in from the left, so a negative number counts as its bits.
                _ if a < 0 => Some((a & ((1 << width.bits) - 1)) >> count),
                _ => Some(a >> count),
            }
        }
        Kind::Plus => a.checked_add(b),
        Kind::Minus => a.checked_sub(b),
        Kind::Star => a.checked_mul(b),
        Kind::Slash | Kind::Percent if b == 0 => return Err("division by zero"),
        Kind::Slash => a.checked_div(b),
        Kind::Percent => a.checked_rem(b),
        _ => return Err(""),
    };
    // No value exceeds the range of 64 bits by so much that negating or shifting it overflows.
    value
        .filter(|value| value.unsigned_abs() <= 1 << 65)
        .ok_or(too_large)
}

/// Applies an operator. `Err("")` means that the operator does not apply to floating-point numbers.
pub(super) fn floats(operator: Kind, a: f64, b: f64) -> Result<f64, &'static str> {
    let value = match operator {
        Kind::Plus => a + b,
        Kind::Minus => a - b,
        Kind::Star => a * b,
        Kind::Slash if b == 0.0 => return Err("division by zero"),
        Kind::Slash => a / b,
        _ => return Err(""),
    };
    if value.is_finite() {
        Ok(value)
    } else {
        Err("this is too large for any floating-point type")
    }
}
