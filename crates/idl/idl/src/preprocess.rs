//! Preprocessor: files to one stream of tokens without comments, directives and macros.
//!
//! It works on tokens, so that each keeps its position in the file that it came from. It keeps
//! information for later stages: where files begin and end, the pragmas for repository ids, and the
//! comments that document declarations.
//!
//! Recursion on input is limited to macro arguments inside macro arguments, whose depth is limited;
//! macro expansion has a budget of tokens.

mod absent;
mod condition;
mod definition;
mod directive;
mod docs;
mod include;
mod macros;
mod pragma;
mod substitute;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::lexer::{Kind, Token, annotation_in};
use crate::loader::SourceLoader;
use crate::session::{Session, Symbol};
use crate::source::{FileId, Place};
use crate::{Encoding, Limits, Options};

use definition::Macro;
use docs::Docs;

pub(crate) use include::main_file_error;

/// Preprocessor event between two tokens: a change of the file, or a pragma.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Beginning of an included IDL file.
    EnterFile(Place),
    /// End of an included IDL file.
    LeaveFile,
    /// Pragma that sets the prefix of repository ids: `#pragma prefix "text"`
    Prefix(String),
    /// Pragma that sets a repository id: `#pragma ID name "id"`
    Id {
        name: String,
        id: String,
        place: Place,
    },
    /// Pragma that sets a repository id's version: `#pragma version name major.minor`
    Version {
        name: String,
        version: String,
        place: Place,
    },
}

/// Tokens of a compilation. The last one is [`Kind::End`].
pub(crate) struct Preprocessed {
    pub(crate) tokens: Vec<Token>,
    /// Events in order, each with the index of the token that it precedes.
    pub(crate) events: Vec<(usize, Event)>,
    /// Documentation comments, indexed by [`Token::doc`].
    pub(crate) docs: Vec<Vec<String>>,
    /// Directive at which a part of the main file was left out first, and the macro that it asks
    /// for.
    pub(crate) left_out: Option<(Place, Option<Symbol>)>,
}

pub(crate) struct Preprocessor<'a> {
    session: &'a mut Session,
    loader: &'a dyn SourceLoader,
    include_dirs: &'a [PathBuf],
    encoding: Encoding,
    macros: HashMap<Symbol, Macro>,
    /// Number of unfinished expansions of each macro.
    active: HashMap<Symbol, usize>,
    /// Number of tokens and bytes that macro expansion has produced.
    produced: usize,
    loaded: HashMap<PathBuf, Rc<Loaded>>,
    once: HashSet<PathBuf>,
    inclusions: usize,
    frames: Vec<Frame>,
    docs: Docs,
    output: Preprocessed,
}

/// File that was read and split into tokens.
struct Loaded {
    id: FileId,
    path: PathBuf,
    tokens: Vec<Token>,
}

/// File that is being preprocessed, with the position reached in it.
struct Frame {
    file: Rc<Loaded>,
    next: usize,
    at_line_start: bool,
    conditionals: Vec<Conditional>,
    /// Source position of the `#include` directive that included the file.
    included_at: Option<Place>,
}

/// Conditional (`#if`, `#ifdef`, `#ifndef`) whose `#endif` has not been read yet.
#[derive(Clone, Copy)]
struct Conditional {
    place: Place,
    /// `true` if the present branch of the conditional is being read.
    active: bool,
    /// `true` if some branch of the conditional was or is being read, or none may be.
    taken: bool,
    seen_else: bool,
    /// `true` if the present branch has text, not only directives, and is left out.
    leaves_out: bool,
    /// Directive that begins the present branch.
    branch: Place,
    /// Macro whose absence makes the present branch be read.
    without: Option<Symbol>,
    /// Macro whose absence makes the first branch be left out, and the last one be read.
    asked: Option<Symbol>,
}

impl Frame {
    fn skipping(&self) -> bool {
        self.conditionals.last().is_some_and(|c| !c.active)
    }

    fn peek(&self) -> Option<Token> {
        self.file.tokens.get(self.next).copied()
    }
}

/// Preprocesses a file whose bytes have been loaded.
pub(crate) fn preprocess(
    session: &mut Session,
    loader: &dyn SourceLoader,
    options: &Options,
    path: &Path,
    bytes: Vec<u8>,
) -> Preprocessed {
    let mut preprocessor = Preprocessor {
        session,
        loader,
        include_dirs: &options.include_dirs,
        encoding: options.encoding,
        macros: HashMap::new(),
        active: HashMap::new(),
        produced: 0,
        loaded: HashMap::new(),
        once: HashSet::new(),
        inclusions: 0,
        frames: Vec::new(),
        docs: Docs::default(),
        output: Preprocessed {
            tokens: Vec::new(),
            events: Vec::new(),
            docs: Vec::new(),
            left_out: None,
        },
    };
    preprocessor.run(options, path, bytes);
    preprocessor.output
}

impl Preprocessor<'_> {
    fn run(&mut self, options: &Options, path: &Path, bytes: Vec<u8>) {
        let file = self.lex(path, bytes);
        self.enter(file, None);
        self.predefine(options);
        while !self.frames.is_empty() && !self.session.is_fatal() {
            self.step();
        }
        let end = match self.output.tokens.last() {
            Some(last) => last.place.after(),
            None => Place::default(),
        };
        self.output.tokens.push(Token {
            kind: Kind::End,
            text: Symbol::default(),
            place: end,
            doc: 0,
            spaced: true,
            no_expand: false,
        });
        self.output.docs = self.docs.take_all();
    }

    fn limits(&self) -> Limits {
        self.session.limits
    }

    /// Handles the next token of the innermost included file.
    fn step(&mut self) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let Some(token) = frame.peek() else {
            return self.leave();
        };
        frame.next += 1;
        let line_start = std::mem::replace(&mut frame.at_line_start, false);
        match token.kind {
            Kind::Newline => {
                frame.at_line_start = true;
                self.docs.line_end();
            }
            Kind::LineComment | Kind::BlockComment => {
                frame.at_line_start = line_start;
                if !frame.skipping() {
                    self.check_comment(token);
                    self.check_annotation_comment(token);
                    let source = self.session.excerpt(token.place).to_owned();
                    let lines = self.lines_of(token.place);
                    self.docs.comment(&source, lines, token.kind);
                }
            }
            Kind::Hash if line_start => {
                self.docs.forget();
                self.directive(token);
            }
            _ if frame.skipping() => self.leave_out_line(),
            Kind::Ident if self.macros.contains_key(&token.text) => self.expand_in_place(token),
            _ => self.emit(token),
        }
    }

    fn leave_out_line(&mut self) {
        let innermost = self
            .frames
            .last_mut()
            .and_then(|f| f.conditionals.last_mut());
        if let Some(conditional) = innermost {
            conditional.leaves_out = true;
        }
        if let ([main], None) = (self.frames.as_slice(), self.output.left_out) {
            let outermost = main.conditionals.iter().find(|c| !c.active);
            self.output.left_out = outermost.map(|c| (c.branch, c.asked));
        }
        if let Some(frame) = self.frames.last_mut() {
            while frame
                .peek()
                .is_some_and(|token| token.kind != Kind::Newline)
            {
                frame.next += 1;
            }
        }
    }

    fn emit(&mut self, mut token: Token) {
        let line = self.line_of(token.place);
        token.doc = self.docs.attach(line);
        if token.kind == Kind::Invalid {
            self.report_invalid(token);
            self.repair_literal(token);
            return;
        }
        self.output.tokens.push(token);
        if self.output.tokens.len() > self.limits().tokens {
            let error = self.session.error_at(token.place, "too many tokens", "");
            self.session.report_fatal(error);
        }
    }

    /// Replaces an unterminated literal by a whole one, and by the `;` that it swallowed, so that
    /// one mistake is one error.
    fn repair_literal(&mut self, token: Token) {
        let text = self.session.names.text(token.text).clone();
        let (kind, mended) = match text.trim_start_matches('L').chars().next() {
            Some('"') if text.starts_with('L') => (Kind::WString, "L\"\""),
            Some('"') => (Kind::String, "\"\""),
            Some('\'') if text.starts_with('L') => (Kind::WChar, "L' '"),
            Some('\'') => (Kind::Char, "' '"),
            _ => return,
        };
        let mended = self.session.names.intern(mended);
        self.output.tokens.push(Token {
            kind,
            text: mended,
            ..token
        });
        if text.trim_end().ends_with(';') {
            let text = self.session.names.intern(";");
            self.output.tokens.push(Token {
                kind: Kind::Semicolon,
                text,
                ..token
            });
        }
    }

    fn report_invalid(&mut self, token: Token) {
        let text = self.session.names.text(token.text).clone();
        let first = text.chars().next().unwrap_or(' ');
        let unterminated = |what: &str| format!("this {what} does not end");
        let error = match first {
            char::REPLACEMENT_CHARACTER => return,
            '/' => {
                let opening = Place {
                    end: token.place.start + 2,
                    ..token.place
                };
                self.session
                    .error_at(opening, unterminated("comment"), "it begins here")
                    .with_help("end it with `*/`")
            }
            '"' | 'L' if text.contains('"') => self
                .session
                .error_at(token.place, unterminated("string"), "")
                .with_help("end it with `\"` on the same line"),
            '\'' | 'L' => self
                .session
                .error_at(token.place, unterminated("character literal"), "")
                .with_help("end it with `'` on the same line"),
            _ => self.session.error_at(
                token.place,
                format!(
                    "IDL has no use for the character `{}`",
                    first.escape_default()
                ),
                "unexpected character",
            ),
        };
        self.session.report(error);
    }

    /// Warns of a comment that a backslash at its line's end continues: in a code set such as
    /// Shift-JIS that may be half of a character, and the next line is lost without a word.
    fn check_comment(&mut self, comment: Token) {
        let source = self.session.excerpt(comment.place);
        let Some((first, joined)) = source.split_once('\n') else {
            return;
        };
        if comment.kind != Kind::LineComment {
            return;
        }
        let is_comment = |line: &str| line.trim().is_empty() || line.trim().starts_with("//");
        let loses_nothing = joined.lines().all(is_comment);
        let length = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        let start = comment.place.start + length(first.trim_end()).saturating_sub(1);
        let backslash = Place {
            start,
            end: start + 1,
            ..comment.place
        };
        let joined = Place {
            start: comment.place.start + length(first) + 1,
            ..comment.place
        };
        let message = "a backslash continues this comment on the next line";
        let warning = self
            .session
            .warning_at(backslash, message, "joins the lines");
        let warning = self
            .session
            .and(warning, joined, "not read: a part of the comment")
            .with_help(
                "end the comment with another character; in Shift-JIS the backslash can be half \
                 of one: save the file as UTF-8",
            );
        if loses_nothing {
            self.session.report(warning);
        } else {
            self.session.report_in_includes(warning);
        }
    }

    /// Warns of a `//@rt(…)` or `//@event` behind other text of its line, which is a comment: it
    /// would belong to the next declaration, not to the one before it.
    fn check_annotation_comment(&mut self, comment: Token) {
        let source = self.session.excerpt(comment.place);
        if comment.kind != Kind::LineComment {
            return;
        }
        if let Some(name) = source.strip_prefix("//").and_then(annotation_in) {
            let message = format!("`//@{name}` has no effect behind other text");
            let what = if name == "rt" { "operation" } else { "type" };
            let warning = self
                .session
                .warning_at(comment.place, message, "a comment")
                .with_help(format!("write it on a line of its own, before the {what}"));
            self.session.report(warning);
        }
    }

    fn event(&mut self, event: Event) {
        self.output.events.push((self.output.tokens.len(), event));
    }

    fn line_of(&self, place: Place) -> usize {
        self.session
            .file(place.file)
            .line_index(place.start as usize)
    }

    fn lines_of(&self, place: Place) -> std::ops::RangeInclusive<usize> {
        let file = self.session.file(place.file);
        let last = (place.end as usize)
            .saturating_sub(1)
            .max(place.start as usize);
        file.line_index(place.start as usize)..=file.line_index(last)
    }
}
