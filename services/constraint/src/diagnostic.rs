//! Mistakes in the text of a constraint.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// Length beyond which a line is cut to the surroundings of the mistake, in bytes.
const WIDEST_LINE: usize = 160;

/// Mistake in the text of a constraint: its place, what is wrong, and perhaps a remedy.
#[derive(Clone, PartialEq, Eq)]
pub struct Diagnostic {
    details: Box<Details>,
}

#[derive(Clone, PartialEq, Eq)]
struct Details {
    message: String,
    span: Range<usize>,
    line: usize,
    column: usize,
    label: &'static str,
    help: Option<&'static str>,
    excerpt: String,
    /// Range of the mistake in the excerpt.
    shown: Range<usize>,
}

impl Diagnostic {
    pub(crate) fn new(
        text: &str,
        span: Range<usize>,
        message: String,
        label: &'static str,
    ) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        let (excerpt, shown) = excerpt(text, begin, &span);
        let details = Details {
            line: before.matches('\n').count() + 1,
            column: before.get(begin..).unwrap_or_default().chars().count() + 1,
            message,
            span,
            label,
            help: None,
            excerpt,
            shown,
        };
        Self {
            details: Box::new(details),
        }
    }

    pub(crate) fn with_help(mut self, help: &'static str) -> Self {
        self.details.help = Some(help);
        self
    }

    /// Returns what is wrong, in one sentence without a full stop.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.details.message
    }

    /// Returns the place of the mistake: a range of bytes of the text.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.details.span.clone()
    }

    /// Returns line and column of the mistake, counted from 1, the column in characters.
    #[must_use]
    pub fn line_column(&self) -> (usize, usize) {
        (self.details.line, self.details.column)
    }

    /// Renders the mistake with the line that it is in, as rustc does. `color` adds ANSI escape sequences.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let mark = AnnotationKind::Primary.span(self.details.shown.clone());
        let snippet = Snippet::source(self.details.excerpt.as_str())
            .line_start(self.details.line)
            .path("constraint")
            .annotation(mark.label(self.details.label));
        let mut group =
            Group::with_title(Level::ERROR.primary_title(self.details.message.as_str()))
                .element(snippet);
        if let Some(help) = self.details.help {
            group = group.element(Level::HELP.message(help));
        }
        let renderer = match color {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        renderer.render(&[group])
    }
}

/// Returns the line that begins at `begin`, cut if it is long, and the range of the mistake in it.
fn excerpt(text: &str, begin: usize, span: &Range<usize>) -> (String, Range<usize>) {
    let rest = text.get(begin..).unwrap_or_default();
    let end = begin + rest.find('\n').unwrap_or(rest.len());
    let mut from = begin.max(span.start.saturating_sub(WIDEST_LINE / 2));
    let mut to = end.min(from + WIDEST_LINE).max(from);
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    while !text.is_char_boundary(to) {
        to += 1;
    }
    let line = text.get(from..to).unwrap_or_default();
    // Spaces instead of what terminals obey, of the same length.
    let shown = line.chars().map(|one| match one {
        _ if one.is_ascii_control() => ' ',
        _ if one.is_control() => '\u{a0}',
        _ => one,
    });
    let start = span.start.clamp(from, to) - from;
    let stop = span.end.clamp(from, to) - from;
    (shown.collect(), start..stop.max(start))
}

/// Formats the mistake as one line: `line:column: message`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {}",
            self.details.line, self.details.column, self.details.message
        )
    }
}

/// Shows the message of Display, so that it is readable where `main` returns the error.
impl fmt::Debug for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Diagnostic {}
