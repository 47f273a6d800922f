//! Syntax errors: the expected token, and the point to continue from.

use super::{Name, Parser};
use crate::advice::Advice;
use crate::diagnostic::Severity;
use crate::lexer::{Kind, Token};
use crate::names;
use crate::session::{Checked, Reported};
use crate::source::Place;

impl Parser<'_> {
    /// Returns the description of a token in messages.
    pub(super) fn describe(&self, token: Token) -> String {
        match token.kind {
            Kind::Ident => {
                let text = self.text(token);
                match names::colliding_keyword(&text) {
                    Some(keyword) if keyword == &*text => format!("keyword `{text}`"),
                    _ => format!("`{text}`"),
                }
            }
            Kind::End => "the end of the file".to_owned(),
            _ => {
                let text = self.text(token);
                if text.len() > 40 {
                    token.kind.describe().to_owned()
                } else {
                    format!("`{text}`")
                }
            }
        }
    }

    /// Reports that `what` was expected at the next token.
    pub(super) fn expected(&mut self, what: &str) -> Reported {
        let token = self.peek();
        let found = self.describe(token);
        let label = format!("expected {what}");
        let message = format!("expected {what}, found {found}");
        self.advised(self.before_next(), |this| {
            this.error(token.place, message, &label)
        })
    }

    /// Returns the advice to put in what a conditional leaves out between the last token and the
    /// next one.
    fn before_next(&self) -> Advice {
        let (last, next) = (self.previous(), self.peek().place);
        let is_behind = last.file == next.file && last.end <= next.start;
        Advice::PutIn(Place {
            start: if is_behind { last.end } else { next.start },
            end: next.start,
            ..next
        })
    }

    pub(super) fn expect(&mut self, kind: Kind) -> Checked<Token> {
        if self.at(kind) {
            return Ok(self.bump());
        }
        if matches!(kind, Kind::RParen | Kind::RBracket | Kind::Gt) {
            return Err(self.missing_after_previous(kind.describe()));
        }
        Err(self.expected(kind.describe()))
    }

    /// Reads the `;` that ends a declaration. Where only that is missing, reading continues.
    pub(super) fn semicolon(&mut self) -> Checked<()> {
        if self.eat(Kind::Semicolon) {
            return Ok(());
        }
        let reported = self.missing_after_previous("`;`");
        if self.starts_a_line() || matches!(self.peek().kind, Kind::RBrace | Kind::End) {
            return Ok(());
        }
        Err(reported)
    }

    fn missing_after_previous(&mut self, what: &str) -> Reported {
        let found = self.describe(self.peek());
        let place = self.previous().after();
        let label = format!("expected {what} here");
        let message = format!("expected {what}, found {found}");
        self.advised(self.before_next(), |this| {
            this.error(place, message, &label)
        })
    }

    /// Returns whether the next token stands on a later line than the last one.
    fn starts_a_line(&self) -> bool {
        let (last, next) = (self.previous(), self.peek().place);
        let line = |place: Place| {
            self.session
                .file(place.file)
                .line_index(place.start as usize)
        };
        last.file != next.file || line(last) != line(next)
    }

    /// Skips the rest of a faulty declaration: to after its `;`, or to the `}` of the enclosing
    /// one.
    pub(super) fn recover(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek().kind {
                Kind::End => return,
                Kind::Semicolon if depth == 0 => {
                    self.bump();
                    return;
                }
                Kind::LBrace => depth += 1,
                Kind::RBrace if depth == 0 => return,
                Kind::RBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(Kind::Semicolon);
                        return;
                    }
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Reads the items between braces, the opening one being next. A faulty item is skipped.
    pub(super) fn braced(&mut self, mut item: impl FnMut(&mut Self) -> Checked<()>) -> Checked<()> {
        let open = self.expect(Kind::LBrace)?;
        self.nested(open.place, |this| {
            loop {
                match this.peek().kind {
                    Kind::RBrace => {
                        this.bump();
                        return Ok(());
                    }
                    Kind::End => {
                        let place = this.peek().place;
                        let error =
                            this.session
                                .error_at(place, "a `}` is missing", "expected `}` here");
                        let error = this.session.and(error, open.place, "to close this");
                        return Err(this.session.report(error));
                    }
                    _ => {
                        let before = this.next;
                        if item(this).is_err() {
                            this.recover();
                            if this.next == before && !this.at(Kind::RBrace) {
                                this.bump();
                            }
                        }
                    }
                }
            }
        })
    }

    /// Reads an identifier that is not a keyword, and gives something a name.
    pub(super) fn identifier(&mut self, what: &str) -> Checked<Name> {
        let token = self.peek();
        let name = self.identifier_used(what)?;
        let is_escaped = self.text(token).starts_with('_');
        if !is_escaped && let Some(keyword) = names::colliding_keyword(&name.text) {
            self.warn_of_collision(&name, keyword);
        }
        Ok(name)
    }

    /// Reports a name that differs from a keyword only in case, or is one elsewhere.
    fn warn_of_collision(&mut self, name: &Name, keyword: &'static str) {
        let text = &name.text;
        if names::is_reserved(text) || !self.collisions.insert(text.clone()) {
            return;
        }
        let help = format!("if it is meant as a name, escape it: `_{text}`");
        if keyword == &**text {
            let message = format!("the name `{text}` is a keyword since CORBA 3");
            let warning = self
                .session
                .warning_at(name.place, message, "read as a name")
                .with_help(format!(
                    "other compilers may refuse it: `_{text}` is the same name to all"
                ));
            self.session.report(warning);
            return;
        }
        let message = format!("the identifier `{text}` collides with the keyword `{keyword}`");
        let label = "differs from a keyword only in case";
        let mut diagnostic = self
            .session
            .error_at(name.place, message, label)
            .with_help(help);
        if names::is_recent_keyword(keyword) {
            diagnostic.severity = Severity::Warning;
            self.session.report(diagnostic);
        } else {
            // It was reported, and is read as a name.
            let _ = self.session.report_leniently(diagnostic);
        }
    }

    /// Reads an identifier that is not a keyword, and refers to something. Whether the name is a
    /// good one was told where it was given.
    pub(super) fn identifier_used(&mut self, what: &str) -> Checked<Name> {
        let token = self.peek();
        if token.kind != Kind::Ident {
            return Err(self.expected(what));
        }
        let text = self.text(token);
        if text.len() > MAX_IDENTIFIER {
            let message = format!("an identifier has more than {MAX_IDENTIFIER} characters");
            self.error(token.place, message, "too long");
            self.bump();
            return Err(Reported);
        }
        // An escaped identifier loses its underscore and is never a keyword (§7.2.3.2).
        if let Some(escaped) = text.strip_prefix('_') {
            self.bump();
            if escaped.is_empty() {
                return Err(self.error(
                    token.place,
                    "`_` is not an identifier",
                    "a name is missing",
                ));
            }
            return Ok(Name {
                text: escaped.into(),
                place: token.place,
            });
        }
        if names::is_reserved(&text) && !self.collisions.contains(&text) {
            let message = format!("expected {what}, found keyword `{text}`");
            let help = format!("if it is meant as a name, escape it: `_{text}`");
            self.error_with_help(token.place, message, "a keyword", help);
            if !self.stands_for_a_name(what) {
                return Err(Reported);
            }
            self.collisions.insert(text.clone());
        }
        self.bump();
        Ok(Name {
            text,
            place: token.place,
        })
    }
}

impl Parser<'_> {
    /// Returns whether a keyword stands where only a name can, so that it is read as one.
    fn stands_for_a_name(&self, what: &str) -> bool {
        let is_operation = what.contains("operation") || what.contains("factory");
        match self.peek_at(1).kind {
            Kind::LParen => is_operation,
            Kind::Semicolon
            | Kind::Comma
            | Kind::LBrace
            | Kind::RBrace
            | Kind::Colon
            | Kind::RParen
            | Kind::LBracket
            | Kind::Eq => what != "a name",
            _ => false,
        }
    }
}

/// Limit on an identifier's length: generated code and repository ids repeat names many times.
const MAX_IDENTIFIER: usize = 1024;
