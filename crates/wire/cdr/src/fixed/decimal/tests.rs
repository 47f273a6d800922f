//! Tests of arithmetic, rounding and comparison of decimal numbers.

use super::*;
use proptest::prelude::*;

fn number(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn shown(number: Result<Decimal, FixedError>) -> String {
    number.map_or_else(|error| error.to_string(), |number| number.to_string())
}

#[test]
fn arithmetic_is_exact_and_cut_to_31_digits() {
    let (a, b) = (number("123.45"), number("-0.005"));
    assert_eq!(shown(a.checked_add(b)), "123.445");
    assert_eq!(shown(a.checked_sub(b)), "123.455");
    assert_eq!(shown(a.checked_mul(b)), "-0.61725");
    assert_eq!(shown(a.checked_div(b)), "-24690");
    assert_eq!(
        shown(number("1").checked_div(3)),
        "0.3333333333333333333333333333333"
    );
    assert_eq!(
        shown(number("2").checked_div(number("0.3"))),
        "6.666666666666666666666666666666"
    );
    let most = number(&"9".repeat(31));
    let too_many = FixedError::TooManyDigits { digits: 31 };
    assert_eq!(most.checked_add(1), Err(too_many));
    assert_eq!(most.checked_mul(most), Err(too_many));
    // Digits after the point give way to those before it.
    assert_eq!(most.checked_add(number("0.4")), Ok(most));
    assert_eq!(a.checked_div(0), Err(FixedError::DivisionByZero));
    assert_eq!(
        a.checked_add(Fixed::<3, 1>::literal(5)),
        Ok(number("123.95"))
    );
}

#[test]
fn rounding_is_away_from_zero_and_truncation_towards_it() {
    let round = |text: &str, scale| shown(number(text).round(scale));
    assert_eq!(round("1.245", 2), "1.25");
    assert_eq!(round("-1.245", 2), "-1.25");
    assert_eq!(round("1.244", 2), "1.24");
    assert_eq!(round("1250", -2), "1300");
    assert_eq!(round("1.5", 4), "1.5000");
    assert_eq!(shown(number("-1.249").truncate(2)), "-1.24");
    assert_eq!(
        shown(number("1").round(31)),
        "the number has more than 31 digits"
    );
    assert_eq!(number("99.99").to_fixed::<3, 1>(), Ok(Fixed::literal(999)));
    let too_many = FixedError::TooManyDigits { digits: 3 };
    assert_eq!(number("100").to_fixed::<3, 1>(), Err(too_many));
    assert_eq!(i64::try_from(number("-7.9")), Ok(-7));
    assert!(i64::try_from(number(&"9".repeat(20))).is_err());
    assert!((number("-0.125").to_f64() + 0.125).abs() < f64::EPSILON);
}

#[test]
fn numbers_are_what_they_say_whatever_their_scale() {
    use std::hash::{BuildHasher, RandomState};
    let hasher = RandomState::new();
    for (a, b) in [("1.50", "1.5"), ("0", "0.000"), ("-20.0", "-20")] {
        assert_eq!(number(a), number(b));
        assert_eq!(hasher.hash_one(number(a)), hasher.hash_one(number(b)));
    }
    assert!(number("-1.51") < number("-1.5"));
    let huge = Decimal::new(1, -31).unwrap();
    assert!(huge > number("0.0000000000000000000000000000001"));
    assert!(-huge < number("0.0000000000000000000000000000001"));
    assert_eq!(number("1.50").digits(), 3);
    assert_eq!(number("0.005").digits(), 3);
    assert!("1.2.3".parse::<Decimal>().is_err());
    assert!(Decimal::new(1, 32).is_err());
}

proptest! {
    #[test]
    fn sums_and_products_come_apart_again(
        a in -10i128.pow(15)..10i128.pow(15), b in 1..10i128.pow(15), x in 0i16..15, y in 0i16..15,
    ) {
        let (a, b) = (Decimal::new(a, x).unwrap(), Decimal::new(b, y).unwrap());
        prop_assert_eq!(a.checked_add(b).unwrap().checked_sub(b), Ok(a));
        prop_assert_eq!(a.checked_mul(b).unwrap().checked_div(b), Ok(a));
        prop_assert_eq!(a.to_string().parse(), Ok(a));
    }
}
