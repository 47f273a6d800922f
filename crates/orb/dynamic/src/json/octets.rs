//! Octets as text.

use data_encoding::{BASE64, BASE64_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE};

/// Form in which a sequence of octets is written in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OctetForm {
    /// Base64 string (RFC 4648, §4), such as `"base64:AQID"`.
    #[default]
    Base64,
    /// String of hexadecimal digits, such as `"hex:010203"`.
    Hex,
    /// Array of numbers, such as `[1, 2, 3]`.
    Array,
}

/// Returns the octets as text in the given form.
pub(super) fn text(octets: &[u8], form: OctetForm) -> String {
    match form {
        OctetForm::Hex => format!("hex:{}", HEXLOWER.encode(octets)),
        _ => format!("base64:{}", BASE64.encode(octets)),
    }
}

/// Returns the octets that a text denotes in base64 or hexadecimal form.
///
/// # Errors
/// A description of what is wrong with the text.
pub(super) fn octets(text: &str) -> Result<Vec<u8>, &'static str> {
    let without_space = |text: &str| text.split_whitespace().collect::<String>();
    if let Some(digits) = text.strip_prefix("hex:") {
        return HEXLOWER_PERMISSIVE
            .decode(without_space(digits).as_bytes())
            .map_err(|_| "this is not an even number of hexadecimal digits");
    }
    if let Some(letters) = text.strip_prefix("base64:") {
        return BASE64_NOPAD
            .decode(without_space(letters).trim_end_matches('=').as_bytes())
            .map_err(|_| "this is not base64");
    }
    Err("octets are written `base64:…`, `hex:…` or as an array of numbers")
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
