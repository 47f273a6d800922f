//! `#include`: finding, reading, entering and leaving files.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::{Event, Frame, Loaded, Preprocessor};
use crate::diagnostic::{Diagnostic, Severity};
use crate::lexer::{self, Kind, Token};
use crate::loader::{binary, decode};
use crate::session::Checked;
use crate::source::{FileId, Place};

/// Standard files built into the compiler, used when no include folder has them.
const BUILT_IN: &[(&str, &str)] = &[
    ("orb.idl", include_str!("../builtin/orb.idl")),
    ("TypeCode.idl", include_str!("../builtin/orb.idl")),
    ("IOP.idl", include_str!("../builtin/IOP.idl")),
    ("Messaging.idl", include_str!("../builtin/Messaging.idl")),
];

impl Preprocessor<'_> {
    /// Decodes the bytes of an IDL file, and splits the text into tokens.
    pub(super) fn lex(&mut self, path: &Path, bytes: Vec<u8>) -> Rc<Loaded> {
        if let Some(why) = binary(&bytes) {
            let message = format!("the file `{}` is not a text", path.display());
            let error = Diagnostic::without_place(Severity::Error, message).with_help(why);
            self.session.report_fatal(error);
        }
        let decoded = decode(bytes, self.encoding);
        let id = self.session.add_file(path, decoded.text);
        if let Some(position) = decoded.guessed {
            self.warn_of_guess(id, position);
        }
        let tokens = lexer::tokens(self.session, id, &decoded.invalid);
        let loaded = Rc::new(Loaded {
            id,
            path: path.to_owned(),
            tokens,
        });
        self.loaded.insert(path.to_owned(), loaded.clone());
        loaded
    }

    fn warn_of_guess(&mut self, file: FileId, position: usize) {
        let start = u32::try_from(position).unwrap_or(u32::MAX);
        let place = Place {
            file,
            start,
            end: start.saturating_add(2),
        };
        let message = "this file is not UTF-8, and is read as ISO 8859-1";
        let warning = self
            .session
            .warning_at(place, message, "a byte that is not UTF-8")
            .with_help(
                "say so to be rid of this: `--encoding latin1`, or \
                 `.encoding(Encoding::Latin1)` in a build script",
            );
        self.session.report(warning);
    }

    pub(super) fn enter(&mut self, file: Rc<Loaded>, included_at: Option<Place>) {
        self.docs.forget();
        self.docs.line_end();
        if let Some(place) = included_at {
            self.event(Event::EnterFile(place));
        }
        self.frames.push(Frame {
            file,
            next: 0,
            at_line_start: true,
            conditionals: Vec::new(),
            included_at,
        });
    }

    pub(super) fn leave(&mut self) {
        self.docs.forget();
        self.docs.line_end();
        let Some(frame) = self.frames.pop() else {
            return;
        };
        for conditional in frame.conditionals.iter().rev() {
            let error = self.session.error_at(
                conditional.place,
                "this conditional does not end",
                "no `#endif` for this before the end of the file",
            );
            self.session.report(error);
        }
        if frame.included_at.is_some() {
            self.event(Event::LeaveFile);
        }
    }

    /// Handles an `#include` directive, given the tokens of its line.
    pub(super) fn include(&mut self, directive: Token, line: &[Token]) -> Checked<()> {
        let (name, quoted, place) = self.included_name(directive, line)?;
        if name.is_empty() {
            let error = self.session.error_at(place, "`#include` names no file", "");
            return Err(self.session.report(error));
        }
        self.check_inclusion_limits(place)?;
        let folder = self
            .frames
            .last()
            .and_then(|f| f.file.path.parent().map(Path::to_owned));
        let mut candidates: Vec<PathBuf> = Vec::new();
        if quoted && let Some(folder) = folder {
            candidates.push(folder.join(&name));
        }
        candidates.extend(self.include_dirs.iter().map(|dir| dir.join(&name)));
        for path in candidates {
            if self.once.contains(&path) {
                return Ok(());
            }
            let file = match self.loaded.get(&path) {
                Some(file) => file.clone(),
                None => match self.loader.load_included(&path, self.limits().file_bytes) {
                    Ok(Some(bytes)) => self.lex(&path, bytes),
                    Ok(None) => continue,
                    Err(error) => return Err(self.unreadable(place, &path, &error)),
                },
            };
            self.enter(file, Some(place));
            return Ok(());
        }
        if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
            let path = PathBuf::from(format!("<built in>/{name}"));
            let file = match self.loaded.get(&path) {
                Some(file) => file.clone(),
                None => self.lex(&path, text.as_bytes().to_vec()),
            };
            self.enter(file, Some(place));
            return Ok(());
        }
        Err(self.not_found(place, &name, quoted))
    }

    /// Returns the name of the file to include, and whether it stood in quotes.
    fn included_name(
        &mut self,
        directive: Token,
        line: &[Token],
    ) -> Checked<(String, bool, Place)> {
        let expanded;
        let mut line = line;
        let is_written = line.first().is_none_or(|token| token.kind != Kind::Ident);
        if !is_written {
            expanded = self.expand_list(line.to_vec(), 0)?;
            line = &expanded;
        }
        if let Some(first) = line.first() {
            if first.kind == Kind::String {
                let text = self.session.names.text(first.text).clone();
                return Ok((text.trim_matches('"').to_owned(), true, first.place));
            }
            let end = line.iter().position(|token| token.kind == Kind::Gt);
            if let (Kind::Lt, Some(end)) = (first.kind, end) {
                let last = line[end];
                let inner = Place {
                    start: first.place.end,
                    end: last.place.start,
                    ..first.place
                };
                // The expansion of a macro has the source position of the macro, so the text is
                // taken from the tokens.
                let name = match is_written {
                    true => self.session.excerpt(inner).trim().to_owned(),
                    false => self.joined(&line[1..end]),
                };
                return Ok((name, false, first.place.to(last.place)));
            }
        }
        let place = line.first().map_or(directive.place, |token| token.place);
        let mut error = self.session.error_at(
            place,
            "`#include` needs a file's name",
            "expected `\"file\"` or `<file>`",
        );
        if let [only] = line
            && only.kind == Kind::Ident
        {
            let name = self.session.names.text(only.text);
            error = error.with_help(format!(
                "if this is a macro, define it: `-D {name}='\"file\"'`, or \
                 `.define_as(\"{name}\", …)` in a build script"
            ));
        }
        Err(self.session.report(error))
    }

    /// Returns the text of several tokens of one line, with a space where the source has space
    /// between two of them.
    fn joined(&self, tokens: &[Token]) -> String {
        let mut text = String::new();
        for token in tokens {
            if token.spaced && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(self.session.names.text(token.text));
        }
        text
    }

    fn check_inclusion_limits(&mut self, place: Place) -> Checked<()> {
        self.inclusions += 1;
        let limits = self.limits();
        if self.inclusions > limits.files {
            let message = format!("more than {} files are included", limits.files);
            let error = self
                .session
                .error_at(place, message, "this one is too many");
            return Err(self.session.report_fatal(error));
        }
        if self.frames.len() < limits.include_depth {
            return Ok(());
        }
        let message = format!(
            "files include one another more than {} deep",
            limits.include_depth
        );
        let mut error = self.session.error_at(place, message, "given up here");
        let current = self.frames.last().map(|frame| frame.file.id);
        let repeats = self
            .frames
            .iter()
            .filter(|f| Some(f.file.id) == current)
            .count()
            > 1;
        if repeats {
            error = error.with_help(
                "the file includes itself: put its text between `#ifndef NAME`, `#define NAME` \
                 and `#endif`, or write `#pragma once`",
            );
        }
        let outer = self.frames.last().and_then(|frame| frame.included_at);
        if let Some(outer) = outer.filter(|outer| *outer != place) {
            error = self
                .session
                .and(error, outer, "this file was included here");
        }
        Err(self.session.report_fatal(error))
    }

    fn not_found(&mut self, place: Place, name: &str, quoted: bool) -> crate::session::Reported {
        const WITH: &str = "`-I DIR`, or `.include_dir(\"DIR\")` in a build script";

        let mut searched = Vec::new();
        if quoted {
            searched.push("the folder of this file".to_owned());
        }
        searched.extend(
            self.include_dirs
                .iter()
                .map(|dir| dir.display().to_string()),
        );
        let help = if searched.is_empty() {
            format!("no include folders were given: name one with {WITH}")
        } else {
            let searched = searched.join(", ");
            format!("searched {searched}; name more folders with {WITH}")
        };
        let error = self
            .session
            .error_at(
                place,
                format!("cannot find the file `{name}`"),
                "included here",
            )
            .with_help(help);
        self.session.report(error)
    }

    fn unreadable(
        &mut self,
        place: Place,
        path: &Path,
        error: &io::Error,
    ) -> crate::session::Reported {
        let error = Diagnostic {
            message: unreadable_message(path, error, self.limits().file_bytes),
            ..self.session.error_at(place, "", "included here")
        };
        self.session.report(error)
    }
}

/// Returns the message about a file that exists but cannot be read.
pub(crate) fn unreadable_message(path: &Path, error: &io::Error, limit: usize) -> String {
    if error.kind() == io::ErrorKind::FileTooLarge {
        format!("the file `{}` is longer than {limit} bytes", path.display())
    } else {
        format!("cannot read the file `{}`: {error}", path.display())
    }
}

/// Returns the diagnostic for a main file that cannot be loaded.
pub(crate) fn main_file_error(path: &Path, error: Option<&io::Error>, limit: usize) -> Diagnostic {
    let message = match error {
        None => format!("cannot find the file `{}`", path.display()),
        Some(error) => unreadable_message(path, error, limit),
    };
    Diagnostic::without_place(Severity::Error, message)
}
