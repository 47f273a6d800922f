//! Words of a constraint.

use std::ops::Range;

use super::scanner::{Name, Scanner};
use crate::diagnostic::Diagnostic;
use crate::grammar::Grammar;
use crate::program::{Comparison, Literal};

/// Word of a constraint.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Literal(Literal),
    Name(Box<str>),
    Dollar,
    Open,
    Close,
    Not,
    And,
    Or,
    In,
    Exist,
    Default,
    Compare(Comparison),
    Tilde,
    Plus,
    Minus,
    Star,
    Slash,
    /// Single `=`, which some write for `==`.
    Assign,
    End,
}

/// Reader of words.
pub(super) struct Lexer<'t> {
    grammar: Grammar,
    pub(super) scanner: Scanner<'t>,
    /// Begin of the last word.
    start: usize,
}

impl<'t> Lexer<'t> {
    pub(super) const fn new(grammar: Grammar, text: &'t str) -> Self {
        Self {
            grammar,
            scanner: Scanner::new(text),
            start: 0,
        }
    }

    pub(super) fn is_at_end(&mut self) -> bool {
        self.scanner.skip_space();
        self.scanner.peek().is_none()
    }

    /// Returns the range of bytes of the last word.
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.scanner.position()
    }

    /// Makes a diagnostic of the last word.
    pub(super) fn mistake(&self, message: &str, label: &'static str) -> Diagnostic {
        self.mistake_at(self.span(), message, label)
    }

    pub(super) fn mistake_at(
        &self,
        span: Range<usize>,
        message: &str,
        label: &'static str,
    ) -> Diagnostic {
        Diagnostic::new(self.scanner.text(), span, message.to_owned(), label)
    }

    /// Lets the word that is read next begin here.
    pub(super) fn begin(&mut self) {
        self.scanner.skip_space();
        self.start = self.scanner.position();
    }

    pub(super) fn next_token(&mut self) -> Result<Token, Diagnostic> {
        self.begin();
        let Some(first) = self.scanner.peek() else {
            return Ok(Token::End);
        };
        if let Some(name) = self.scanner.take_name() {
            return Ok(self.word(name));
        }
        let second = self.scanner.peek_second();
        if first.is_ascii_digit()
            || (first == '.' && second.is_some_and(|one| one.is_ascii_digit()))
        {
            return self.number();
        }
        self.scanner.take();
        self.symbol(first)
    }

    fn word(&self, name: Name<'_>) -> Token {
        let is_extended = self.grammar == Grammar::ExtendedTcl;
        match name.text {
            _ if name.is_escaped => Token::Name(name.text.into()),
            "and" => Token::And,
            "or" => Token::Or,
            "not" => Token::Not,
            "in" => Token::In,
            "exist" => Token::Exist,
            "default" if is_extended => Token::Default,
            "TRUE" => Token::Literal(Literal::Boolean(true)),
            "FALSE" => Token::Literal(Literal::Boolean(false)),
            text => Token::Name(text.into()),
        }
    }

    fn symbol(&mut self, first: char) -> Result<Token, Diagnostic> {
        Ok(match first {
            '(' => Token::Open,
            ')' => Token::Close,
            '~' => Token::Tilde,
            '+' => Token::Plus,
            '-' => Token::Minus,
            '*' => Token::Star,
            '/' => Token::Slash,
            '\'' => Token::Literal(Literal::Text(self.string()?)),
            // Plain TCL has no `$`, which therefore means nothing else there: clients write it in both languages.
            '$' => Token::Dollar,
            '=' | '!' | '<' | '>' => return self.comparison(first),
            _ => return Err(self.unknown(first)),
        })
    }

    fn comparison(&mut self, first: char) -> Result<Token, Diagnostic> {
        let has_equal = self.scanner.take_if('=');
        Ok(match (first, has_equal) {
            ('=', true) => Token::Compare(Comparison::Equal),
            ('=', false) => Token::Assign,
            ('!', true) => Token::Compare(Comparison::Unequal),
            ('<', true) => Token::Compare(Comparison::LessOrEqual),
            ('<', false) => Token::Compare(Comparison::Less),
            ('>', true) => Token::Compare(Comparison::GreaterOrEqual),
            ('>', false) => Token::Compare(Comparison::Greater),
            _ => return Err(self.unknown(first).with_help("`not` negates")),
        })
    }

    fn unknown(&self, character: char) -> Diagnostic {
        let shown = match character.is_control() {
            true => character.escape_unicode().to_string(),
            false => character.to_string(),
        };
        let message = format!("`{shown}` is not part of the language");
        let mistake = self.mistake(&message, "unknown");
        match character {
            '"' => mistake.with_help("strings stand between single quotes"),
            '.' | '[' | ']' => mistake.with_help("it belongs to components, which begin with `$`"),
            '&' => mistake.with_help("write `and`"),
            '|' => mistake.with_help("write `or`"),
            _ => mistake,
        }
    }

    /// Reads a string, behind its first quote.
    pub(super) fn string(&mut self) -> Result<Box<str>, Diagnostic> {
        let mut text = String::new();
        loop {
            text.push_str(self.scanner.take_while(|one| one != '\'' && one != '\\'));
            match self.scanner.take() {
                Some('\'') => return Ok(text.into()),
                Some(_) => text.push(self.escaped()),
                None => {
                    let quote = self.start..self.start + 1;
                    return Err(self.mistake_at(quote, "the string does not end", "begins here"));
                }
            }
        }
    }

    /// Reads what a backslash stands before; itself, where that is neither quote nor backslash.
    fn escaped(&mut self) -> char {
        match self.scanner.peek() {
            Some(one @ ('\'' | '\\')) => {
                self.scanner.take();
                one
            }
            _ => '\\',
        }
    }

    fn number(&mut self) -> Result<Token, Diagnostic> {
        let is_digit = |one: char| one.is_ascii_digit();
        self.scanner.take_while(is_digit);
        let mut is_whole = !self.scanner.take_if('.');
        self.scanner.take_while(is_digit);
        if matches!(self.scanner.peek(), Some('e' | 'E')) {
            self.scanner.take();
            let _ = self.scanner.take_if('-') || self.scanner.take_if('+');
            is_whole = false;
            if self.scanner.take_while(is_digit).is_empty() {
                return Err(self.mistake("the exponent has no digits", "a number"));
            }
        }
        if self.scanner.take_name().is_some() {
            return Err(self.mistake("a number ends in letters", "neither number nor name"));
        }
        self.literal(is_whole).map(Token::Literal)
    }

    fn literal(&self, is_whole: bool) -> Result<Literal, Diagnostic> {
        let text = self.scanner.text().get(self.span()).unwrap_or_default();
        if is_whole && let Ok(number) = text.parse() {
            return Ok(Literal::Integer(number));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Literal::Real(number)),
            _ => Err(self.mistake("the number is too large", "more than a double can hold")),
        }
    }
}
