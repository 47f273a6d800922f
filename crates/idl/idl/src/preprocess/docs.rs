//! Comments that document the declarations after them.
//!
//! A comment belongs to a declaration when it stands directly above it: nothing but line ends
//! between them, no blank line, and no code before the comment on its own line.

use std::ops::RangeInclusive;

use crate::lexer::Kind;

#[derive(Default)]
pub(super) struct Docs {
    all: Vec<Vec<String>>,
    pending: Vec<String>,
    /// Line on which the pending documentation comment ends.
    last_line: usize,
    /// `true` if a token was emitted on the present line.
    line_has_code: bool,
}

impl Docs {
    pub(super) fn line_end(&mut self) {
        self.line_has_code = false;
    }

    /// Drops the pending comment at a directive: it is about something else.
    pub(super) fn forget(&mut self) {
        self.pending.clear();
    }

    pub(super) fn comment(&mut self, source: &str, lines: RangeInclusive<usize>, kind: Kind) {
        if self.line_has_code {
            return;
        }
        if !self.pending.is_empty() && *lines.start() > self.last_line + 1 {
            self.pending.clear();
        }
        self.last_line = *lines.end();
        match kind {
            Kind::LineComment => self.pending.push(line_comment(source)),
            _ => self.pending.extend(block_comment(source)),
        }
    }

    /// Returns the documentation for a token on `line`, in the form of `Token::doc`.
    pub(super) fn attach(&mut self, line: usize) -> u32 {
        self.line_has_code = true;
        if self.pending.is_empty() {
            return 0;
        }
        let mut lines = std::mem::take(&mut self.pending);
        if line > self.last_line + 1 {
            return 0;
        }
        trim_blank_ends(&mut lines);
        if lines.is_empty() {
            return 0;
        }
        self.all.push(lines);
        u32::try_from(self.all.len()).unwrap_or(0)
    }

    pub(super) fn take_all(&mut self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.all)
    }
}

fn line_comment(source: &str) -> String {
    let text = source.trim_start_matches('/');
    let text = text
        .strip_prefix('!')
        .or(text.strip_prefix('<'))
        .unwrap_or(text);
    clean(text.strip_prefix(' ').unwrap_or(text))
}

fn block_comment(source: &str) -> Vec<String> {
    let inner = source.strip_prefix("/*").unwrap_or(source);
    let inner = inner.strip_suffix("*/").unwrap_or(inner);
    let inner = inner.trim_start_matches('*');
    let inner = inner.strip_prefix('!').unwrap_or(inner);
    let texts: Vec<&str> = inner.lines().collect();
    let starred = texts
        .iter()
        .skip(1)
        .any(|line| line.trim_start().starts_with('*'));
    let indent = |line: &str| line.len() - line.trim_start().len();
    let common = texts
        .iter()
        .skip(1)
        .filter(|l| !l.trim().is_empty())
        .map(|l| indent(l))
        .min();
    texts
        .iter()
        .enumerate()
        .map(|(index, line)| {
            if index == 0 {
                return clean(line.trim_start());
            }
            if starred {
                let line = line.trim_start().trim_start_matches('*');
                return clean(line.strip_prefix(' ').unwrap_or(line));
            }
            clean(line.get(common.unwrap_or(0)..).unwrap_or(line.trim_start()))
        })
        .collect()
}

/// Returns a line without trailing space, and empty when it only draws a rule.
fn clean(line: &str) -> String {
    let line = line.trim_end();
    let drawn = line
        .trim()
        .chars()
        .all(|c| matches!(c, '-' | '=' | '*' | '/' | '#' | '_' | '~'));
    if drawn {
        String::new()
    } else {
        line.to_owned()
    }
}

fn trim_blank_ends(lines: &mut Vec<String>) {
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let blank = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..blank);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_and_drawn_lines_are_stripped_from_comments() {
        assert_eq!(line_comment("/// One"), "One");
        assert_eq!(line_comment("//////////"), "");
        assert_eq!(block_comment("/** One */"), ["One"]);
        assert_eq!(
            block_comment("/*\n * One\n *   two\n */"),
            ["", "One", "  two", ""]
        );
        assert_eq!(block_comment("/* One\n   two */"), ["One", "two"]);
    }
}
