//! Directives `#define` and `#undef`, and expansion as C does it: arguments are expanded before
//! they are substituted, the result is scanned again together with the tokens after it, and a
//! macro is not expanded within its own expansion.

use std::path::Path;

use super::Preprocessor;
use super::definition::Macro;
use super::substitute::Arguments;
use crate::Options;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lexer::{Kind, Token};
use crate::session::{Checked, Reported, Symbol};
use crate::source::Place;

/// Tokens of a macro's expansion that are still to be read.
struct Expansion {
    name: Symbol,
    tokens: Vec<Token>,
    next: usize,
}

/// Input of expansion: unfinished expansions, innermost last, then the file if allowed.
struct Input {
    expansions: Vec<Expansion>,
    from_file: bool,
}

impl Preprocessor<'_> {
    /// Defines the macros of the options, as if a file before the main one did.
    pub(super) fn predefine(&mut self, options: &Options) {
        let mut text = String::from("#define __PUNCTUAL_IDL__ 1\n");
        for (name, value) in &options.defines {
            let mut characters = name.chars();
            let starts = characters
                .next()
                .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
            if !starts || !characters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
                let message = format!("cannot define `{name}`: it is not an identifier");
                self.session
                    .report(Diagnostic::without_place(Severity::Error, message));
                continue;
            }
            let value = value.as_deref().unwrap_or("1").replace(['\n', '\r'], " ");
            text.push_str(&format!("#define {name} {value}\n"));
        }
        let file = self.lex(Path::new("<command line>"), text.into_bytes());
        self.enter(file, None);
    }

    pub(super) fn define(&mut self, directive: Token, rest: &[Token]) -> Checked<()> {
        let name = self.macro_name(directive, rest)?;
        let text = self.session.names.text(name.text).clone();
        if &*text == "defined" {
            let error = self
                .session
                .error_at(name.place, "`defined` cannot be a macro", "");
            return Err(self.session.report(error));
        }
        let mut body = &rest[1..];
        let mut parameters = None;
        if body
            .first()
            .is_some_and(|t| t.kind == Kind::LParen && !t.spaced)
        {
            let (names, length) = self.parameter_list(body)?;
            parameters = Some(names);
            body = &body[length..];
        }
        let new = Macro {
            parameters,
            body: body.into(),
            place: name.place,
        };
        if let Some(old) = self
            .macros
            .get(&name.text)
            .filter(|old| !old.says_the_same(&new))
        {
            let message = format!("the macro `{text}` gets another meaning");
            let warning = self
                .session
                .warning_at(name.place, message, "defined again here");
            let warning = self.session.and(warning, old.place, "first defined here");
            self.session.report(warning);
        }
        self.macros.insert(name.text, new);
        Ok(())
    }

    pub(super) fn undef(&mut self, directive: Token, rest: &[Token]) -> Checked<()> {
        let name = self.macro_name(directive, rest)?;
        self.macros.remove(&name.text);
        Ok(())
    }

    /// Returns the parameters in parentheses, and the number of tokens they take.
    fn parameter_list(&mut self, tokens: &[Token]) -> Checked<(Vec<Symbol>, usize)> {
        let mut names: Vec<Symbol> = Vec::new();
        let mut index = 1;
        if tokens
            .get(1)
            .is_some_and(|token| token.kind == Kind::RParen)
        {
            return Ok((names, 2));
        }
        loop {
            let place = tokens
                .get(index)
                .map_or(tokens[0].place, |token| token.place);
            match tokens.get(index) {
                Some(name) if name.kind == Kind::Ident && !names.contains(&name.text) => {
                    names.push(name.text);
                }
                _ => {
                    let label = "expected a parameter's name, each once";
                    let error = self.session.error_at(place, "malformed macro", label);
                    return Err(self.session.report(error));
                }
            }
            match tokens.get(index + 1).map(|token| token.kind) {
                Some(Kind::Comma) => index += 2,
                Some(Kind::RParen) => return Ok((names, index + 2)),
                _ => {
                    let label = "expected `,` or `)` after this";
                    let error = self.session.error_at(place, "malformed macro", label);
                    return Err(self.session.report(error));
                }
            }
        }
    }

    /// Expands the macro that `token` begins in the present file, and emits the result.
    pub(super) fn expand_in_place(&mut self, token: Token) {
        let mut input = Input {
            expansions: Vec::new(),
            from_file: true,
        };
        let mut current = Some(token);
        while let Some(token) = current {
            match self.expand_token(token, &mut input, 0) {
                Ok(Some(token)) => self.emit(token),
                Ok(None) => {}
                Err(Reported) => break,
            }
            if self.session.is_fatal() {
                break;
            }
            // Only the rest of the expansion is read here; the file continues by itself.
            current = self.next_expanded(&mut input);
        }
        self.active.clear();
    }

    /// Expands a list of tokens on its own, without the tokens that follow it in the file.
    pub(super) fn expand_list(&mut self, tokens: Vec<Token>, depth: usize) -> Checked<Vec<Token>> {
        let place = tokens.first().map(|token| token.place).unwrap_or_default();
        if depth > self.limits().nesting {
            let label = "the arguments of macros nest too deep";
            let error = self
                .session
                .error_at(place, "a macro cannot be expanded", label);
            return Err(self.session.report_fatal(error));
        }
        self.spend_tokens(tokens.len(), place)?;
        let outer = Expansion {
            name: Symbol::default(),
            tokens,
            next: 0,
        };
        let mut input = Input {
            expansions: vec![outer],
            from_file: false,
        };
        let mut result = Vec::new();
        while let Some(token) = self.next_expanded(&mut input) {
            if let Some(token) = self.expand_token(token, &mut input, depth)? {
                result.push(token);
            }
        }
        Ok(result)
    }

    /// Processes a token: begins its expansion, or returns it as final.
    fn expand_token(
        &mut self,
        mut token: Token,
        input: &mut Input,
        depth: usize,
    ) -> Checked<Option<Token>> {
        if token.kind != Kind::Ident || token.no_expand {
            return Ok(Some(token));
        }
        let Some(definition) = self.macros.get(&token.text) else {
            return Ok(Some(token));
        };
        if self.active.get(&token.text).is_some_and(|uses| *uses > 0) {
            token.no_expand = true;
            return Ok(Some(token));
        }
        let (body, defined) = (definition.body.clone(), definition.place);
        let tokens = match definition.parameters.clone() {
            None => body.to_vec(),
            Some(parameters) => {
                if !self.at_parenthesis(input) {
                    return Ok(Some(token));
                }
                let arguments = self.arguments(token, &parameters, input)?;
                self.substitute(token, &body, &parameters, arguments, depth)?
            }
        };
        let tokens: Vec<Token> = tokens
            .into_iter()
            .map(|t| Token {
                place: token.place,
                ..t
            })
            .collect();
        self.spend_tokens(tokens.len(), token.place)?;
        if input.expansions.is_empty() {
            self.session.note_expansion(token.place, defined);
        }
        *self.active.entry(token.text).or_default() += 1;
        input.expansions.push(Expansion {
            name: token.text,
            tokens,
            next: 0,
        });
        Ok(None)
    }

    /// Returns the next token of the macro expansions in progress.
    fn next_expanded(&mut self, input: &mut Input) -> Option<Token> {
        while let Some(expansion) = input.expansions.last_mut() {
            if let Some(token) = expansion.tokens.get(expansion.next) {
                expansion.next += 1;
                return Some(*token);
            }
            if let Some(uses) = self.active.get_mut(&expansion.name) {
                *uses = uses.saturating_sub(1);
            }
            input.expansions.pop();
        }
        None
    }

    /// Returns the next token for an argument list, which may continue in the file over several
    /// lines.
    fn next_anywhere(&mut self, input: &mut Input) -> Option<Token> {
        if let Some(token) = self.next_expanded(input) {
            return Some(token);
        }
        if !input.from_file {
            return None;
        }
        let frame = self.frames.last_mut()?;
        let (mut next, mut comments) = (None, Vec::new());
        while let Some(token) = frame.peek() {
            if token.kind == Kind::Hash && frame.at_line_start {
                break;
            }
            frame.next += 1;
            match token.kind {
                Kind::Newline => frame.at_line_start = true,
                Kind::LineComment | Kind::BlockComment => comments.push(token),
                _ => {
                    frame.at_line_start = false;
                    next = Some(token);
                    break;
                }
            }
        }
        for comment in comments {
            self.check_comment(comment);
        }
        next
    }

    /// Returns whether the next token is `(`. It is not taken.
    fn at_parenthesis(&mut self, input: &mut Input) -> bool {
        for expansion in input.expansions.iter().rev() {
            if let Some(token) = expansion.tokens.get(expansion.next) {
                return token.kind == Kind::LParen;
            }
        }
        if !input.from_file {
            return false;
        }
        let Some(frame) = self.frames.last() else {
            return false;
        };
        let blank = |kind| matches!(kind, Kind::Newline | Kind::LineComment | Kind::BlockComment);
        let rest = frame.file.tokens.get(frame.next..).unwrap_or_default();
        rest.iter()
            .find(|t| !blank(t.kind))
            .is_some_and(|t| t.kind == Kind::LParen)
    }

    fn arguments(
        &mut self,
        name: Token,
        parameters: &[Symbol],
        input: &mut Input,
    ) -> Checked<Arguments> {
        self.next_anywhere(input); // the opening parenthesis
        let mut raw: Vec<Vec<Token>> = vec![Vec::new()];
        let mut depth = 0_usize;
        loop {
            let Some(token) = self.next_anywhere(input) else {
                let text = self.session.names.text(name.text).clone();
                let message = format!("the arguments of the macro `{text}` do not end");
                let error = self.session.error_at(name.place, message, "used here");
                return Err(self.session.report(error));
            };
            self.spend_tokens(1, name.place)?;
            match token.kind {
                Kind::RParen if depth == 0 => break,
                Kind::RParen => depth -= 1,
                Kind::LParen => depth += 1,
                Kind::Comma if depth == 0 => {
                    raw.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(argument) = raw.last_mut() {
                argument.push(token);
            }
        }
        if parameters.is_empty() && raw.len() == 1 && raw[0].is_empty() {
            raw.clear();
        }
        if raw.len() != parameters.len() {
            let text = self.session.names.text(name.text).clone();
            let (wanted, given) = (parameters.len(), raw.len());
            let message = format!("the macro `{text}` takes {wanted} arguments, not {given}");
            let mut error = self.session.error_at(name.place, message, "used here");
            if let Some(place) = self.macros.get(&name.text).map(|m| m.place) {
                error = self.session.and(error, place, "defined here");
            }
            return Err(self.session.report(error));
        }
        let expanded = vec![None; raw.len()];
        Ok(Arguments { raw, expanded })
    }

    pub(super) fn spend_tokens(&mut self, tokens: usize, place: Place) -> Checked<()> {
        self.produced = self.produced.saturating_add(tokens);
        let limit = self.limits().macro_tokens;
        if self.produced <= limit {
            return Ok(());
        }
        let message = format!("macros expand to more than {limit} tokens");
        let error = self
            .session
            .error_at(place, message, "given up in the expansion of this");
        Err(self.session.report_fatal(error))
    }
}
