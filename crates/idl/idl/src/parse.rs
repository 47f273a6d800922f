//! Parser: tokens to the model in one pass. IDL declares names before it uses them, so each name is
//! resolved when it is read, and each constant evaluated.
//!
//! A fault is reported where it is found; the parser then skips to the next `;` or `}` of the same
//! level and continues. Recursion follows the nesting of the input, which is limited.

mod annotation;
mod arithmetic;
mod bits;
mod constant;
mod constructed;
mod declare;
mod definition;
mod inheritance;
mod interface;
mod literal;
mod lookup;
mod operation;
mod predeclared;
mod prefix;
mod recovery;
mod repository_id;
mod stated_event;
mod templates;
mod types;
mod unknown;
mod value;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::advice::Advice;
use crate::lexer::{Kind, Token};
use crate::model::{Annotation, DeclId, RtInfo, Specification};
use crate::names::{Scope, ScopeId};
use crate::preprocess::{Event, Preprocessed};
use crate::session::{Checked, Reported, Session};
use crate::source::{FileId, Place};

use predeclared::declared::Predeclared;
use prefix::{IdParts, Prefix};
use stated_event::StatedEvent;

pub(crate) struct Parser<'s> {
    session: &'s mut Session,
    tokens: Vec<Token>,
    next: usize,
    events: std::iter::Peekable<std::vec::IntoIter<(usize, Event)>>,
    docs: Vec<Vec<String>>,
    spec: Specification,
    /// For each declaration, at its index: facts about it that the model does not contain.
    facts: Vec<Facts>,
    scopes: Vec<Scope>,
    /// Interfaces and value types that declare each name, by the lower-case name. Most names are in
    /// few of them, so that a look-up need not search everything that a scope inherits from.
    declared_in: HashMap<Rc<str>, Vec<ScopeId>>,
    /// Scope whose declarations are being read.
    scope: ScopeId,
    /// Declarations whose contents are being read, the innermost last. For a module, it is the part
    /// that is being read.
    parts: Vec<DeclId>,
    /// Lists of declarations that are being read, innermost last.
    bodies: Vec<Vec<DeclId>>,
    prefixes: Vec<Prefix>,
    depth: usize,
    /// Number of open `sequence<` and the like: with two of them, `>>` closes both.
    open_angles: usize,
    /// Unknown names for which an error has been reported already.
    unknown: HashSet<String>,
    /// Names that are or collide with a keyword and have been reported.
    collisions: HashSet<Rc<str>>,
    /// Positions of the `#include`s of the files being read, innermost last.
    included_at: Vec<Place>,
    /// Files that were included twice and have been reported.
    included_twice: HashSet<FileId>,
    /// Predeclared names that were declared because the IDL file uses them.
    predeclared: Predeclared,
    /// Checked `@rt` of operations that have not been read yet.
    timings: Vec<RtInfo>,
    /// Checked `@event`s.
    events_stated: Vec<StatedEvent>,
}

/// Properties of a declaration that the parser keeps.
#[derive(Debug)]
struct Facts {
    /// `true` if the declaration was defined, not only declared forward.
    defined: bool,
    /// `true` if a value of the type may hold a reference to a local object (CORBA 3.3 part 1,
    /// §7.8.7).
    local: bool,
    /// `true` if the definition has an error, so that its content is unreliable.
    bad: bool,
    /// Scope that the declaration opens, if any.
    scope: Option<ScopeId>,
    id: IdParts,
}

/// Identifier with its position in the IDL source.
#[derive(Clone, Debug)]
struct Name {
    text: Rc<str>,
    place: Place,
}

/// Documentation comment and annotations that precede a declaration.
#[derive(Clone, Debug, Default)]
struct Preamble {
    doc: Vec<String>,
    annotations: Vec<Annotation>,
}

/// Parses a whole compilation. Faults are reported to the session.
pub(crate) fn parse(session: &mut Session, input: Preprocessed) -> Specification {
    let mut parser = Parser {
        session,
        tokens: input.tokens,
        next: 0,
        events: input.events.into_iter().peekable(),
        docs: input.docs,
        spec: Specification::default(),
        facts: Vec::new(),
        scopes: vec![Scope::default()],
        declared_in: HashMap::new(),
        scope: ScopeId::GLOBAL,
        parts: Vec::new(),
        bodies: vec![Vec::new()],
        prefixes: vec![Prefix::file("")],
        depth: 0,
        open_angles: 0,
        unknown: HashSet::new(),
        collisions: HashSet::new(),
        included_at: Vec::new(),
        included_twice: HashSet::new(),
        predeclared: Predeclared::default(),
        timings: Vec::new(),
        events_stated: Vec::new(),
    };
    parser.specification();
    parser.finish()
}

impl Parser<'_> {
    fn specification(&mut self) {
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End => break,
                Kind::RBrace => {
                    let error =
                        self.session
                            .error_at(token.place, "unexpected `}`", "closes nothing");
                    self.session.report(error);
                    self.bump();
                    self.eat(Kind::Semicolon);
                }
                _ => self.definition_or_recover(),
            }
        }
        self.run_events(usize::MAX);
    }

    fn finish(mut self) -> Specification {
        self.report_misplaced_timings();
        self.finish_predeclared();
        self.finish_forward_declarations();
        self.finish_repository_ids();
        self.finish_events();
        let mut definitions: Vec<DeclId> = self.predeclared.part().into_iter().collect();
        definitions.extend(self.bodies.pop().unwrap_or_default());
        self.spec.definitions = definitions;
        self.spec.files.clone_from(&self.session.files);
        self.spec
    }

    // The cursor.

    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        let index = if self.session.is_fatal() {
            last
        } else {
            (self.next + ahead).min(last)
        };
        self.tokens[index]
    }

    fn bump(&mut self) -> Token {
        let token = self.peek();
        if self.next + 1 < self.tokens.len() {
            self.run_events(self.next);
            self.next += 1;
        }
        token
    }

    /// Returns the source position of the last token that was consumed.
    fn previous(&self) -> Place {
        self.next
            .checked_sub(1)
            .map_or(Place::default(), |index| self.tokens[index].place)
    }

    fn at(&self, kind: Kind) -> bool {
        self.peek().kind == kind
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn text(&self, token: Token) -> Rc<str> {
        self.session.names.text(token.text).clone()
    }

    /// Returns whether a token is the keyword `word`.
    fn is_word(&self, token: Token, word: &str) -> bool {
        token.kind == Kind::Ident && &**self.session.names.text(token.text) == word
    }

    fn at_word(&self, word: &str) -> bool {
        self.is_word(self.peek(), word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Processes the preprocessor events that precede the token with that index.
    fn run_events(&mut self, index: usize) {
        while let Some((_, event)) = self.events.next_if(|(before, _)| *before <= index) {
            self.run_event(event);
        }
    }

    /// Runs `read` one nesting level deeper; reports an error at the nesting limit.
    fn nested<T>(
        &mut self,
        place: Place,
        read: impl FnOnce(&mut Self) -> Checked<T>,
    ) -> Checked<T> {
        let limit = self.session.limits.nesting;
        if self.depth >= limit {
            let message = format!("this is nested more than {limit} levels deep");
            let error = self.session.error_at(place, message, "too deep");
            return Err(self.session.report_fatal(error));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn preamble(&mut self) -> Checked<Preamble> {
        let mut doc = self.doc_of(self.peek());
        let annotations = self.annotations()?;
        if doc.is_empty() {
            doc = self.doc_of(self.peek());
        }
        Ok(Preamble { doc, annotations })
    }

    fn doc_of(&self, token: Token) -> Vec<String> {
        let index = (token.doc as usize).checked_sub(1);
        index
            .and_then(|index| self.docs.get(index))
            .cloned()
            .unwrap_or_default()
    }

    // Errors.

    /// Calls `read` for syntax that is new in CORBA 3. If a file has a branch for older compilers,
    /// as the OMG's files do, an error names the macro that leaves the new syntax out.
    fn since_corba_3<T>(&mut self, read: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        let advice = Advice::LeaveOut(self.peek().place);
        self.advised(advice, read)
    }

    /// Calls `read`. Each error that it reports is given `advice` as an additional help.
    fn advised<T>(&mut self, advice: Advice, read: impl FnOnce(&mut Self) -> T) -> T {
        self.session.advice.begin(advice);
        let result = read(self);
        self.session.advice.end();
        result
    }

    fn error(&mut self, place: Place, message: impl Into<String>, label: &str) -> Reported {
        let error = self.session.error_at(place, message, label);
        self.session.report(error)
    }

    fn error_with_help(
        &mut self,
        place: Place,
        message: impl Into<String>,
        label: &str,
        help: impl Into<String>,
    ) -> Reported {
        let error = self.session.error_at(place, message, label).with_help(help);
        self.session.report(error)
    }
}
