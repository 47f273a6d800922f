//! State shared by all stages of one compilation: files, names, diagnostics, and the remaining
//! budget.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::advice::CurrentAdvice;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{FileId, Location, Place, SourceFile};
use crate::{Limits, Options};

/// Marker of a reported error; its consequences need no message of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported;

/// Result of a compilation step whose errors have already been reported as diagnostics.
pub(crate) type Checked<T> = Result<T, Reported>;

/// Upper bound of the steps that checking may take, each about as costly as a look-up in a table,
/// or as copying a few bytes of a name. Real files need some thousands, or a million; without a
/// bound, a hostile one could take hours.
const WORK: usize = 50_000_000;

pub(crate) struct Session {
    pub(crate) files: Vec<Arc<SourceFile>>,
    pub(crate) limits: Limits,
    /// `true` if what the standard refuses and other compilers accept is accepted.
    pub(crate) lenient: bool,
    pub(crate) names: Interner,
    pub(crate) advice: CurrentAdvice,
    /// Source positions of macro uses, with the position of each macro's definition.
    expansions: HashMap<(FileId, u32), Place>,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    work: usize,
    fatal: bool,
}

impl Session {
    pub(crate) fn new(options: &Options) -> Self {
        Session {
            files: Vec::new(),
            limits: options.limits,
            lenient: options.lenient,
            names: Interner::default(),
            advice: CurrentAdvice::default(),
            expansions: HashMap::new(),
            diagnostics: Vec::new(),
            errors: 0,
            work: 0,
            fatal: false,
        }
    }

    pub(crate) fn add_file(&mut self, path: &Path, text: String) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files
            .push(Arc::new(SourceFile::new(path.display().to_string(), text)));
        id
    }

    pub(crate) fn file(&self, id: FileId) -> &Arc<SourceFile> {
        &self.files[id.index()]
    }

    /// Returns the source text in the given range.
    pub(crate) fn excerpt(&self, place: Place) -> &str {
        self.file(place.file).text().get(place.span()).unwrap_or("")
    }

    pub(crate) fn location(&self, place: Place) -> Location {
        let (line, column) = self.file(place.file).line_column(place.start as usize);
        Location {
            file: place.file,
            line,
            column,
            span: place.span(),
        }
    }

    /// Makes an error that points at a source position, still to be reported.
    pub(crate) fn error_at(
        &self,
        place: Place,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(
            Severity::Error,
            message,
            self.file(place.file).clone(),
            place.span(),
            label,
        )
    }

    /// Makes a warning that points at a source position, still to be reported.
    pub(crate) fn warning_at(
        &self,
        place: Place,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..self.error_at(place, message, label)
        }
    }

    /// Adds a second labelled source location to a diagnostic.
    pub(crate) fn and(
        &self,
        diagnostic: Diagnostic,
        place: Place,
        text: impl Into<String>,
    ) -> Diagnostic {
        diagnostic.with_label(self.file(place.file).clone(), place.span(), text)
    }

    /// Records the use of a macro, so that errors in its expansion mention it.
    pub(crate) fn note_expansion(&mut self, used: Place, defined: Place) {
        self.expansions.insert((used.file, used.start), defined);
    }

    /// Reports a diagnostic. Warnings about included files are dropped: the user that compiles the
    /// main file did not write them.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let included = diagnostic.primary.as_ref().is_some_and(|label| {
            !self
                .files
                .first()
                .is_some_and(|main| Arc::ptr_eq(main, &label.file))
        });
        if included && !diagnostic.is_error() {
            return Reported;
        }
        self.report_in_includes(diagnostic)
    }

    /// Reports as `report` does, but also warnings about included files.
    pub(crate) fn report_in_includes(&mut self, mut diagnostic: Diagnostic) -> Reported {
        if self.fatal || self.said_already(&diagnostic) {
            return Reported;
        }
        if let Some(defined) = self.expansion_behind(&diagnostic) {
            diagnostic = self.and(diagnostic, defined, "in what this macro became");
        }
        let counts = diagnostic.is_error();
        if counts {
            self.advice.add_to(&mut diagnostic);
        }
        self.diagnostics.push(diagnostic);
        if counts {
            self.errors += 1;
            if self.errors >= self.limits.errors.max(1) {
                let message = format!("giving up after {} errors", self.errors);
                self.diagnostics
                    .push(Diagnostic::without_place(Severity::Error, message));
                self.fatal = true;
            }
        }
        Reported
    }

    /// Reports what the standard refuses and other compilers accept: an error, or a warning if
    /// lenient.
    pub(crate) fn report_leniently(&mut self, mut diagnostic: Diagnostic) -> Checked<()> {
        if self.lenient {
            diagnostic.severity = Severity::Warning;
            self.report(diagnostic);
            return Ok(());
        }
        let allow = "`--lenient`, or `.lenient(true)` in a build script, lets it pass";
        diagnostic.add_help(allow);
        Err(self.report(diagnostic))
    }

    /// Reports an error after which continuing makes no sense.
    pub(crate) fn report_fatal(&mut self, diagnostic: Diagnostic) -> Reported {
        self.report(diagnostic);
        self.fatal = true;
        Reported
    }

    fn expansion_behind(&self, diagnostic: &Diagnostic) -> Option<Place> {
        let label = diagnostic
            .primary
            .as_ref()
            .filter(|_| diagnostic.secondary.is_empty())?;
        let file = self
            .files
            .iter()
            .position(|file| Arc::ptr_eq(file, &label.file))?;
        let file = FileId(u32::try_from(file).ok()?);
        self.expansions
            .get(&(file, u32::try_from(label.span.start).ok()?))
            .copied()
    }

    fn said_already(&self, new: &Diagnostic) -> bool {
        self.diagnostics.last().is_some_and(|last| {
            last.message == new.message
                && match (&last.primary, &new.primary) {
                    (Some(a), Some(b)) => a.span == b.span && Arc::ptr_eq(&a.file, &b.file),
                    (None, None) => true,
                    _ => false,
                }
        })
    }

    /// Returns `true` once the compilation should stop: a limit was reached, or errors became too
    /// many.
    pub(crate) fn is_fatal(&self) -> bool {
        self.fatal
    }

    /// Counts `steps` of work for the code at `place` against the limit.
    pub(crate) fn spend(&mut self, steps: usize, place: Place) -> Checked<()> {
        self.work = self.work.saturating_add(steps);
        if self.work <= WORK {
            return Ok(());
        }
        let error = self
            .error_at(
                place,
                "this file is too complex",
                "checking was given up here",
            )
            .with_help("names, inheritance or constants multiply beyond any sensible measure");
        Err(self.report_fatal(error))
    }

    /// Returns the number of steps that checking the file has taken so far.
    #[cfg(test)]
    pub(crate) fn work(&self) -> usize {
        self.work
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    /// Warns of a file without declarations, which may be the wrong one. `left_out` is the
    /// directive that excluded the file's text, if there is one.
    pub(crate) fn report_empty(&mut self, path: &Path, left_out: Option<(Place, Option<Symbol>)>) {
        let message = format!("the file `{}` declares nothing", path.display());
        let warning = match left_out {
            Some((place, asked)) => {
                let name = asked.map_or("NAME".into(), |name| self.names.text(name).clone());
                self.warning_at(place, message, "what it has is left out from here on")
                    .with_help(format!(
                        "if that is not meant, define a macro: `-D {name}`, or \
                         `.define(\"{name}\")` in a build script"
                    ))
            }
            None => Diagnostic::without_place(Severity::Warning, message)
                .with_help("is it the right file? It holds no more than comments and directives"),
        };
        self.report(warning);
    }
}

/// Handle of an interned text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Symbol(u32);

/// Interner that gives equal texts equal symbols. `Symbol::default()` is the empty text.
pub(crate) struct Interner {
    symbols: HashMap<Rc<str>, Symbol>,
    texts: Vec<Rc<str>>,
}

impl Default for Interner {
    fn default() -> Self {
        let mut interner = Interner {
            symbols: HashMap::new(),
            texts: Vec::new(),
        };
        interner.intern("");
        interner
    }
}

impl Interner {
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.symbols.get(text) {
            return *symbol;
        }
        let symbol = Symbol(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Rc<str> = text.into();
        self.texts.push(text.clone());
        self.symbols.insert(text, symbol);
        symbol
    }

    pub(crate) fn text(&self, symbol: Symbol) -> &Rc<str> {
        &self.texts[symbol.0 as usize]
    }
}
