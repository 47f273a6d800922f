//! Lexer: bytes of one file to tokens. Comments and line ends are tokens too: the preprocessor
//! needs line ends, and documentation comes from comments.
//!
//! Source positions refer to the original text, even where a backslash at a line's end joins lines.

mod scan;

use std::borrow::Cow;

use crate::session::{Session, Symbol};
use crate::source::{FileId, Place};

pub(crate) use scan::Scanner;

/// Kind of a token. Keywords are identifiers here, as macros may have their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Newline,
    LineComment,
    BlockComment,
    Ident,
    Number,
    String,
    WString,
    Char,
    WChar,
    LBrace,
    RBrace,
    LParen,
    RParen,
    LBracket,
    RBracket,
    Lt,
    Gt,
    Shl,
    Shr,
    Semicolon,
    Colon,
    ColonColon,
    Comma,
    Eq,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Tilde,
    Pipe,
    Caret,
    Amp,
    At,
    Hash,
    HashHash,
    Question,
    Bang,
    AndAnd,
    OrOr,
    EqEq,
    NotEq,
    LtEq,
    GtEq,
    Dot,
    /// Unterminated comment or literal, or a character that IDL does not use.
    Invalid,
    /// End of the main IDL file.
    End,
}

impl Kind {
    /// Returns the description of the token kind for diagnostics.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Kind::Ident => "an identifier",
            Kind::Number => "a number",
            Kind::String => "a string literal",
            Kind::WString => "a wide string literal",
            Kind::Char => "a character literal",
            Kind::WChar => "a wide character literal",
            Kind::LBrace => "`{`",
            Kind::RBrace => "`}`",
            Kind::LParen => "`(`",
            Kind::RParen => "`)`",
            Kind::LBracket => "`[`",
            Kind::RBracket => "`]`",
            Kind::Lt => "`<`",
            Kind::Gt => "`>`",
            Kind::Semicolon => "`;`",
            Kind::Colon => "`:`",
            Kind::ColonColon => "`::`",
            Kind::Comma => "`,`",
            Kind::Eq => "`=`",
            Kind::Hash => "`#`",
            Kind::At => "`@`",
            Kind::End => "the end of the file",
            Kind::Newline => "the end of the line",
            _ => "this",
        }
    }
}

/// Token with its source position. A token that a macro produced has the position of the macro's
/// use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Text of the token; empty for line ends and comments.
    pub(crate) text: Symbol,
    pub(crate) place: Place,
    /// Index of the documentation before the token, plus 1; 0 for none.
    pub(crate) doc: u32,
    /// `true` if white space or a comment stands before the token on its line.
    pub(crate) spaced: bool,
    /// `true` if the token is a macro's name found in its own expansion, which is not expanded any
    /// more.
    pub(crate) no_expand: bool,
}

/// Returns the annotation that a comment's text is: `rt` with arguments, or `event` with or without.
pub(crate) fn annotation_in(text: &str) -> Option<&'static str> {
    let line = text.lines().next().unwrap_or("");
    let behind = |name| Some(line.strip_prefix(name)?.trim_matches([' ', '\t']));
    if behind("@rt").is_some_and(|rest| rest.starts_with('(')) {
        return Some("rt");
    }
    let rest = behind("@event")?;
    (rest.starts_with('(') || rest.is_empty()).then_some("event")
}

/// Returns the tokens of a file, each line ended by a [`Kind::Newline`], except perhaps the last.
/// `invalid` holds the positions of bytes that are not UTF-8.
pub(crate) fn tokens(session: &mut Session, file: FileId, invalid: &[usize]) -> Vec<Token> {
    let source = session.file(file).clone();
    let spliced = Spliced::new(source.text());
    let mut tokens: Vec<Token> = Vec::new();
    let mut scanner = Scanner::new(&spliced.text);
    let mut previous_end = 0;
    let mut invalid = invalid.iter().copied().peekable();
    let mut told_of_comment = false;
    while let Some(kind) = scanner.next() {
        let span = scanner.span();
        let place = Place {
            file,
            start: spliced.start(span.start),
            end: spliced.end(span.end),
        };
        let mut is_valid = true;
        while let Some(&bad) = invalid.peek().filter(|bad| **bad < place.end as usize) {
            invalid.next();
            is_valid = false;
            let comment = matches!(kind, Kind::LineComment | Kind::BlockComment);
            report_invalid_byte(session, file, bad, comment, &mut told_of_comment);
        }
        let text = match kind {
            Kind::Newline | Kind::LineComment | Kind::BlockComment => Symbol::default(),
            // It was reported: the replacement is accepted anywhere.
            Kind::String | Kind::Char if !is_valid => session
                .names
                .intern(&scanner.slice().replace('\u{FFFD}', "?")),
            _ => session.names.intern(scanner.slice()),
        };
        let spaced = span.start != previous_end;
        previous_end = span.end;
        tokens.push(Token {
            kind,
            text,
            place,
            doc: 0,
            spaced,
            no_expand: false,
        });
        if tokens.len() > session.limits.tokens || session.is_fatal() {
            let error = session.error_at(place, "this file has too many tokens", "");
            session.report_fatal(error);
            break;
        }
    }
    tokens
}

fn report_invalid_byte(
    session: &mut Session,
    file: FileId,
    position: usize,
    in_comment: bool,
    told: &mut bool,
) {
    let start = u32::try_from(position).unwrap_or(u32::MAX);
    let place = Place {
        file,
        start,
        end: start + 3,
    };
    if !in_comment {
        let error = session
            .error_at(place, "this file is not UTF-8", "a byte that is not UTF-8")
            .with_help(
                "save the file as UTF-8, or say that it is ISO 8859-1: `--encoding latin1`, or \
                 `.encoding(Encoding::Latin1)` in a build script",
            );
        session.report(error);
    } else if !std::mem::replace(told, true) {
        let warning =
            session.warning_at(place, "a comment is not UTF-8", "a byte that is not UTF-8");
        session.report(warning);
    }
}

/// Text whose lines are joined where a backslash ends them.
struct Spliced<'a> {
    text: Cow<'a, str>,
    /// Points where lines were joined: the position in `text`, and the number of bytes omitted up
    /// to there.
    joints: Vec<(usize, usize)>,
}

impl<'a> Spliced<'a> {
    fn new(original: &'a str) -> Self {
        if !original.contains("\\\n") && !original.contains("\\\r\n") {
            return Spliced {
                text: Cow::Borrowed(original),
                joints: Vec::new(),
            };
        }
        let mut text = String::with_capacity(original.len());
        let mut joints = Vec::new();
        let mut left_out = 0;
        let mut rest = original;
        while let Some(position) = rest.find('\\') {
            let (before, from) = rest.split_at(position);
            text.push_str(before);
            let length = ["\\\n", "\\\r\n"]
                .iter()
                .find(|j| from.starts_with(**j))
                .map(|j| j.len());
            if let Some(length) = length {
                left_out += length;
                joints.push((text.len(), left_out));
                rest = &from[length..];
            } else {
                text.push('\\');
                rest = &from[1..];
            }
        }
        text.push_str(rest);
        Spliced {
            text: Cow::Owned(text),
            joints,
        }
    }

    fn original(&self, position: usize) -> usize {
        let joint = self.joints.partition_point(|(at, _)| *at <= position);
        position + joint.checked_sub(1).map_or(0, |index| self.joints[index].1)
    }

    fn start(&self, position: usize) -> u32 {
        u32::try_from(self.original(position)).unwrap_or(u32::MAX)
    }

    fn end(&self, position: usize) -> u32 {
        let original = position
            .checked_sub(1)
            .map_or(0, |last| self.original(last) + 1);
        u32::try_from(original).unwrap_or(u32::MAX)
    }
}
