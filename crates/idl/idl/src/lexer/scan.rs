//! Text to kinds of tokens with their spans. Written by hand: a generated scanner was a seventh of what a new program compiles.

use std::ops::Range;

use super::{Kind, annotation_in};

/// Iterates over the kinds of a text's tokens.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    start: usize,
    position: usize,
}

impl<'a> Scanner<'a> {
    /// Returns a scanner that stands at the beginning of a text.
    pub(crate) fn new(text: &'a str) -> Self {
        Scanner {
            text,
            start: 0,
            position: 0,
        }
    }

    /// Returns where the latest token stands in the text.
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.position
    }

    /// Returns the text of the latest token.
    pub(super) fn slice(&self) -> &'a str {
        &self.text[self.span()]
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn bytes(&self) -> &'a [u8] {
        self.rest().as_bytes()
    }

    fn skip_while(&mut self, mut is_part: impl FnMut(u8) -> bool) {
        let length = self.bytes().iter().take_while(|byte| is_part(**byte));
        self.position += length.count();
    }

    fn skip_space(&mut self) {
        loop {
            self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c));
            if !self.rest().starts_with('\u{feff}') {
                return;
            }
            self.position += '\u{feff}'.len_utf8();
        }
    }

    /// Moves behind an operator or a bracket, if one begins here.
    fn punctuation(&mut self) -> Option<Kind> {
        let bytes = self.bytes();
        let second = bytes.get(1).copied();
        let pair = match (*bytes.first()?, second) {
            (b'<', Some(b'<')) => Some(Kind::Shl),
            (b'>', Some(b'>')) => Some(Kind::Shr),
            (b':', Some(b':')) => Some(Kind::ColonColon),
            (b'#', Some(b'#')) => Some(Kind::HashHash),
            (b'&', Some(b'&')) => Some(Kind::AndAnd),
            (b'|', Some(b'|')) => Some(Kind::OrOr),
            (b'=', Some(b'=')) => Some(Kind::EqEq),
            (b'!', Some(b'=')) => Some(Kind::NotEq),
            (b'<', Some(b'=')) => Some(Kind::LtEq),
            (b'>', Some(b'=')) => Some(Kind::GtEq),
            _ => None,
        };
        if pair.is_some() {
            self.position += 2;
            return pair;
        }
        let kind = match bytes[0] {
            b'\n' => Kind::Newline,
            b'{' => Kind::LBrace,
            b'}' => Kind::RBrace,
            b'(' => Kind::LParen,
            b')' => Kind::RParen,
            b'[' => Kind::LBracket,
            b']' => Kind::RBracket,
            b'<' => Kind::Lt,
            b'>' => Kind::Gt,
            b';' => Kind::Semicolon,
            b':' => Kind::Colon,
            b',' => Kind::Comma,
            b'=' => Kind::Eq,
            b'+' => Kind::Plus,
            b'-' => Kind::Minus,
            b'*' => Kind::Star,
            b'/' => Kind::Slash,
            b'%' => Kind::Percent,
            b'~' => Kind::Tilde,
            b'|' => Kind::Pipe,
            b'^' => Kind::Caret,
            b'&' => Kind::Amp,
            b'@' => Kind::At,
            b'#' => Kind::Hash,
            b'?' => Kind::Question,
            b'!' => Kind::Bang,
            b'.' => Kind::Dot,
            _ => return None,
        };
        self.position += 1;
        Some(kind)
    }

    /// Moves behind a number, with all letters that follow: the parser says which of these are wrong.
    fn number(&mut self) -> Kind {
        if !matches!(self.bytes(), [b'0', b'x' | b'X', ..]) {
            self.skip_while(|byte| byte.is_ascii_digit());
            if self.bytes().first() == Some(&b'.') {
                self.position += 1;
                self.skip_while(|byte| byte.is_ascii_digit());
            }
            if let [b'e' | b'E', b'+' | b'-', digit, ..] = self.bytes()
                && digit.is_ascii_digit()
            {
                self.position += 2;
            }
        }
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        Kind::Number
    }

    /// Moves behind the rest of a literal. An unterminated one ends with its line.
    fn quoted(&mut self, prefix: usize, kind: Kind) -> Kind {
        let quote = self.bytes()[prefix - 1];
        self.position += prefix;
        let mut escaped = false;
        for (index, byte) in self.rest().bytes().enumerate() {
            match byte {
                b'\n' => {
                    self.position += index;
                    return Kind::Invalid;
                }
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                _ if byte == quote => {
                    self.position += index + 1;
                    return kind;
                }
                _ => {}
            }
        }
        self.position = self.text.len();
        Kind::Invalid
    }

    /// Moves behind a comment. `//@rt` and `//@event` at the beginning of a line are no comments: only the slashes are left
    /// out, so that compilers without annotations can read the file. Returns `None` for these.
    fn line_comment(&mut self) -> Option<Kind> {
        self.position += 2;
        let rest = self.rest();
        if annotation_in(rest).is_some() && self.begins_line() {
            return None;
        }
        self.position += rest.find('\n').unwrap_or(rest.len());
        Some(Kind::LineComment)
    }

    fn block_comment(&mut self) -> Kind {
        self.position += 2;
        let Some(length) = self.rest().find("*/") else {
            self.position = self.text.len();
            return Kind::Invalid;
        };
        self.position += length + 2;
        Kind::BlockComment
    }

    /// Returns whether the token that begins here has only space before it on its line.
    fn begins_line(&self) -> bool {
        let before = self.text[..self.start].bytes().rev();
        let mut others = before.skip_while(|byte| matches!(byte, b' ' | b'\t'));
        others.next().is_none_or(|byte| byte == b'\n')
    }
}

impl Iterator for Scanner<'_> {
    type Item = Kind;

    fn next(&mut self) -> Option<Kind> {
        loop {
            self.skip_space();
            self.start = self.position;
            return Some(match self.bytes() {
                [] => return None,
                [b'/', b'/', ..] => match self.line_comment() {
                    Some(comment) => comment,
                    None => continue,
                },
                [b'/', b'*', ..] => self.block_comment(),
                [b'L', b'"', ..] => self.quoted(2, Kind::WString),
                [b'L', b'\'', ..] => self.quoted(2, Kind::WChar),
                [b'"', ..] => self.quoted(1, Kind::String),
                [b'\'', ..] => self.quoted(1, Kind::Char),
                [b'A'..=b'Z' | b'a'..=b'z' | b'_', ..] => {
                    self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                    Kind::Ident
                }
                [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => self.number(),
                _ => self.punctuation().unwrap_or_else(|| {
                    self.position += self.rest().chars().next().map_or(0, char::len_utf8);
                    Kind::Invalid
                }),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Scanner;
    use crate::lexer::Kind;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let mut scanner = Scanner::new(text);
        std::iter::from_fn(|| scanner.next().map(|kind| (kind, scanner.slice()))).collect()
    }

    #[test]
    fn numbers_take_exponents_and_the_letters_behind_them() {
        for text in [
            "0", "017", "0x1Fu", "1.", ".5", "1.5e-3", "2E+10d", "1e5", "3.0D", "0xe",
        ] {
            assert_eq!(kinds(text), [(Kind::Number, text)]);
        }
        let sum = [(Kind::Number, "1e"), (Kind::Plus, "+"), (Kind::Ident, "x")];
        assert_eq!(kinds("1e+x"), sum);
        let sum = [
            (Kind::Number, "0xe"),
            (Kind::Plus, "+"),
            (Kind::Number, "1"),
        ];
        assert_eq!(kinds("0xe+1"), sum);
        assert_eq!(kinds("a.b").len(), 3);
    }

    #[test]
    fn the_longest_operator_is_taken() {
        let found = kinds("<<<=>=>>>:::==!=!||&&&###");
        let texts: Vec<_> = found.iter().map(|(_, text)| *text).collect();
        let expected = [
            "<<", "<=", ">=", ">>", ">", "::", ":", "==", "!=", "!", "||", "&&", "&", "##", "#",
        ];
        assert_eq!(texts, expected);
        assert!(found.iter().all(|(kind, _)| *kind != Kind::Invalid));
    }

    #[test]
    fn what_does_not_end_is_invalid_up_to_its_line_or_the_end() {
        let found = kinds("\"a\nL'b\\'\n/* c \n d");
        let expected = [
            (Kind::Invalid, "\"a"),
            (Kind::Newline, "\n"),
            (Kind::Invalid, "L'b\\'"),
            (Kind::Newline, "\n"),
            (Kind::Invalid, "/* c \n d"),
        ];
        assert_eq!(found, expected);
        assert_eq!(kinds("é$"), [(Kind::Invalid, "é"), (Kind::Invalid, "$")]);
    }

    #[test]
    fn annotations_behind_slashes_are_read_and_other_comments_are_not() {
        assert_eq!(kinds(" //@rt(a)")[0], (Kind::At, "@"));
        assert_eq!(kinds("x //@rt(a)")[1], (Kind::LineComment, "//@rt(a)"));
        assert_eq!(kinds("//@rtx\ny")[0], (Kind::LineComment, "//@rtx"));
        assert_eq!(kinds("\u{feff}/**/L").len(), 2);
    }
}
