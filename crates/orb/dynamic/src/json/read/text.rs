//! JSON text, read in place.
//!
//! The text is known to be JSON ([`super::check`]): nothing is checked here. An array is read
//! element by element; for an object the reader records where its members begin, by one pass over
//! it, as they may be in any order.

use std::borrow::Cow;

use serde_json::Number;

/// Token: the kind of a value, with its contents if it has no parts.
#[derive(Clone, Debug)]
pub(super) enum Token<'t> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'t, str>),
    /// Beginning of an array, whose elements follow: [`Text::more`].
    Array,
    /// Beginning of an object, whose members follow.
    Object,
}

/// Reading position in a JSON text.
#[derive(Clone, Copy)]
pub(super) struct Text<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Returns the value at the reading position. A value without parts is skipped; of an array or
    /// an object only the opening bracket is skipped.
    pub(super) fn next_token(&mut self) -> Token<'t> {
        match self.first() {
            Some(b'"') => Token::Text(self.string()),
            Some(b'[') => {
                self.at += 1;
                Token::Array
            }
            Some(b'{') => {
                self.at += 1;
                Token::Object
            }
            _ => match self.word() {
                "true" => Token::Bool(true),
                "false" => Token::Bool(false),
                word => serde_json::from_str(word).map_or(Token::Null, Token::Number),
            },
        }
    }

    /// Returns whether another element or member follows; if not, skips the closing bracket.
    pub(super) fn more(&mut self, end: u8) -> bool {
        if self.first() == Some(b',') {
            self.at += 1;
        }
        match self.first() {
            Some(octet) if octet != end => true,
            _ => {
                self.at += 1;
                false
            }
        }
    }

    /// Reads the name of the next member and the colon; the reading position is then at its value.
    pub(super) fn name(&mut self) -> Cow<'t, str> {
        let name = self.string();
        self.first();
        self.at += 1;
        name
    }

    /// Returns the number of elements or members from the reading position to the end of the array
    /// or object.
    pub(super) fn count(mut self, end: u8) -> usize {
        let mut count = 0;
        while self.more(end) {
            count += 1;
            if end == b'}' {
                self.pass();
                self.first();
                self.at += 1;
            }
            self.pass();
        }
        count
    }

    /// Skips one JSON value.
    pub(super) fn pass(&mut self) {
        match self.first() {
            Some(b'"') => self.pass_string(),
            Some(b'[' | b'{') => self.pass_parts(),
            _ => {
                self.word();
            }
        }
    }

    /// Skips one JSON value, and returns the text of the value.
    pub(super) fn part(&mut self) -> &'t str {
        self.first();
        let begin = self.at;
        self.pass();
        self.text.get(begin..self.at).unwrap_or_default()
    }

    fn pass_parts(&mut self) {
        let mut depth = 0usize;
        while let Some(octet) = self.octets().get(self.at) {
            match octet {
                b'"' => {
                    self.pass_string();
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn pass_string(&mut self) {
        self.at += 1;
        while let Some(octet) = self.octets().get(self.at) {
            self.at += match octet {
                b'\\' => 2,
                _ => 1,
            };
            if *octet == b'"' {
                return;
            }
        }
    }

    fn string(&mut self) -> Cow<'t, str> {
        self.first();
        let begin = self.at;
        self.pass_string();
        let quoted = self.text.get(begin..self.at).unwrap_or_default();
        let text = quoted.get(1..quoted.len().saturating_sub(1));
        let text = text.unwrap_or_default();
        if text.contains('\\') {
            return serde_json::from_str(quoted).map_or(Cow::Borrowed(text), Cow::Owned);
        }
        Cow::Borrowed(text)
    }

    /// Reads a JSON number, `true`, `false` or `null`.
    fn word(&mut self) -> &'t str {
        let begin = self.at;
        let rest = self.octets().get(begin..).unwrap_or_default();
        let ends = |octet: &u8| matches!(octet, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        self.at += length;
        self.text.get(begin..self.at).unwrap_or_default()
    }

    /// Skips white space, and returns the first byte after it.
    fn first(&mut self) -> Option<u8> {
        loop {
            let octet = *self.octets().get(self.at)?;
            if !matches!(octet, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(octet);
            }
            self.at += 1;
        }
    }

    fn octets(&self) -> &'t [u8] {
        self.text.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::{Text, Token};

    #[test]
    fn parts_are_found_whatever_stands_between_and_within_them() {
        let mut text = Text::new(" [ 1 ,\t{\"a]\\\"}\" : [ ] } , \"\\u00e9,\" ]\n");
        assert!(matches!(text.next_token(), Token::Array));
        assert_eq!(text.count(b']'), 3);
        assert!(text.more(b']'));
        assert!(matches!(text.next_token(), Token::Number(one) if one.as_u64() == Some(1)));
        assert!(text.more(b']'));
        let within = text;
        text.pass();
        assert!(text.more(b']'));
        assert!(matches!(text.next_token(), Token::Text(text) if text == "é,"));
        assert!(!text.more(b']'));
        let mut text = within;
        assert!(matches!(text.next_token(), Token::Object));
        assert_eq!(text.count(b'}'), 1);
        assert!(text.more(b'}'));
        assert_eq!(text.name(), "a]\"}");
        assert!(matches!(text.next_token(), Token::Array));
        assert!(!text.more(b']'));
        assert!(!text.more(b'}'));
    }
}
