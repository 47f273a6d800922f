//! Octets as text.

/// How octets are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OctetForm {
    /// `"base64:AQID"` (RFC 4648, §4).
    #[default]
    Base64,
    /// `"hex:010203"`.
    Hex,
    /// `[1, 2, 3]`.
    Array,
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The octets in a form that is text.
pub(super) fn text(octets: &[u8], form: OctetForm) -> String {
    match form {
        OctetForm::Hex => octets.iter().fold(String::from("hex:"), |mut text, octet| {
            text.extend(
                [octet >> 4, octet & 0xf]
                    .map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0')),
            );
            text
        }),
        _ => octets
            .chunks(3)
            .fold(String::from("base64:"), |mut text, chunk| {
                text.extend(letters(chunk));
                text
            }),
    }
}

/// Four letters for one to three octets.
fn letters(chunk: &[u8]) -> [char; 4] {
    let octet = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
    let bits = octet(0) << 16 | octet(1) << 8 | octet(2);
    std::array::from_fn(|place| {
        if place > chunk.len() {
            return '=';
        }
        let letter = bits >> (18 - 6 * place) & 0x3f;
        ALPHABET
            .get(letter as usize)
            .copied()
            .map_or('=', char::from)
    })
}

/// The octets that a text says.
///
/// # Errors
/// What is wrong with it.
pub(super) fn octets(text: &str) -> Result<Vec<u8>, &'static str> {
    if let Some(digits) = text.strip_prefix("hex:") {
        return of_hex(digits);
    }
    if let Some(letters) = text.strip_prefix("base64:") {
        return of_base64(letters);
    }
    Err("octets are written `base64:…`, `hex:…` or as an array of numbers")
}

fn of_hex(digits: &str) -> Result<Vec<u8>, &'static str> {
    let wrong = "this is not an even number of hexadecimal digits";
    let mut octets = Vec::with_capacity(digits.len() / 2);
    let mut high = None;
    for digit in digits.chars().filter(|digit| !digit.is_whitespace()) {
        let digit = digit
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok());
        let digit = digit.ok_or(wrong)?;
        match high.take() {
            None => high = Some(digit << 4),
            Some(high) => octets.push(high | digit),
        }
    }
    match high {
        None => Ok(octets),
        Some(_) => Err(wrong),
    }
}

fn of_base64(letters: &str) -> Result<Vec<u8>, &'static str> {
    let wrong = "this is not base64";
    let mut octets = Vec::with_capacity(letters.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0u32);
    let letters = letters.trim_end_matches('=');
    for letter in letters
        .bytes()
        .filter(|letter| !letter.is_ascii_whitespace())
    {
        let place = ALPHABET
            .iter()
            .position(|one| *one == letter)
            .ok_or(wrong)?;
        bits = bits << 6 | u32::try_from(place).map_err(|_| wrong)?;
        count += 6;
        if count >= 8 {
            count -= 8;
            octets.push(u8::try_from(bits >> count & 0xff).map_err(|_| wrong)?);
        }
    }
    // A letter alone says less than an octet.
    match count {
        6 => Err(wrong),
        _ => Ok(octets),
    }
}

#[cfg(test)]
mod tests {
    use super::{OctetForm, octets, text};

    #[test]
    fn octets_come_back_from_either_text() {
        for length in 0..20u8 {
            let some: Vec<u8> = (0..length).map(|octet| octet.wrapping_mul(37)).collect();
            for form in [OctetForm::Hex, OctetForm::Base64] {
                assert_eq!(octets(&text(&some, form)), Ok(some.clone()));
            }
        }
        assert_eq!(text(b"Man", OctetForm::Base64), "base64:TWFu");
        assert_eq!(text(b"Ma", OctetForm::Base64), "base64:TWE=");
        assert_eq!(text(b"M", OctetForm::Base64), "base64:TQ==");
        assert_eq!(octets("hex:0aFF"), Ok(vec![10, 255]));
    }

    #[test]
    fn what_is_no_text_of_octets_is_refused() {
        for wrong in ["hex:0", "hex:0g", "base64:A", "base64:?", "01", ""] {
            assert!(octets(wrong).is_err(), "{wrong}");
        }
    }
}
