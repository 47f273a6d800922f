//! Numeric types that Rust lacks: `long double`, and `fixed` with its arithmetic.

use punctual_cdr::{CdrError, Decimal, Decoder, Fixed, FixedError, LongDouble, Unmarshal};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// Checks that two `long double`s compare as their nearest `double`s do, and that a `double` is
/// unchanged by conversion to `long double` and back.
pub(super) fn long_double(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let one = LongDouble::unmarshal(input)?;
    let other = LongDouble::unmarshal(input)?;
    assert!(!format!("{one} {one:?}").is_empty());
    assert_eq!(
        LongDouble::from_bits(one.to_bits()).to_bits(),
        one.to_bits()
    );
    let near = one.to_f64();
    assert_eq!(near.is_nan(), one.is_nan());
    if !one.is_nan() {
        assert_eq!(LongDouble::from(near).to_f64().to_bits(), near.to_bits());
    }
    if one < other {
        assert!(near <= other.to_f64());
    }
    assert_eq!(one.eq(&other), other.eq(&one));
    // Any octets are a valid `double`.
    let double = input.get_f64()?;
    let wide = LongDouble::from_f64(double);
    assert!(wide.to_f64() == double || double.is_nan() && wide.is_nan());
    Ok(())
}

/// Checks the arithmetic of two decimal numbers, as far as the results do not need too many digits.
pub(super) fn decimals(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let (one, other) = (
        Fixed::<31, 6>::unmarshal(input)?,
        Fixed::<9, 3>::unmarshal(input)?,
    );
    assert_eq!((one.digits(), one.scale()), (31, 6));
    assert!(!format!("{one:?}").is_empty());
    assert_eq!(one.to_string().parse(), Ok(one));
    let (one, other) = (Decimal::from(one), Decimal::from(other));
    if let Ok(sum) = one.checked_add(other) {
        // Digits behind the point are lost only where there are 31 of them.
        if sum.digits() < 31 {
            assert_eq!(sum.checked_sub(other), Ok(one));
        }
        assert_eq!(Ok(sum), other.checked_add(one));
    }
    assert_eq!(one.checked_mul(other), other.checked_mul(one));
    match one.checked_div(other) {
        Err(FixedError::DivisionByZero) => assert_eq!(other, Decimal::from(0_i32)),
        Ok(quotient) if one == other => assert_eq!(quotient, Decimal::from(1_u8)),
        _ => {}
    }
    properties(one);
    properties(other);
    assert_eq!(
        one < other,
        one.to_f64() < other.to_f64() || near(one, other) && one < other
    );
    Ok(())
}

/// Returns whether two numbers have the same nearest `double`.
#[allow(clippy::float_cmp)] // They are the same one or are not.
fn near(one: Decimal, other: Decimal) -> bool {
    one.to_f64() == other.to_f64()
}

/// Checks the arithmetic and conversion properties of one fixed-point number.
fn properties(number: Decimal) {
    assert_eq!(number.to_string().parse(), Ok(number));
    assert!(!format!("{number:?}").is_empty());
    assert_eq!(-(-number), number);
    let truncated = number.truncate(0).expect("it has fewer digits");
    let rounded = number.round(1).expect("it has fewer digits");
    assert!((rounded.to_f64() - number.to_f64()).abs() <= 0.05 + number.to_f64().abs() * 1e-9);
    assert_eq!(i64::try_from(number), i64::try_from(truncated));
    if let Ok(longer) = number.round(9) {
        // The same number with more digits is equal and hashes as equal.
        assert_eq!((longer, hash(longer)), (number, hash(number)));
    }
    if let Ok(fixed) = number.to_fixed::<31, 6>() {
        assert!(Decimal::from(fixed) == number || number.scale() > 6);
    }
    assert!(number.to_fixed::<1, 0>().is_ok() == (truncated.digits() == 1));
    assert_eq!(Decimal::new(number.scaled(), number.scale()), Ok(number));
}

fn hash(number: Decimal) -> u64 {
    let mut hasher = DefaultHasher::new();
    number.hash(&mut hasher);
    hasher.finish()
}

/// Checks that a number read from text keeps its value as a `fixed`.
pub(super) fn decimal_of_text(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let text = String::unmarshal(input)?;
    match text.parse::<Decimal>() {
        Ok(number) => {
            assert_eq!(number.to_string().parse(), Ok(number));
            if let Ok(fixed) = text.parse::<Fixed<9, 3>>() {
                assert_eq!(Decimal::from(fixed), number);
            }
            if let Ok(fixed) = text.parse::<Fixed<5, -2>>() {
                assert_eq!(Decimal::from(fixed), number);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    Ok(())
}
