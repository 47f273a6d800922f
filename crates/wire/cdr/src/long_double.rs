//! The IDL type `long double`: IEEE 754 binary128, which Rust does not have.

use std::cmp::Ordering;
use std::fmt;

use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::order::ByteOrder;
use crate::value::{Marshal, Unmarshal};

const FRACTION_BITS: u32 = 112;
const FRACTION: u128 = (1 << FRACTION_BITS) - 1;
const EXPONENT: u32 = 0x7fff;
const BIAS: i32 = 16383;
/// Number of bits by which a binary128 fraction is longer than a binary64 one.
const EXTRA_BITS: u32 = FRACTION_BITS - 52;

/// IDL `long double`: a 128-bit IEEE 754 number, kept bit for bit. It is carried, compared and
/// converted; arithmetic is done in `f64`.
#[derive(Clone, Copy, Default)]
pub struct LongDouble(u128);

impl LongDouble {
    /// Makes the number with these bits: sign, 15 bits of exponent, 112 bits of fraction.
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// Returns the number's bit pattern.
    #[must_use]
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// Converts an `f64`. No value loses precision; a NaN keeps its payload.
    #[must_use]
    pub fn from_f64(value: f64) -> Self {
        let bits = value.to_bits();
        let sign = u128::from(bits >> 63) << 127;
        let exponent = (bits >> 52) & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let (exponent, fraction) = match (exponent, fraction) {
            (0, 0) => (0, 0),
            (0, _) => {
                // A subnormal f64 is a normal number here: shift its first set bit up to the
                // implied place.
                let shift = fraction.leading_zeros() - 11;
                let normal = (fraction << shift) & ((1 << 52) - 1);
                (u128::from(15361 - shift), normal)
            }
            (0x7ff, _) => (u128::from(EXPONENT), fraction),
            _ => (u128::from(exponent) + 15360, fraction),
        };
        Self(sign | (exponent << FRACTION_BITS) | (u128::from(fraction) << EXTRA_BITS))
    }

    /// Returns the nearest `f64`, ties to even; infinite if the number is too large for one.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        let sign = low_half(self.0 >> 64) & (1 << 63);
        let exponent = low_half(self.0 >> FRACTION_BITS) & u64::from(EXPONENT);
        let fraction = self.0 & FRACTION;
        let magnitude = if exponent == u64::from(EXPONENT) {
            let payload = low_half(fraction >> EXTRA_BITS);
            match (fraction, payload) {
                (0, _) => 0x7ff << 52,
                // A payload in the lower bits alone would read as infinity.
                (_, 0) => (0x7ff << 52) | (1 << 51),
                _ => (0x7ff << 52) | payload,
            }
        } else {
            round(i32::try_from(exponent).unwrap_or(0) - BIAS, fraction)
        };
        f64::from_bits(sign | magnitude)
    }

    /// Returns whether the value is NaN (not a number).
    #[must_use]
    pub const fn is_nan(self) -> bool {
        self.0 << 1 > (EXPONENT as u128) << (FRACTION_BITS + 1)
    }
}

/// Returns the bits of the `f64` nearest to `1.fraction * 2^exponent`.
fn round(exponent: i32, fraction: u128) -> u64 {
    if exponent > 1023 {
        return 0x7ff << 52;
    }
    let significand = (1 << FRACTION_BITS) | fraction;
    // Below -1022 an f64 is subnormal and has fewer bits of precision.
    let lost = EXTRA_BITS + u32::try_from(-1022 - exponent).unwrap_or(0);
    if lost > FRACTION_BITS + 1 {
        return 0;
    }
    let kept = low_half(significand >> lost);
    let remainder = significand & ((1 << lost) - 1);
    let half = 1 << (lost - 1);
    let up = remainder > half || (remainder == half && kept & 1 == 1);
    // The implied bit of a normal number adds one to the exponent, and so does a carry.
    let biased = u64::try_from(exponent + 1022).unwrap_or(0);
    (biased << 52) + kept + u64::from(up)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the caller wants the low half"
)]
const fn low_half(bits: u128) -> u64 {
    bits as u64
}

impl From<f64> for LongDouble {
    fn from(value: f64) -> Self {
        Self::from_f64(value)
    }
}

/// Compares by IEEE equality: NaN equals nothing, and the zeroes are equal.
impl PartialEq for LongDouble {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for LongDouble {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self.is_nan() || other.is_nan() {
            return None;
        }
        let ordered = |bits: u128| {
            let magnitude = (bits & (u128::MAX >> 1)).cast_signed();
            if bits >> 127 == 0 {
                magnitude
            } else {
                -magnitude
            }
        };
        Some(ordered(self.0).cmp(&ordered(other.0)))
    }
}

impl fmt::Debug for LongDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LongDouble({:?} ~ {:#034x})", self.to_f64(), self.0)
    }
}

/// Shows the `f64` that is nearest to the number.
impl fmt::Display for LongDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_f64(), f)
    }
}

/// Writes a `long double` as 16 octets, aligned to 8 (§9.3.1.1).
impl Marshal for LongDouble {
    #[inline]
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.align(8);
        out.put_bytes(&match out.order() {
            ByteOrder::Big => self.0.to_be_bytes(),
            ByteOrder::Little => self.0.to_le_bytes(),
        });
        Ok(())
    }
}

/// Reads a `long double` of 16 octets, aligned to 8 (§9.3.1.1).
impl Unmarshal for LongDouble {
    const MIN_SIZE: usize = 16;

    #[inline]
    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        input.align(8)?;
        let octets = input.get_bytes(16)?;
        let octets = octets
            .first_chunk()
            .ok_or(CdrError::Invalid("not 16 octets"))?;
        Ok(Self(match input.order() {
            ByteOrder::Big => u128::from_be_bytes(*octets),
            ByteOrder::Little => u128::from_le_bytes(*octets),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_exponent_of_the_bias_and_no_fraction() {
        assert_eq!(LongDouble::from_f64(1.0).to_bits(), 0x3fff << 112);
        assert_eq!(LongDouble::from_f64(-2.0).to_bits(), 0xc000 << 112);
        assert_eq!(
            LongDouble::from_f64(1.5).to_bits(),
            (0x3fff << 112) | (1 << 111)
        );
    }

    #[test]
    fn every_kind_of_f64_survives_the_way_there_and_back() {
        for value in [
            0.0,
            -0.0,
            1.0,
            std::f64::consts::PI,
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE / 3.0,
            5e-324,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::from_bits(0x7ff4_0000_0000_0001),
        ] {
            let back = LongDouble::from_f64(value).to_f64();
            assert_eq!(back.to_bits(), value.to_bits(), "{value:?}");
        }
    }

    #[test]
    fn smallest_subnormal_f64_is_two_to_the_minus_1074() {
        assert_eq!(
            LongDouble::from_f64(5e-324).to_bits(),
            (16383 - 1074) << 112
        );
    }

    #[test]
    fn rounding_is_to_nearest_and_ties_go_to_even() {
        let one = 0x3fffu128 << 112;
        let half_ulp = 1u128 << 59;
        let at = |bits| LongDouble::from_bits(bits).to_f64();
        assert_eq!(at(one | half_ulp), 1.0);
        assert_eq!(at(one | (half_ulp + 1)), 1.0 + f64::EPSILON);
        assert_eq!(at(one | (3 * half_ulp)), 1.0 + 2.0 * f64::EPSILON);
        // All ones round up into the next exponent; above the largest f64 that is infinity.
        assert_eq!(at(one | FRACTION), 2.0);
        assert_eq!(at((0x3fff + 1023) << 112 | FRACTION), f64::INFINITY);
        assert_eq!(at(0x7ffe << 112), f64::INFINITY);
        assert_eq!(at(1), 0.0);
        assert_eq!(at((16383 - 1075) << 112), 0.0);
        assert_eq!(at((16383 - 1075) << 112 | 1), 5e-324);
    }

    #[test]
    fn a_nan_stays_a_nan_though_its_payload_is_lost() {
        let nan = LongDouble::from_bits((0x7fff << 112) | 1);
        assert!(nan.is_nan());
        assert!(nan.to_f64().is_nan());
        assert_ne!(nan, nan);
        assert!(!LongDouble::from_f64(f64::INFINITY).is_nan());
    }

    #[test]
    fn order_is_that_of_the_numbers() {
        let numbers = [f64::NEG_INFINITY, -1.5, -0.0, 2.0, f64::INFINITY].map(LongDouble::from);
        assert!(numbers.is_sorted());
        assert_eq!(LongDouble::from_f64(0.0), LongDouble::from_f64(-0.0));
    }
}
