//! A page, and the blocks of code in it.

use std::io;
use std::path::Path;

/// Page of the guide, with its blocks of code.
#[derive(Clone, Debug)]
pub struct Page {
    /// File name of the guide page without `.md`.
    pub name: String,
    /// Blocks of code on the page, in order.
    pub blocks: Vec<Block>,
}

/// Block of code on a guide page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Number of its first line of code, counted from 1.
    pub line: usize,
    /// Language of the code block, the first word after the fence: `rust`, `idl`, `console`.
    pub language: String,
    /// Other words after the fence, separated by commas: `items`, `no_run`.
    pub words: Vec<String>,
    /// Text of the code block, without its fences.
    pub text: String,
    /// Path of the file as which the block is written when the page's commands run, if it is one.
    pub file: Option<String>,
    /// Reason for which the block is neither compiled nor run.
    pub not_run: Option<String>,
    /// Rust statements to be inserted before the code block when it is compiled.
    pub setup: String,
}

impl Block {
    /// Returns `true` if `word` is one of the words after the fence.
    #[must_use]
    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|one| one == word)
    }
}

impl Page {
    /// Parses the Markdown text of a guide page.
    #[must_use]
    pub fn parse(name: &str, text: &str) -> Self {
        let mut page = Self {
            name: name.to_owned(),
            blocks: Vec::new(),
        };
        // Properties of the next block, collected from comments.
        let mut next = Block::default();
        let mut open: Option<Block> = None;
        for (number, line) in text.lines().enumerate() {
            match &mut open {
                Some(block) if line.trim_end() == "```" => {
                    page.blocks.push(std::mem::take(block));
                    open = None;
                }
                Some(block) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                None => {
                    if let Some(info) = line.strip_prefix("```") {
                        let setup = next.setup.clone();
                        let mut block = std::mem::take(&mut next);
                        next.setup = setup;
                        let mut words = info.trim().split(',').map(str::to_owned);
                        block.language = words.next().unwrap_or_default();
                        block.words = words.collect();
                        block.line = number + 2;
                        open = Some(block);
                    } else {
                        obey(line, &mut next);
                    }
                }
            }
        }
        page
    }
}

/// Applies a `guide:` comment of a page to the code blocks after it.
fn obey(line: &str, next: &mut Block) {
    let comment = line.trim().strip_prefix("<!-- guide: ");
    let Some(said) = comment.and_then(|rest| rest.strip_suffix(" -->")) else {
        return;
    };
    if let Some(statements) = said.strip_prefix("setup") {
        next.setup = statements.trim().to_owned();
    } else if let Some(path) = said.strip_prefix("file ") {
        next.file = Some(path.trim().to_owned());
    } else if let Some(reason) = said.strip_prefix("not run:") {
        next.not_run = Some(reason.trim().to_owned());
    }
}

/// Reads all pages of a folder, sorted by name.
pub(crate) fn all(folder: &Path) -> io::Result<Vec<Page>> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        if let (Some(name), Some("md")) = (name, path.extension().and_then(|e| e.to_str())) {
            pages.push(Page::parse(name, &std::fs::read_to_string(&path)?));
        }
    }
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_their_lines_their_words_and_what_comments_say() {
        let text = "# A page\n<!-- guide: setup let x = 1; -->\n```rust,no_run\nx;\n```\n\
                    <!-- guide: not run: it needs a network -->\n```sh\ngit clone\n```\n\
                    <!-- guide: file idl/a.idl -->\n```idl\nmodule a {};\n```\n```text\n```\n";
        let page = Page::parse("page", text);
        let of = |block: &Block| (block.line, block.language.clone(), block.text.clone());
        let blocks: Vec<_> = page.blocks.iter().map(of).collect();
        let expected = [
            (4, "rust", "x;\n"),
            (8, "sh", "git clone\n"),
            (12, "idl", "module a {};\n"),
            (15, "text", ""),
        ];
        let expected = expected.map(|(line, word, text)| (line, word.to_owned(), text.to_owned()));
        assert_eq!(blocks, expected);
        assert!(page.blocks[0].has("no_run"));
        assert_eq!(page.blocks[0].setup, "let x = 1;");
        assert_eq!(
            page.blocks[1].not_run.as_deref(),
            Some("it needs a network")
        );
        assert_eq!(page.blocks[2].file.as_deref(), Some("idl/a.idl"));
        assert_eq!(page.blocks[3].file, None);
        assert_eq!(page.blocks[3].setup, "let x = 1;");
    }
}
