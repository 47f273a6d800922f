//! Text form of diagnostics for people, in the style of rustc's.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Diagnostic, Severity, SourceLabel};
use crate::source::SourceFile;

/// Length beyond which a source line is cut to the surroundings of its label.
const WIDEST_LINE: usize = 160;

/// Renders all diagnostics with their source excerpts, and a line that counts them. `color` adds
/// ANSI escape sequences.
pub fn render(diagnostics: &[Diagnostic], color: bool) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&render_one(diagnostic, color));
        text.push_str("\n\n");
    }
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let warnings = diagnostics.len() - errors;
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let _ = match (errors, warnings) {
        (0, 0) => Ok(()),
        (0, _) => writeln!(text, "{}", counted(warnings, "warning")),
        (_, 0) => writeln!(text, "{}", counted(errors, "error")),
        _ => writeln!(
            text,
            "{}, {}",
            counted(errors, "error"),
            counted(warnings, "warning")
        ),
    };
    text
}

fn render_one(diagnostic: &Diagnostic, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()));
    for excerpt in excerpts(diagnostic) {
        group = group.element(excerpt);
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let rendered = renderer.render(&[group]);
    rendered
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns one snippet for each line that has a label; the primary one first.
fn excerpts(diagnostic: &Diagnostic) -> Vec<Snippet<'static, Annotation<'static>>> {
    let primary = diagnostic
        .primary
        .iter()
        .map(|label| (AnnotationKind::Primary, label));
    let secondary = diagnostic
        .secondary
        .iter()
        .map(|label| (AnnotationKind::Context, label));
    let mut groups: Vec<Excerpt<'_>> = Vec::new();
    for (kind, label) in primary.chain(secondary) {
        let line = label.file.line_index(label.span.start);
        match groups
            .iter_mut()
            .find(|e| Arc::ptr_eq(e.file, &label.file) && e.near(line))
        {
            Some(excerpt) => excerpt.add(line, kind, label),
            None => groups.push(Excerpt {
                file: &label.file,
                lines: line..line + 1,
                labels: vec![(kind, label)],
            }),
        }
    }
    groups.into_iter().map(Excerpt::into_snippet).collect()
}

struct Excerpt<'a> {
    file: &'a Arc<SourceFile>,
    lines: Range<usize>,
    labels: Vec<(AnnotationKind, &'a SourceLabel)>,
}

impl<'a> Excerpt<'a> {
    /// Returns whether a line is near enough to the lines of this excerpt for one excerpt to show
    /// both.
    fn near(&self, line: usize) -> bool {
        line + 60 > self.lines.end && line < self.lines.start + 60
    }

    fn add(&mut self, line: usize, kind: AnnotationKind, label: &'a SourceLabel) {
        self.lines = self.lines.start.min(line)..self.lines.end.max(line + 1);
        self.labels.push((kind, label));
    }

    fn into_snippet(self) -> Snippet<'static, Annotation<'static>> {
        let mut source = String::new();
        let mut spans = vec![0..0; self.labels.len()];
        for line in self.lines.clone() {
            let range = self.file.line_range(line);
            let here = |label: &&SourceLabel| self.file.line_index(label.span.start) == line;
            let first = self.labels.iter().map(|(_, label)| *label).find(here);
            let anchor = first.map_or(range.start, |label| label.span.start.min(range.end));
            let shown = cut(self.file.text(), range.clone(), anchor);
            if shown.start > range.start {
                source.push_str("...");
            }
            let offset = source.len();
            for (index, (_, label)) in self.labels.iter().enumerate() {
                if here(label) {
                    let start = label.span.start.clamp(shown.start, shown.end);
                    let end = label.span.end.clamp(start, shown.end);
                    spans[index] = start - shown.start + offset..end - shown.start + offset;
                }
            }
            let text = &self.file.text()[shown.clone()];
            source.extend(text.chars().map(|c| {
                match c {
                    '\t' => c,
                    _ if c.is_ascii_control() => ' ',
                    // A control character of ISO 8859-1, which some terminals obey; as long in UTF-8.
                    _ if c.is_control() => '\u{a0}',
                    _ => c,
                }
            }));
            if shown.end < range.end {
                source.push_str("...");
            }
            source.push('\n');
        }
        let annotations = self.labels.iter().zip(spans).map(|((kind, label), span)| {
            let text = (!label.text.is_empty()).then(|| label.text.clone());
            kind.span(span).label(text)
        });
        Snippet::source(source)
            .line_start(self.lines.start + 1)
            .path(self.file.name().to_owned())
            .annotations(annotations)
    }
}

/// Returns the part of a line to show: all of it, or the surroundings of `anchor`.
fn cut(text: &str, line: Range<usize>, anchor: usize) -> Range<usize> {
    if line.len() <= WIDEST_LINE {
        return line;
    }
    let mut start = anchor.saturating_sub(WIDEST_LINE / 2).max(line.start);
    let mut end = (start + WIDEST_LINE).min(line.end);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}
