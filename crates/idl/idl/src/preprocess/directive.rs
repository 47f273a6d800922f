//! Directives: lines that begin with `#`.

use super::absent::Asked;
use super::{Conditional, Preprocessor};
use crate::lexer::{Kind, Token};
use crate::session::{Checked, Reported};
use crate::source::Place;

const DIRECTIVES: &[&str] = &[
    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error",
    "warning", "line", "pragma", "ident",
];

impl Preprocessor<'_> {
    /// Handles the line that `hash` begins. Faults are reported.
    pub(super) fn directive(&mut self, hash: Token) {
        let line = self.take_line();
        let Some((name, rest)) = line.split_first() else {
            return;
        };
        let text = self.session.names.text(name.text).clone();
        let skipping = self.frames.last().is_some_and(|frame| frame.skipping());
        let place = hash.place.to(name.place);
        // A fault was reported; the next line is a fresh start.
        let _: Checked<()> = match &*text {
            "if" | "ifdef" | "ifndef" => {
                let asked = self.asked(&text, rest);
                self.open(place, skipping, asked, |this| match &*text {
                    "if" => this.condition(*name, rest),
                    "ifdef" => this.read_defined(*name, rest),
                    _ => Ok(!this.read_defined(*name, rest)?),
                })
            }
            "elif" => self.elif(place, *name, rest),
            "else" => self.otherwise(place),
            "endif" => self.endif(place),
            _ if skipping => Ok(()),
            "include" => self.include(*name, rest),
            "define" => self.define(*name, rest),
            "undef" => self.undef(*name, rest),
            "pragma" => self.pragma(hash, rest),
            "error" => self.user_message(place, rest, true),
            "warning" => self.user_message(place, rest, false),
            // `#line` and `# 12 "file"` come from other preprocessors; places stay those of
            // the file at hand.
            "line" | "ident" => Ok(()),
            _ if name.kind == Kind::Number => Ok(()),
            _ => self.unknown(place, &text),
        };
        self.active.clear();
    }

    /// Takes the tokens up to the end of the line, without comments.
    fn take_line(&mut self) -> Vec<Token> {
        let (mut line, mut comments) = (Vec::new(), Vec::new());
        let Some(frame) = self.frames.last_mut() else {
            return line;
        };
        while let Some(token) = frame.peek() {
            frame.next += 1;
            match token.kind {
                Kind::Newline => {
                    frame.at_line_start = true;
                    break;
                }
                Kind::LineComment | Kind::BlockComment => comments.push(token),
                _ => line.push(token),
            }
        }
        for comment in comments {
            self.check_comment(comment);
        }
        self.docs.line_end();
        line
    }

    fn open(
        &mut self,
        place: Place,
        skipping: bool,
        asked: Asked,
        holds: impl FnOnce(&mut Self) -> Checked<bool>,
    ) -> Checked<()> {
        let (active, taken) = if skipping {
            (false, true)
        } else {
            // After a bad condition neither branch is read: no consequential errors.
            holds(self).map_or((false, true), |holds| (holds, holds))
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.conditionals.push(Conditional {
                place,
                active,
                taken,
                seen_else: false,
                leaves_out: false,
                branch: place,
                without: asked.without(),
                asked: asked.with(),
            });
        }
        Ok(())
    }

    fn innermost(&mut self, place: Place, what: &str) -> Checked<Conditional> {
        let conditional = self
            .frames
            .last()
            .and_then(|frame| frame.conditionals.last().copied());
        if let Some(conditional) = conditional {
            return Ok(conditional);
        }
        let label = "there is no open `#if` in this file";
        let error = self
            .session
            .error_at(place, format!("`#{what}` without `#if`"), label);
        Err(self.session.report(error))
    }

    fn replace_innermost(&mut self, conditional: Conditional) {
        if let Some(last) = self
            .frames
            .last_mut()
            .and_then(|f| f.conditionals.last_mut())
        {
            *last = conditional;
        }
    }

    fn elif(&mut self, place: Place, name: Token, rest: &[Token]) -> Checked<()> {
        let mut conditional = self.innermost(place, "elif")?;
        if conditional.seen_else {
            return Err(self.after_else(place, conditional));
        }
        self.end_branch(&conditional, place);
        (conditional.branch, conditional.leaves_out) = (place, false);
        (conditional.without, conditional.asked) = (None, None);
        conditional.active = false;
        if !conditional.taken {
            conditional.active = self.condition(name, rest).unwrap_or(false);
            conditional.taken = conditional.active;
        }
        self.replace_innermost(conditional);
        Ok(())
    }

    fn otherwise(&mut self, place: Place) -> Checked<()> {
        let mut conditional = self.innermost(place, "else")?;
        if conditional.seen_else {
            return Err(self.after_else(place, conditional));
        }
        self.end_branch(&conditional, place);
        (conditional.branch, conditional.leaves_out) = (place, false);
        conditional.without = conditional.asked.take();
        conditional.active = !conditional.taken;
        conditional.taken = true;
        conditional.seen_else = true;
        self.replace_innermost(conditional);
        Ok(())
    }

    fn endif(&mut self, place: Place) -> Checked<()> {
        let conditional = self.innermost(place, "endif")?;
        self.end_branch(&conditional, place);
        if let Some(frame) = self.frames.last_mut() {
            frame.conditionals.pop();
            if let Some(outer) = frame.conditionals.last_mut() {
                outer.leaves_out |= conditional.leaves_out;
            }
        }
        Ok(())
    }

    fn after_else(&mut self, place: Place, conditional: Conditional) -> Reported {
        let error = self
            .session
            .error_at(place, "a branch after `#else`", "unexpected here");
        let error = self
            .session
            .and(error, conditional.place, "the conditional begins here");
        self.session.report(error)
    }

    fn read_defined(&mut self, name: Token, rest: &[Token]) -> Checked<bool> {
        let macro_name = self.macro_name(name, rest)?;
        Ok(self.macros.contains_key(&macro_name.text))
    }

    /// Returns the macro name that follows a directive.
    pub(super) fn macro_name(&mut self, directive: Token, rest: &[Token]) -> Checked<Token> {
        match rest.first() {
            Some(token) if token.kind == Kind::Ident => Ok(*token),
            other => {
                let place = other.map_or(directive.place, |token| token.place);
                let error = self.session.error_at(
                    place,
                    "expected a macro's name",
                    "an identifier should follow",
                );
                Err(self.session.report(error))
            }
        }
    }

    fn user_message(&mut self, place: Place, rest: &[Token], fatal: bool) -> Checked<()> {
        let text = match (rest.first(), rest.last()) {
            (Some(first), Some(last)) => {
                self.session.excerpt(first.place.to(last.place)).to_owned()
            }
            _ => String::new(),
        };
        let directive = if fatal { "#error" } else { "#warning" };
        let message = format!(
            "{directive}: {}",
            if text.is_empty() {
                "no reason given"
            } else {
                &text
            }
        );
        if fatal {
            let error = self.session.error_at(place, message, "");
            return Err(self.session.report(error));
        }
        let warning = self.session.warning_at(place, message, "");
        self.session.report_in_includes(warning);
        Ok(())
    }

    fn unknown(&mut self, place: Place, name: &str) -> Checked<()> {
        let mut error =
            self.session
                .error_at(place, format!("unknown directive `#{name}`"), "not known");
        if let Some(near) = crate::names::nearest(name, DIRECTIVES.iter().copied()) {
            error = error.with_help(format!("did you mean `#{near}`?"));
        }
        Err(self.session.report(error))
    }
}
