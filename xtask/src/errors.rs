//! Part of `cargo xtask layers`: check that public errors look the same by `Debug` as by `Display`.
//!
//! A `main` that returns an error shows its `Debug` text, and so do `unwrap` and `expect`: users read names of fields
//! there instead of what to do.

use crate::run::Result;
use crate::sources;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) fn check() -> Result<()> {
    let sources = sources::of_the_product()?;
    let mistakes = mistakes(&sources);
    if mistakes.is_empty() {
        println!(
            "errors: {} files, `Debug` of public errors is `Display`",
            sources.len()
        );
        return Ok(());
    }
    Err(format!(
        "public errors derive `Debug`, which a `main` that returns them shows (implement it by `Display`):\n  {}",
        mistakes.join("\n  ")
    ))
}

fn mistakes(sources: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let of_file = |(path, text): (&PathBuf, &String)| {
        let names = deriving(text).into_iter();
        let shown = names.map(|name| format!("{}: {name}", path.display()));
        shown.collect::<Vec<_>>()
    };
    sources.iter().flat_map(of_file).collect()
}

/// Returns the public types of a file that derive both `Debug` and `Error`.
fn deriving(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let derived = line.strip_prefix("#[derive(");
        let Some(derived) = derived.and_then(|rest| rest.strip_suffix(")]")) else {
            continue;
        };
        let has = |wanted: &str| {
            let mut names = derived.split(", ");
            names.any(|name| name.rsplit("::").next() == Some(wanted))
        };
        if !has("Debug") || !has("Error") {
            continue;
        }
        let item = lines
            .by_ref()
            .find(|line| ["enum ", "struct "].iter().any(|kind| line.contains(kind)));
        let name = item.and_then(|item| item.strip_prefix("pub "));
        names.extend(name.and_then(|item| item.split([' ', '(', ';', '<']).nth(1)));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_error_that_derives_its_debug_text_is_refused() {
        let planted =
            "#[derive(Clone, Debug, thiserror::Error)]\n#[non_exhaustive]\npub enum Refused {\n}";
        assert_eq!(deriving(planted), ["Refused"]);
        let unit = "#[derive(Debug, Error)]\npub struct Gone;";
        assert_eq!(deriving(unit), ["Gone"]);
    }

    #[test]
    fn errors_within_a_crate_and_other_types_may_derive_it() {
        for allowed in [
            "#[derive(Debug, Error)]\nstruct Inner;",
            "#[derive(Debug, Error)]\npub(crate) enum Inner {\n}",
            "#[derive(Clone, Debug)]\npub struct Options;",
            "#[derive(Clone, Error)]\npub struct Shown;",
        ] {
            assert_eq!(deriving(allowed), [""; 0], "{allowed}");
        }
    }
}
