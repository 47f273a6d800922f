//! Comments of a Rust file; consecutive comment lines form one comment.

/// Comment in a source file, of one or more lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Comment {
    /// Number of the comment's first line, from 1.
    pub(super) line: usize,
    /// Text without the comment markers, its lines joined by spaces.
    pub(super) text: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Item,
    Module,
    Line,
}

impl Comment {
    /// Returns `true` if the comment is a doc comment.
    pub(super) fn documents(&self) -> bool {
        self.kind != Kind::Line
    }

    /// Returns the first 70 characters of the comment.
    pub(super) fn beginning(&self) -> String {
        self.text.chars().take(70).collect()
    }

    /// Returns an excerpt of the comment around `word`.
    pub(super) fn around(&self, word: &str) -> String {
        let at = self.text.to_lowercase().find(word).unwrap_or(0);
        let before = self.text.char_indices().map(|(place, _)| place);
        let from = before.filter(|place| place + 30 >= at).min().unwrap_or(0);
        self.text
            .get(from..)
            .unwrap_or_default()
            .chars()
            .take(80)
            .collect()
    }
}

/// Returns those comments of a file that do not share a line with code.
pub(super) fn of(text: &str) -> Vec<Comment> {
    let mut comments: Vec<Comment> = Vec::new();
    let mut before: Option<Kind> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let marked = marked(line);
        if let Some((kind, text)) = marked {
            match (comments.last_mut(), before == Some(kind)) {
                (Some(last), true) => {
                    last.text.push(' ');
                    last.text.push_str(text);
                }
                _ => comments.push(Comment {
                    line: number + 1,
                    text: text.to_owned(),
                    kind,
                }),
            }
        }
        before = marked.map(|(kind, _)| kind);
    }
    comments
}

fn marked(line: &str) -> Option<(Kind, &str)> {
    let kinds = [
        ("////", None),
        ("///", Some(Kind::Item)),
        ("//!", Some(Kind::Module)),
        ("//", Some(Kind::Line)),
    ];
    let (mark, kind) = kinds.into_iter().find(|(mark, _)| line.starts_with(mark))?;
    Some((kind?, line.strip_prefix(mark)?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_kind_are_one_comment() {
        let found = of("//! Module.\n\n/// One\n/// two.\nfn a() {}\n    // why\n");
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.line, one.text.as_str(), one.documents()))
            .collect();
        assert_eq!(
            found,
            [
                (1, "Module.", true),
                (3, "One two.", true),
                (6, "why", false)
            ]
        );
    }
}
