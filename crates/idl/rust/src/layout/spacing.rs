//! Blank lines: one before each item and method, except the first of a block, and between items
//! that take a single line each.

use super::macros::PLAIN_STRUCT;

/// Text that grows line by line.
pub(super) struct Spaced {
    text: String,
    /// Offset of the last line.
    last: usize,
}

impl Spaced {
    /// Makes a text that begins with a header, and has room for `octets` more bytes.
    pub(super) fn after(header: &str, octets: usize) -> Self {
        // The rest includes blank lines.
        let mut text = String::with_capacity(header.len() + octets + octets / 16);
        text.push_str(header);
        let last = text.len();
        Spaced { text, last }
    }

    pub(super) fn push_line(&mut self, line: &str) {
        let previous = self.text[self.last..].trim_end_matches('\n');
        if !previous.is_empty() && needs_space(previous, line) {
            self.text.push('\n');
        }
        self.last = self.text.len();
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

fn needs_space(previous: &str, line: &str) -> bool {
    let (start, before) = (line.trim_start(), previous.trim_start());
    let same_depth = line.len() - start.len() == previous.len() - before.len();
    // Most lines end no item: the costlier checks are made only for the others.
    let ends_item = before.ends_with('}') || before.ends_with(';');
    if !same_depth || !ends_item {
        return false;
    }
    let begins_item = ITEM_STARTS.iter().any(|word| start.starts_with(word))
        || is_macro(start)
        || start.ends_with(PLAIN_STRUCT);
    let is_doc = |text: &str| text.starts_with("///") || text.starts_with("#[");
    let both_short =
        before.ends_with(';') && !is_doc(start) && first_word(before) == first_word(start);
    begins_item && !is_doc(before) && !both_short
}

/// Returns whether an item is made by a macro.
fn is_macro(line: &str) -> bool {
    let name = line.split_once("!(").map(|(name, _)| name);
    name.is_some_and(|name| {
        name.chars()
            .all(|c| c.is_ascii_lowercase() || c == '_' || c == ':')
    })
}

const ITEM_STARTS: &[&str] = &[
    "///", "#[", "pub ", "impl", "struct ", "enum ", "fn ", "mod ", "trait ", "type ",
];

fn first_word(line: &str) -> &str {
    line.split([' ', '<']).next().unwrap_or(line)
}
