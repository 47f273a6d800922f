//! Decimal numbers whose digits and scale are known only at run time, and their arithmetic: the
//! sums, products and quotients of fixed-point numbers before they are fitted to a type (CORBA 3.3
//! part 1, §7.10.2).

use super::{Fixed, FixedError};
use ethnum::I256;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// Largest number of decimal digits in a value.
const MOST_DIGITS: u32 = 31;

/// Smallest number with more than [`MOST_DIGITS`] digits.
const OVERFLOW: i128 = 10i128.pow(MOST_DIGITS);

/// Decimal number of up to 31 digits: `scaled / 10^scale`.
///
/// Arithmetic is exact and then cut to 31 digits: digits after the point are lost, those before it
/// never. Numbers compare by value, whatever their scale.
// Packed, so that an enum with this as its largest variant is not enlarged by the alignment of
// `i128`.
#[derive(Clone, Copy, Default)]
#[repr(Rust, packed(8))]
pub struct Decimal {
    scaled: i128,
    scale: i16,
}

impl Decimal {
    /// Makes the number `scaled / 10^scale`: `Decimal::new(12345, 2)` is 123.45.
    ///
    /// # Errors
    /// [`FixedError::TooManyDigits`] for more than 31, and for a scale beyond ±31.
    pub const fn new(scaled: i128, scale: i16) -> Result<Self, FixedError> {
        if scaled >= OVERFLOW || scaled <= -OVERFLOW || scale.unsigned_abs() as u32 > MOST_DIGITS {
            return Err(FixedError::TooManyDigits { digits: 31 });
        }
        Ok(Self { scaled, scale })
    }

    /// Returns the decimal number as an integer, multiplied by 10^scale.
    #[must_use]
    pub const fn scaled(self) -> i128 {
        self.scaled
    }

    /// Returns the number of digits after the decimal point.
    #[must_use]
    pub const fn scale(self) -> i16 {
        self.scale
    }

    /// Returns the number of digits, those after the point included; at least one.
    #[must_use]
    pub fn digits(self) -> u16 {
        let digits = self.scaled.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
        u16::try_from(digits).map_or(self.scale.unsigned_abs(), |digits| {
            digits.max(u16::try_from(self.scale).unwrap_or(0))
        })
    }

    /// Adds two numbers.
    ///
    /// # Errors
    /// [`FixedError::TooManyDigits`] if the sum has more than 31 digits before the point.
    pub fn checked_add(self, other: impl Into<Self>) -> Result<Self, FixedError> {
        let (a, b, scale) = self.aligned(other.into());
        Self::cut(a + b, scale)
    }

    /// Subtracts `other`.
    ///
    /// # Errors
    /// [`FixedError::TooManyDigits`] if the difference has more than 31 digits before the point.
    pub fn checked_sub(self, other: impl Into<Self>) -> Result<Self, FixedError> {
        let (a, b, scale) = self.aligned(other.into());
        Self::cut(a - b, scale)
    }

    /// Multiplies two numbers.
    ///
    /// # Errors
    /// [`FixedError::TooManyDigits`] if the product has more than 31 digits before the point.
    pub fn checked_mul(self, other: impl Into<Self>) -> Result<Self, FixedError> {
        let other = other.into();
        let product = I256::from(self.scaled) * I256::from(other.scaled);
        Self::cut(product, i32::from(self.scale) + i32::from(other.scale))
    }

    /// Divides by `other`, to 31 digits.
    ///
    /// # Errors
    /// [`FixedError::DivisionByZero`]; [`FixedError::TooManyDigits`] if the quotient has more than
    /// 31 digits before the point.
    pub fn checked_div(self, other: impl Into<Self>) -> Result<Self, FixedError> {
        let other = other.into();
        if other.scaled == 0 {
            return Err(FixedError::DivisionByZero);
        }
        // 31 digits and 44 zeroes fit into the integer type; a quotient then has 44 digits at
        // least, and is cut.
        const ZEROES: u32 = 44;
        let dividend = I256::from(self.scaled) * power(ZEROES);
        let scale = i32::from(self.scale) - i32::from(other.scale) + ZEROES.cast_signed();
        let quotient = Self::cut(dividend / I256::from(other.scaled), scale)?;
        Ok(quotient.without_zeroes())
    }

    /// Rounds to `scale` digits after the point; half of the last digit is rounded away from zero.
    ///
    /// # Errors
    /// [`FixedError::TooManyDigits`] if there are more than 31.
    pub fn round(self, scale: i16) -> Result<Self, FixedError> {
        let lost = i32::from(self.scale) - i32::from(scale);
        if lost <= 0 {
            return self.rescaled(scale);
        }
        let unit = power(lost.unsigned_abs().min(60));
        let half = unit / 2 * I256::from(self.scaled.signum());
        let rounded = (I256::from(self.scaled) + half) / unit;
        Self::of_wide(rounded, scale)
    }

    /// Truncates to `scale` digits after the point.
    ///
    /// # Errors
    /// [`FixedError::TooManyDigits`] if there are more than 31.
    pub fn truncate(self, scale: i16) -> Result<Self, FixedError> {
        self.rescaled(scale)
    }

    /// Converts to a `Fixed` type: surplus digits after the point are cut off, as where CORBA's
    /// mappings assign one `fixed` to another.
    ///
    /// # Errors
    /// [`FixedError::TooManyDigits`] if the type has too few digits before the point.
    pub fn to_fixed<const D: u16, const S: i16>(self) -> Result<Fixed<D, S>, FixedError> {
        let too_many = |_| FixedError::TooManyDigits { digits: D };
        Fixed::new(self.rescaled(S).map_err(too_many)?.scaled)
    }

    /// Returns the `double` that is nearest to the decimal number.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    fn rescaled(self, scale: i16) -> Result<Self, FixedError> {
        let wide = I256::from(self.scaled);
        let change = i32::from(scale) - i32::from(self.scale);
        let factor = power(change.unsigned_abs().min(62));
        let rescaled = match change >= 0 {
            true if self.scaled == 0 => I256::ZERO,
            true if change > 44 => return Err(FixedError::TooManyDigits { digits: 31 }),
            true => wide * factor,
            false => wide / factor,
        };
        Self::of_wide(rescaled, scale)
    }

    fn of_wide(scaled: I256, scale: i16) -> Result<Self, FixedError> {
        match i128::try_from(scaled) {
            Ok(scaled) => Self::new(scaled, scale),
            Err(_) => Err(FixedError::TooManyDigits { digits: 31 }),
        }
    }

    /// Brings both numbers to the same scale. Exact, except for a number that is too large for any
    /// result.
    fn aligned(self, other: Self) -> (I256, I256, i32) {
        let scale = self.scale.max(other.scale);
        let widened = |number: Self| {
            let zeroes = (i32::from(scale) - i32::from(number.scale)).unsigned_abs();
            let scaled = I256::from(number.scaled);
            let huge = (I256::MAX >> 2u8) * scaled.signum();
            scaled.checked_mul(power(zeroes)).unwrap_or(huge)
        };
        (widened(self), widened(other), scale.into())
    }

    /// Makes a result, from which surplus digits after the point are cut.
    fn cut(mut scaled: I256, mut scale: i32) -> Result<Self, FixedError> {
        let most = I256::from(OVERFLOW);
        while scale > 0 && (scaled.abs() >= most || scale > 31) {
            scaled /= I256::from(10i8);
            scale -= 1;
        }
        // Zeroes before the point that were not stored become digits.
        if scale < 0 {
            scaled = scaled
                .checked_mul(power(scale.unsigned_abs()))
                .ok_or(FixedError::TooManyDigits { digits: 31 })?;
            scale = 0;
        }
        let scale = i16::try_from(scale).map_err(|_| FixedError::TooManyDigits { digits: 31 })?;
        Self::of_wide(scaled, scale)
    }

    /// Returns the same number without zeroes at the end of its fraction.
    fn without_zeroes(mut self) -> Self {
        while self.scale > 0 && self.scaled % 10 == 0 {
            self.scaled /= 10;
            self.scale -= 1;
        }
        self
    }
}

fn power(exponent: u32) -> I256 {
    I256::from(10i8).pow(exponent)
}

impl<const D: u16, const S: i16> From<Fixed<D, S>> for Decimal {
    fn from(number: Fixed<D, S>) -> Self {
        Self {
            scaled: number.scaled(),
            scale: S,
        }
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Decimal {
            fn from(number: $integer) -> Self {
                Self { scaled: number.into(), scale: 0 }
            }
        }
    )*};
}

from_integers! { i8 u8 i16 u16 i32 u32 i64 u64 }

/// Converts the part of a decimal number before the decimal point to an integer.
impl TryFrom<Decimal> for i64 {
    type Error = FixedError;

    fn try_from(number: Decimal) -> Result<Self, FixedError> {
        let whole = number.truncate(0)?.scaled;
        whole
            .try_into()
            .map_err(|_| FixedError::TooManyDigits { digits: 19 })
    }
}

impl std::ops::Neg for Decimal {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            scaled: -self.scaled,
            ..self
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b, _) = self.aligned(*other);
        a.cmp(&b)
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut shortest = self.without_zeroes();
        while shortest.scaled != 0 && shortest.scaled % 10 == 0 {
            shortest.scaled /= 10;
            shortest.scale -= 1;
        }
        { shortest.scaled }.hash(state);
        if shortest.scaled != 0 {
            shortest.scale.hash(state);
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::display(self.scaled, self.scale, f)
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decimal({self})")
    }
}

impl FromStr for Decimal {
    type Err = FixedError;

    /// Parses a sign, digits, a point and digits, as in IDL; a `d` or `D` may follow. The scale is
    /// the number of digits after the point.
    fn from_str(text: &str) -> Result<Self, FixedError> {
        let number = text.trim_end_matches(['d', 'D']);
        let fraction = number.split_once('.').map_or("", |(_, fraction)| fraction);
        let scale = i16::try_from(fraction.trim_end_matches('0').len()).unwrap_or(i16::MAX);
        let scale = scale.max(
            fraction
                .len()
                .min(MOST_DIGITS as usize)
                .try_into()
                .unwrap_or(0),
        );
        if u32::from(scale.unsigned_abs()) > MOST_DIGITS {
            return Err(FixedError::TooPrecise { scale: 31 });
        }
        let scaled = super::parse(text, scale, OVERFLOW, 31)?;
        Self::new(scaled, scale)
    }
}

#[cfg(test)]
mod tests;
