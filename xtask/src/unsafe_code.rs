//! Part of `cargo xtask layers`: check that `unsafe` is used only in the places that
//! ARCHITECTURE.md lists.
//!
//! The table after the heading "Where `unsafe` stands" lists one file or folder in each row, in
//! backticks. Each source file with `unsafe` must be listed or lie in a listed folder, and each
//! listed place must use `unsafe`. Unit tests are exempt.

use crate::run::{Result, root};
use crate::sources;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Heading in `ARCHITECTURE.md` before the table of files with `unsafe` code.
const HEADING: &str = "Where `unsafe` stands";

pub(crate) fn check() -> Result<()> {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md"))
        .map_err(|error| format!("ARCHITECTURE.md: {error}"))?;
    let told = places(&page);
    let sources = sources::of_the_product()?;
    let found = with_unsafe(&sources)?;
    let mistakes = mistakes(&told, &found);
    if mistakes.is_empty() {
        println!(
            "unsafe: {} files, all where ARCHITECTURE.md says",
            found.len()
        );
        return Ok(());
    }
    Err(format!(
        "ARCHITECTURE.md's table of `unsafe` is wrong:\n  {}",
        mistakes.join("\n  ")
    ))
}

/// Returns the file paths listed in the table of `unsafe` code.
fn places(page: &str) -> BTreeSet<PathBuf> {
    let lines = page.lines().skip_while(|line| !line.contains(HEADING));
    lines
        .skip_while(|line| !line.trim_start().starts_with('|'))
        .take_while(|line| line.trim_start().starts_with('|'))
        .filter_map(|line| line.trim_start().strip_prefix("| `")?.split_once('`'))
        .map(|(path, _)| PathBuf::from(path))
        .collect()
}

/// Returns the files that have `unsafe` outside of unit tests.
fn with_unsafe(sources: &BTreeMap<PathBuf, String>) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    for (path, text) in sources {
        let of_tests = path
            .iter()
            .any(|part| part == "tests" || part == "tests.rs");
        // A glance at the text first: most files have none.
        if of_tests || !text.contains("unsafe") {
            continue;
        }
        let tests = text.find("\n#[cfg(test)]\nmod ").unwrap_or(text.len());
        let tokens: TokenStream = text
            .get(..tests)
            .unwrap_or(text)
            .parse()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        if has_unsafe(tokens) {
            found.insert(path.clone());
        }
    }
    Ok(found)
}

fn has_unsafe(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "unsafe",
        TokenTree::Group(group) => has_unsafe(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn mistakes(told: &BTreeSet<PathBuf>, found: &BTreeSet<PathBuf>) -> Vec<String> {
    let is_told = |file: &&PathBuf| told.iter().any(|place| file.starts_with(place));
    let has_some = |place: &Path| found.iter().any(|file| file.starts_with(place));
    let missing = found.iter().filter(|file| !is_told(file));
    let missing = missing.map(|file| format!("{} has `unsafe` and no row", file.display()));
    let idle = told.iter().filter(|place| !has_some(place));
    let idle = idle.map(|place| format!("{} has a row and no `unsafe`", place.display()));
    missing.chain(idle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "x\n**Where `unsafe` stands**:\n\n| where | why |\n|---|---|\n| `a/src/one.rs` | x |\n| `b/src/two` | y |\n\n| `c` | z |\n";

    #[test]
    fn the_table_is_the_one_behind_its_words() {
        let told: Vec<_> = places(PAGE).into_iter().collect();
        assert_eq!(told, [Path::new("a/src/one.rs"), Path::new("b/src/two")]);
    }

    #[test]
    fn files_without_a_row_and_rows_without_a_file_are_named() {
        let sources = BTreeMap::from([
            (
                PathBuf::from("a/src/one.rs"),
                "fn f() { unsafe { g() } }".to_owned(),
            ),
            (
                PathBuf::from("d/src/new.rs"),
                "unsafe impl Send for A {}".to_owned(),
            ),
            (
                PathBuf::from("d/src/lib.rs"),
                "#![allow(unsafe_code)]\n// unsafe\n\n#[cfg(test)]\nmod tests { unsafe {} }"
                    .to_owned(),
            ),
        ]);
        let found = with_unsafe(&sources).unwrap();
        assert_eq!(
            mistakes(&places(PAGE), &found),
            [
                "d/src/new.rs has `unsafe` and no row",
                "b/src/two has a row and no `unsafe`"
            ]
        );
    }
}
