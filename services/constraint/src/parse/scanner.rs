//! Characters of a constraint.

/// Position in a text, which moves on over characters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) const fn text(&self) -> &'t str {
        self.text
    }

    pub(super) const fn position(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the character behind the next one.
    pub(super) fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn take(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Moves over a character if it is next; returns whether it was.
    pub(super) fn take_if(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.at += wanted.len_utf8();
        }
        is_next
    }

    /// Moves over all characters that `is_wanted` accepts, and returns them.
    pub(super) fn take_while(&mut self, is_wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|one| !is_wanted(one)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    pub(super) fn skip_space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Moves over an identifier if one begins here, perhaps with a backslash before it; returns it without.
    pub(super) fn take_name(&mut self) -> Option<Name<'t>> {
        let is_escaped = self.peek() == Some('\\');
        let first = match is_escaped {
            true => self.peek_second(),
            false => self.peek(),
        };
        if !first.is_some_and(begins_name) {
            return None;
        }
        self.at += usize::from(is_escaped);
        Some(Name {
            text: self.take_while(|one| begins_name(one) || one.is_ascii_digit()),
            is_escaped,
        })
    }
}

/// Identifier of a constraint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'t> {
    pub(super) text: &'t str,
    /// `true` if a backslash says that it is no word of the language.
    pub(super) is_escaped: bool,
}

const fn begins_name(one: char) -> bool {
    one.is_ascii_alphabetic() || one == '_'
}
