//! Names of logs and of their readers.

use std::fmt;
use std::str::FromStr;

/// Maximum length of a name, in bytes.
const MOST: usize = 64;

/// Name of a log, or of a reader: 1 to 64 letters, digits, `-` and `_` of ASCII, which every store
/// can use as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Box<str>);

/// Reason why a text is no name of a log or reader.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no name of a log or reader: names are 1 to 64 letters, digits, `-` and `_` of ASCII"
)]
pub struct InvalidName {
    /// Beginning of the text.
    pub text: String,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Name {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if (1..=MOST).contains(&text.len()) && text.bytes().all(is_allowed) {
            return Ok(Self(text.into()));
        }
        let text = text.chars().take(MOST).collect();
        Err(InvalidName { text })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_letters_digits_and_two_signs_and_a_limited_length() {
        for good in ["a", "channel_1-x", &"n".repeat(64)] {
            assert_eq!(good.parse::<Name>().unwrap().as_str(), good);
        }
        for bad in ["", "a.b", "a b", "*", ">", "\u{e9}", &"n".repeat(65)] {
            let error = bad.parse::<Name>().unwrap_err();
            assert!(error.to_string().contains("no name of a log"), "{error}");
        }
    }
}
