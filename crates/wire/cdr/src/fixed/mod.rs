//! The IDL type `fixed<D, S>`: decimal numbers of up to 31 digits.

mod decimal;

pub use decimal::Decimal;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::value::{Marshal, Unmarshal};

/// Decimal number of `D` digits, `S` of them after the point. A negative `S` means that many zeroes
/// before the point, which are not stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Fixed<const D: u16, const S: i16> {
    /// Decimal number as an integer, multiplied by 10^S.
    scaled: i128,
}

/// Reason why a number or text is not a [`Fixed`] of a given type.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
pub enum FixedError {
    /// The number has more digits than the `fixed` type allows.
    #[error("the number has more than {digits} digits")]
    TooManyDigits {
        /// Number of digits that the type allows.
        digits: u16,
    },
    /// The number has more digits after the point than the type, and not all of them are zero.
    #[error("the number has more than {scale} digits after the point")]
    TooPrecise {
        /// Number of digits that the type has after the decimal point.
        scale: i16,
    },
    /// The divisor of a division is zero.
    #[error("division by zero")]
    DivisionByZero,
    /// The text is not a decimal number.
    #[error("the text is not a decimal number")]
    NotANumber,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for FixedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const D: u16, const S: i16> Fixed<D, S> {
    /// Smallest number with too many digits. A type that CORBA does not have does not compile.
    const OVERFLOW: i128 = {
        assert!(D >= 1 && D <= 31, "a fixed type has 1 to 31 digits");
        10i128.pow(D as u32)
    };

    /// Number of octets on the wire: a half octet for each digit and one for the sign, rounded up.
    const OCTETS: usize = D as usize / 2 + 1;

    /// Makes the number `scaled / 10^S`: `Fixed::<5, 2>::new(12345)` is 123.45.
    ///
    /// # Errors
    /// [`FixedError::TooManyDigits`].
    pub const fn new(scaled: i128) -> Result<Self, FixedError> {
        if scaled >= Self::OVERFLOW || scaled <= -Self::OVERFLOW {
            return Err(FixedError::TooManyDigits { digits: D });
        }
        Ok(Self { scaled })
    }

    /// Makes a number as [`Fixed::new`] does.
    ///
    /// # Errors
    /// [`FixedError::TooManyDigits`].
    pub const fn from_scaled(scaled: i128) -> Result<Self, FixedError> {
        Self::new(scaled)
    }

    /// Makes a number as [`Fixed::new`] does, for constants.
    ///
    /// # Panics
    /// If the number has too many digits; in a constant that is a compile-time error.
    #[must_use]
    pub const fn literal(scaled: i128) -> Self {
        match Self::new(scaled) {
            Ok(number) => number,
            Err(_) => panic!("the number has more digits than its type"),
        }
    }

    /// Returns the decimal number as an integer, multiplied by 10^S.
    #[must_use]
    pub const fn scaled(self) -> i128 {
        self.scaled
    }

    /// Returns the number of digits that the `fixed` type has.
    #[must_use]
    pub const fn digits(self) -> u16 {
        D
    }

    /// Returns the number of digits after the point of the type.
    #[must_use]
    pub const fn scale(self) -> i16 {
        S
    }
}

impl<const D: u16, const S: i16> fmt::Display for Fixed<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self.scaled, S, f)
    }
}

fn display(scaled: i128, scale: i16, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let digits = scaled.unsigned_abs().to_string();
    let text = match usize::try_from(scale) {
        Ok(0) => digits,
        Ok(scale) => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            format!("{whole}.{fraction}")
        }
        Err(_) if scaled == 0 => digits,
        Err(_) => format!("{digits}{:0<1$}", "", usize::from(scale.unsigned_abs())),
    };
    f.pad_integral(scaled >= 0, "", &text)
}

impl<const D: u16, const S: i16> fmt::Debug for Fixed<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fixed<{D}, {S}>({self})")
    }
}

impl<const D: u16, const S: i16> FromStr for Fixed<D, S> {
    type Err = FixedError;

    /// Parses a sign, digits, a point and digits, as in IDL; a `d` or `D` may follow.
    fn from_str(text: &str) -> Result<Self, FixedError> {
        Self::new(parse(text, S, Self::OVERFLOW, D)?)
    }
}

/// Parses a number and returns it times 10^scale; its magnitude is below `overflow`, the smallest
/// number of `digits` + 1 digits.
fn parse(text: &str, scale: i16, overflow: i128, digits: u16) -> Result<i128, FixedError> {
    let text = text.trim_end_matches(['d', 'D']);
    let (negative, text) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |part: &str| part.bytes().all(|octet| octet.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return Err(FixedError::NotANumber);
    }
    // Place of the last digit kept: 1 is the first one after the point.
    let mut magnitude = 0i128;
    let mut place = -i64::try_from(whole.len()).unwrap_or(i64::MAX);
    for octet in whole.bytes().chain(fraction.bytes()) {
        place += 1;
        if place <= i64::from(scale) {
            magnitude = magnitude
                .checked_mul(10)
                .and_then(|value| value.checked_add(i128::from(octet - b'0')))
                .filter(|value| *value < overflow)
                .ok_or(FixedError::TooManyDigits { digits })?;
        } else if octet != b'0' {
            return Err(FixedError::TooPrecise { scale });
        }
    }
    while place < i64::from(scale) {
        place += 1;
        magnitude = magnitude
            .checked_mul(10)
            .ok_or(FixedError::TooManyDigits { digits })?;
    }
    Ok(if negative { -magnitude } else { magnitude })
}

/// Writes packed decimal (§9.3.2.8): a half octet for each digit, the most significant first, then
/// one for the sign: 0xC for positive and zero, 0xD for negative. An even number of digits begins
/// with a zero half octet. No alignment.
impl<const D: u16, const S: i16> Marshal for Fixed<D, S> {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        put(self.scaled, Self::OCTETS, out);
        Ok(())
    }
}

fn put(scaled: i128, size: usize, out: &mut Encoder<'_>) {
    let mut magnitude = scaled.unsigned_abs();
    let mut next_digit = || {
        let digit = u8::try_from(magnitude % 10).unwrap_or(0);
        magnitude /= 10;
        digit
    };
    let mut low = if scaled < 0 { 0xd } else { 0xc };
    let mut octets = [0u8; 16];
    let octets = octets.get_mut(..size).unwrap_or_default();
    for octet in octets.iter_mut().rev() {
        *octet = (next_digit() << 4) | low;
        low = next_digit();
    }
    out.put_bytes(octets);
}

impl<const D: u16, const S: i16> Unmarshal for Fixed<D, S> {
    const MIN_SIZE: usize = Self::OCTETS;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Self::new(get(input, Self::OCTETS)?).map_err(|_| CdrError::BadFixed)
    }
}

fn get(input: &mut Decoder<'_>, size: usize) -> Result<i128, CdrError> {
    let octets = input.get_bytes(size)?;
    let (last, rest) = octets.split_last().ok_or(CdrError::BadFixed)?;
    let digits = rest
        .iter()
        .flat_map(|octet| [octet >> 4, octet & 0xf])
        .chain([last >> 4]);
    let mut magnitude = 0i128;
    for digit in digits {
        if digit > 9 {
            return Err(CdrError::BadFixed);
        }
        // 31 digits and one more don't overflow.
        magnitude = magnitude * 10 + i128::from(digit);
    }
    match last & 0xf {
        0xc => Ok(magnitude),
        0xd => Ok(-magnitude),
        _ => Err(CdrError::BadFixed),
    }
}

/// Returns the octets on the wire of a type of this many digits.
fn octets(digits: u16) -> usize {
    usize::from(digits.min(31)) / 2 + 1
}

impl Decimal {
    /// Writes the number as a value of type `fixed<digits, scale>`.
    ///
    /// # Errors
    /// [`CdrError::BadFixed`] if the type has too few digits, before the point or after it.
    pub fn marshal_as(
        self,
        digits: u16,
        scale: i16,
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        let number = self.truncate(scale).map_err(|_| CdrError::BadFixed)?;
        if number != self || number.digits() > digits {
            return Err(CdrError::BadFixed);
        }
        put(number.scaled(), octets(digits), out);
        Ok(())
    }

    /// Reads a number of type `fixed<digits, scale>`.
    ///
    /// # Errors
    /// [`CdrError::Truncated`]; [`CdrError::BadFixed`] for ill-formed input.
    pub fn unmarshal_as(
        digits: u16,
        scale: i16,
        input: &mut Decoder<'_>,
    ) -> Result<Self, CdrError> {
        let scaled = get(input, octets(digits))?;
        let number = Self::new(scaled, scale).map_err(|_| CdrError::BadFixed)?;
        // An even number of digits has room for one more.
        match number.digits() > digits {
            true => Err(CdrError::BadFixed),
            false => Ok(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_number_reads_back_as_the_number() {
        for text in ["123.45", "-0.01", "0.00", "999.99", "-999.99"] {
            assert_eq!(text.parse::<Fixed<5, 2>>().unwrap().to_string(), text);
        }
        assert_eq!(
            "12300".parse::<Fixed<3, -2>>().unwrap().to_string(),
            "12300"
        );
        assert_eq!("0".parse::<Fixed<3, -2>>().unwrap().to_string(), "0");
        assert_eq!("7".parse::<Fixed<1, 0>>().unwrap().to_string(), "7");
        assert_eq!("+1.5D".parse::<Fixed<5, 2>>().unwrap().scaled(), 150);
        assert_eq!(".5".parse::<Fixed<5, 2>>().unwrap().scaled(), 50);
        assert_eq!("1.500".parse::<Fixed<5, 2>>().unwrap().scaled(), 150);
    }

    #[test]
    fn text_that_is_no_number_of_the_type_is_refused() {
        let parse = str::parse::<Fixed<5, 2>>;
        assert_eq!(parse("1000"), Err(FixedError::TooManyDigits { digits: 5 }));
        assert_eq!(parse("1.001"), Err(FixedError::TooPrecise { scale: 2 }));
        for text in ["", ".", "-", "1,5", "0x1", "1.2.3", "--1", "1e3"] {
            assert_eq!(parse(text), Err(FixedError::NotANumber), "{text}");
        }
        assert!(parse(&"9".repeat(400)).is_err());
        assert!(parse(&"0".repeat(400)).is_ok());
    }

    #[test]
    fn thirty_one_digits_fit_and_one_more_does_not() {
        let most = 10i128.pow(31) - 1;
        assert_eq!(Fixed::<31, 0>::new(most).unwrap().scaled(), most);
        assert!(Fixed::<31, 0>::new(most + 1).is_err());
        assert!(Fixed::<31, 0>::new(-most - 1).is_err());
    }

    #[test]
    fn a_digit_that_a_type_has_no_room_for_but_the_wire_has_is_refused() {
        let read = |octets: &[u8]| {
            let coding = crate::Coding::default();
            let mut input = Decoder::new(octets, crate::ByteOrder::Big, coding);
            Decimal::unmarshal_as(4, 0, &mut input)
        };
        assert_eq!(read(&[0x01, 0x23, 0x4c]).map(Decimal::scaled), Ok(1234));
        assert_eq!(read(&[0x91, 0x23, 0x4c]), Err(CdrError::BadFixed));
    }

    #[test]
    fn numbers_compare_by_value() {
        assert!(Fixed::<5, 2>::literal(-1) < Fixed::literal(0));
        assert_eq!(Fixed::<5, 2>::default(), Fixed::literal(0));
    }
}
