//! Text that is read, or left out, only because a macro is not defined, so that a message can name
//! the macro.

use super::{Conditional, Preprocessor};
use crate::advice::WithoutMacro;
use crate::lexer::{Kind, Token};
use crate::session::Symbol;
use crate::source::Place;

/// Form of a conditional directive's condition: macro defined, macro undefined, or any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Defined(Symbol),
    Undefined(Symbol),
    /// Condition of any other form.
    Other,
}

impl Asked {
    /// Returns the macro whose absence makes the condition hold.
    pub(super) fn without(self) -> Option<Symbol> {
        match self {
            Asked::Undefined(name) => Some(name),
            Asked::Defined(_) | Asked::Other => None,
        }
    }

    /// Returns the macro whose absence makes the condition fail.
    pub(super) fn with(self) -> Option<Symbol> {
        match self {
            Asked::Defined(name) => Some(name),
            Asked::Undefined(_) | Asked::Other => None,
        }
    }
}

impl Preprocessor<'_> {
    /// Returns what `#if`, `#ifdef` or `#ifndef` asks: `X`, `defined X`, `!defined(X)`.
    pub(super) fn asked(&self, directive: &str, line: &[Token]) -> Asked {
        let mut words = line
            .iter()
            .filter(|token| !matches!(token.kind, Kind::LParen | Kind::RParen))
            .peekable();
        let mut is_negative = directive == "ifndef";
        if directive == "if" {
            is_negative = words.next_if(|token| token.kind == Kind::Bang).is_some();
            words.next_if(|token| &**self.session.names.text(token.text) == "defined");
        }
        match (words.next(), words.next()) {
            (Some(name), None) if name.kind == Kind::Ident && is_negative => {
                Asked::Undefined(name.text)
            }
            (Some(name), None) if name.kind == Kind::Ident => Asked::Defined(name.text),
            _ => Asked::Other,
        }
    }

    /// Records the branch of a conditional that ends before `end`, if it is read or left out because
    /// a macro is not defined. A macro that the branch itself defines guards against a second
    /// inclusion.
    pub(super) fn end_branch(&mut self, conditional: &Conditional, end: Place) {
        let is_read = conditional.active;
        let name = match is_read {
            true => conditional.without,
            // A conditional inside text that is left out counts as taken: its macro alone puts in nothing.
            false if conditional.taken || !conditional.leaves_out => None,
            false => conditional.asked,
        };
        if let Some(name) = name.filter(|name| !self.macros.contains_key(name)) {
            let place = conditional.branch.to(end);
            let name = self.session.names.text(name).clone();
            self.session.advice.record(WithoutMacro {
                place,
                name,
                is_read,
            });
        }
    }
}
