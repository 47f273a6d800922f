//! Arithmetic of fixed-point constants (CORBA 3.3 part 1, §7.10.2): exact, then cut to 31 digits.

use std::cmp::Ordering;

use crate::model::FixedValue;

/// Largest number of decimal digits of a fixed-point value.
pub(crate) const MAX_DIGITS: usize = 31;

/// Decimal digits of a fixed-point value as numbers, most significant first.
type Digits = Vec<u8>;

/// Parses a literal such as `1.25d`; returns `None` when it has no digits or more than 31.
pub(crate) fn parse(literal: &str) -> Option<FixedValue> {
    let number = literal.trim_end_matches(['d', 'D']);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let mut all = whole.bytes().chain(fraction.bytes());
    let long = whole.len() + fraction.len() > MAX_DIGITS;
    if long || !all.all(|digit| digit.is_ascii_digit()) || number.len() < 2 && number == "." {
        return None;
    }
    let digits = whole
        .bytes()
        .chain(fraction.bytes())
        .map(|digit| digit - b'0')
        .collect();
    Some(normal(false, digits, fraction.len()))
}

pub(crate) fn negate(value: &FixedValue) -> FixedValue {
    let zero = value.digits.bytes().all(|digit| digit == b'0');
    FixedValue {
        negative: !value.negative && !zero,
        ..value.clone()
    }
}

pub(crate) fn add(a: &FixedValue, b: &FixedValue) -> Option<FixedValue> {
    let scale = usize::from(a.scale.max(b.scale));
    let (x, y) = (scaled(a, scale), scaled(b, scale));
    let (negative, sum) = if a.negative == b.negative {
        (a.negative, sum(&x, &y))
    } else if compare(&x, &y) == Ordering::Less {
        (b.negative, difference(&y, &x))
    } else {
        (a.negative, difference(&x, &y))
    };
    bounded(negative, sum, scale)
}

pub(crate) fn subtract(a: &FixedValue, b: &FixedValue) -> Option<FixedValue> {
    add(a, &negate(b))
}

pub(crate) fn multiply(a: &FixedValue, b: &FixedValue) -> Option<FixedValue> {
    let (x, y) = (scaled(a, a.scale.into()), scaled(b, b.scale.into()));
    let mut product = vec![0_u32; x.len() + y.len()];
    for (i, dx) in x.iter().enumerate() {
        for (j, dy) in y.iter().enumerate() {
            product[i + j + 1] += u32::from(*dx) * u32::from(*dy);
        }
    }
    for i in (1..product.len()).rev() {
        product[i - 1] += product[i] / 10;
        product[i] %= 10;
    }
    let digits = product
        .into_iter()
        .map(|digit| u8::try_from(digit).unwrap_or(9))
        .collect();
    bounded(
        a.negative != b.negative,
        digits,
        usize::from(a.scale) + usize::from(b.scale),
    )
}

/// Divides; returns `None` for too large a quotient and for division by zero.
pub(crate) fn divide(a: &FixedValue, b: &FixedValue) -> Option<FixedValue> {
    let divisor = scaled(b, b.scale.into());
    let divisor: Digits = divisor
        .iter()
        .copied()
        .skip_while(|digit| *digit == 0)
        .collect();
    if divisor.is_empty() {
        return None;
    }
    // Long division to more decimal places than can be kept.
    let places = MAX_DIGITS * 2 + usize::from(b.scale);
    let mut dividend = scaled(a, a.scale.into());
    dividend.extend(std::iter::repeat_n(0, places));
    let mut quotient = Digits::new();
    let mut rest = Digits::new();
    for digit in dividend {
        rest.push(digit);
        let mut times = 0;
        while compare(&rest, &divisor) != Ordering::Less {
            rest = difference(&rest, &divisor);
            times += 1;
        }
        quotient.push(times);
    }
    let scale = places + usize::from(a.scale);
    bounded(
        a.negative != b.negative,
        quotient,
        scale - usize::from(b.scale),
    )
}

/// Cuts a value to `scale` decimal places and at most `digits` digits; `None` when its whole
/// part does not fit.
pub(crate) fn fit(value: &FixedValue, digits: u16, scale: u16) -> Option<FixedValue> {
    let mut all = scaled(value, value.scale.into());
    let surplus = usize::from(value.scale.saturating_sub(scale));
    all.truncate(all.len() - surplus.min(all.len()));
    let result = normal(value.negative, all, usize::from(value.scale.min(scale)));
    let whole = result.digits.len() - usize::from(result.scale);
    let whole = if result.digits.starts_with('0') {
        whole.saturating_sub(1)
    } else {
        whole
    };
    (whole <= usize::from(digits - scale)).then_some(result)
}

/// Returns the digits with the point moved so that `scale` of them stand after it.
fn scaled(value: &FixedValue, scale: usize) -> Digits {
    let mut digits: Digits = value.digits.bytes().map(|digit| digit - b'0').collect();
    digits.extend(std::iter::repeat_n(0, scale - usize::from(value.scale)));
    digits
}

fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let strip = |digits: &[u8]| digits.iter().take_while(|digit| **digit == 0).count();
    let (a, b) = (&a[strip(a)..], &b[strip(b)..]);
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

fn sum(a: &[u8], b: &[u8]) -> Digits {
    let mut result = Digits::new();
    let mut carry = 0;
    let (mut a, mut b) = (a.iter().rev(), b.iter().rev());
    loop {
        let (x, y) = (a.next(), b.next());
        if x.is_none() && y.is_none() && carry == 0 {
            break;
        }
        let total = x.unwrap_or(&0) + y.unwrap_or(&0) + carry;
        result.push(total % 10);
        carry = total / 10;
    }
    result.reverse();
    result
}

/// Returns `a - b`; `a` must not be the smaller one.
fn difference(a: &[u8], b: &[u8]) -> Digits {
    let mut result = Digits::new();
    let mut borrow = 0;
    let mut b = b.iter().rev();
    for x in a.iter().rev() {
        let take = b.next().unwrap_or(&0) + borrow;
        borrow = u8::from(*x < take);
        result.push(x + 10 * borrow - take);
    }
    result.reverse();
    let leading = result.iter().take_while(|digit| **digit == 0).count();
    result.drain(..leading);
    result
}

/// Cuts a value to 31 digits, those after the point first; returns `None` when the whole part
/// alone has more.
fn bounded(negative: bool, digits: Digits, scale: usize) -> Option<FixedValue> {
    let leading = digits.iter().take_while(|digit| **digit == 0).count();
    let leading = leading.min(digits.len().saturating_sub(scale));
    let mut digits = digits[leading..].to_vec();
    let whole = digits.len().saturating_sub(scale);
    if whole > MAX_DIGITS {
        return None;
    }
    let kept = scale.min(MAX_DIGITS - whole);
    digits.truncate(digits.len() - (scale - kept).min(digits.len()));
    Some(normal(negative, digits, kept))
}

fn normal(negative: bool, mut digits: Digits, mut scale: usize) -> FixedValue {
    while digits.len() < scale {
        digits.insert(0, 0);
    }
    while scale > 0 && digits.last() == Some(&0) {
        digits.pop();
        scale -= 1;
    }
    let leading = digits.iter().take_while(|digit| **digit == 0).count();
    digits.drain(..leading.min(digits.len() - scale));
    if digits.is_empty() {
        digits.push(0);
    }
    let zero = digits.iter().all(|digit| *digit == 0);
    FixedValue {
        negative: negative && !zero,
        digits: digits
            .into_iter()
            .map(|digit| char::from(b'0' + digit))
            .collect(),
        scale: u16::try_from(scale).unwrap_or(u16::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: Option<FixedValue>) -> String {
        let value = value.unwrap();
        let point = value.digits.len() - usize::from(value.scale);
        let sign = if value.negative { "-" } else { "" };
        format!(
            "{sign}{}.{}",
            &value.digits[..point],
            &value.digits[point..]
        )
    }

    #[test]
    fn sums_products_and_quotients_are_exact_to_31_digits() {
        let f = |text| parse(text).unwrap();
        assert_eq!(shown(add(&f("1.5d"), &f("2.75d"))), "4.25");
        assert_eq!(shown(subtract(&f("1.5d"), &f("2.75d"))), "-1.25");
        assert_eq!(shown(subtract(&f("1.5d"), &f("1.5d"))), "0.");
        assert_eq!(shown(multiply(&f("12.5d"), &f("0.08d"))), "1.");
        assert_eq!(shown(divide(&f("1d"), &f("8d"))), ".125");
        assert_eq!(
            shown(divide(&f("1d"), &f("3d"))),
            ".3333333333333333333333333333333"
        );
        assert_eq!(shown(divide(&f("100d"), &f(".5d"))), "200.");
        assert!(divide(&f("1d"), &f("0.0d")).is_none());
        assert!(multiply(&f("9999999999999999d"), &f("99999999999999999d")).is_none());
    }

    #[test]
    fn a_value_is_cut_to_the_places_of_its_type() {
        let f = |text| parse(text).unwrap();
        assert_eq!(shown(fit(&f("3.14159d"), 3, 2)), "3.14");
        assert!(fit(&f("31.4d"), 3, 1).is_some());
        assert!(fit(&f("314.1d"), 3, 1).is_none());
        assert_eq!(shown(fit(&f("0.5d"), 1, 1)), ".5");
    }
}
