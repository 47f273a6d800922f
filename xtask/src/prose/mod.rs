//! `cargo xtask prose`: comments in plain English.
//!
//! A doc comment opens with a verb (functions) or a noun (types, fields, modules), never with a question word or a
//! pronoun; comments have no words that hide their subject; `is_…` and `has_…` name functions that answer a question.
//! A crate may have a few doc comments that open otherwise ([`MOST`]); of words and names none.

mod comments;
mod names;
mod sample;

use crate::run::Result;
use crate::sources;
use comments::Comment;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders whose source files are checked.
const LOOKED_AT: [&str; 8] = [
    "bench", "crates", "examples", "fuzz", "interop", "services", "tools", "xtask",
];

/// Folders that are skipped, as they hold no source files written for this workspace.
const LEFT_OUT: [&str; 3] = ["target", "corpus", "node_modules"];

/// Opening words that doc comments should not have.
const OPENINGS: [&str; 10] = [
    "Who", "What", "Whether", "Where", "How", "That", "The same", "One that", "Has", "Is to",
];

/// Words that are forbidden in comments: they hide the subject and the object of a sentence.
const WORDS: [&str; 4] = ["nobody", "whoever", "whomever", "is told"];

/// Share of a crate's doc comments that may open with one of [`OPENINGS`], in percent.
const MOST: usize = 4;

/// Options of `cargo xtask prose`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print each place, not only the counts.
    #[arg(long)]
    list: bool,
    /// Print this number of comments drawn at random, without their code, for a reader to judge.
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Seed of the sample.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "sample")]
    seed: u64,
    /// Print the counts as JSON.
    #[arg(long)]
    json: bool,
}

/// Findings in the comments and names of one crate.
#[derive(Debug, Default, serde::Serialize)]
struct Findings {
    doc_comments: usize,
    openings: Vec<String>,
    words: Vec<String>,
    names: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let files = sources::rust_files(&LOOKED_AT, &LEFT_OUT)?;
    if let Some(count) = options.sample {
        sample::print(&files, count, options.seed);
        return Ok(());
    }
    let findings = findings(&files)?;
    match options.json {
        true => print_json(&findings)?,
        false => print_table(&findings, options.list),
    }
    verdict(&findings)
}

fn findings(files: &BTreeMap<PathBuf, String>) -> Result<BTreeMap<String, Findings>> {
    let mut all: BTreeMap<String, Findings> = BTreeMap::new();
    for (path, text) in files {
        let of_crate = all.entry(crate_of(path)).or_default();
        for comment in comments::of(text) {
            let place = format!("{}:{}", path.display(), comment.line);
            if comment.documents() {
                of_crate.doc_comments += 1;
                if let Some(opening) = opening(&comment) {
                    of_crate.openings.push(format!(
                        "{place}: opens with `{opening}`: {}",
                        comment.beginning()
                    ));
                }
            }
            for word in words(&comment) {
                of_crate
                    .words
                    .push(format!("{place}: `{word}`: {}", comment.around(word)));
            }
        }
        let misnamed =
            names::misnamed(text).map_err(|error| format!("{}: {error}", path.display()))?;
        let lines = misnamed.into_iter();
        of_crate.names.extend(lines.map(|(line, name)| {
            format!(
                "{}:{line}: `{name}` does not return a `bool`",
                path.display()
            )
        }));
    }
    Ok(all)
}

/// Returns the folder of the crate that a file belongs to.
fn crate_of(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let depth = match parts.first().map(|part| &**part) {
        Some("crates") => 3,
        Some("services" | "tools" | "examples") => 2,
        _ => 1,
    };
    parts.get(..depth).unwrap_or(&parts).join("/")
}

fn opening(comment: &Comment) -> Option<&'static str> {
    OPENINGS.into_iter().find(|opening| {
        let rest = comment.text.strip_prefix(opening);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    })
}

fn words(comment: &Comment) -> impl Iterator<Item = &'static str> {
    let lower = comment.text.to_lowercase();
    WORDS.into_iter().filter(move |word| {
        lower.match_indices(word).any(|(at, _)| {
            // In backticks it is a name: the user `nobody`.
            let outside = |next: Option<char>| {
                next.is_none_or(|next| !next.is_alphanumeric() && !"_`".contains(next))
            };
            outside(lower[..at].chars().next_back())
                && outside(lower[at + word.len()..].chars().next())
        })
    })
}

fn print_table(findings: &BTreeMap<String, Findings>, list: bool) {
    println!(
        "{:>8} {:>9} {:>5} {:>6} {:>6}  crate",
        "comments", "openings", "%", "words", "names"
    );
    for (name, one) in findings {
        println!(
            "{:8} {:9} {:5.1} {:6} {:6}  {name}",
            one.doc_comments,
            one.openings.len(),
            percent(one),
            one.words.len(),
            one.names.len()
        );
    }
    let sum = |of: fn(&Findings) -> usize| findings.values().map(of).sum::<usize>();
    let (comments, openings) = (sum(|one| one.doc_comments), sum(|one| one.openings.len()));
    println!(
        "{comments:8} {openings:9} {:5.1} {:6} {:6}  all",
        100.0 * openings as f64 / comments.max(1) as f64,
        sum(|one| one.words.len()),
        sum(|one| one.names.len())
    );
    if list {
        for one in findings.values() {
            for line in one.openings.iter().chain(&one.words).chain(&one.names) {
                println!("{line}");
            }
        }
    }
}

fn print_json(findings: &BTreeMap<String, Findings>) -> Result<()> {
    let text = serde_json::to_string_pretty(findings).map_err(|error| error.to_string())?;
    println!("{text}");
    Ok(())
}

fn percent(findings: &Findings) -> f64 {
    100.0 * findings.openings.len() as f64 / findings.doc_comments.max(1) as f64
}

fn verdict(findings: &BTreeMap<String, Findings>) -> Result<()> {
    let mut mistakes = Vec::new();
    for (name, one) in findings {
        if 100 * one.openings.len() > MOST * one.doc_comments {
            mistakes.push(format!(
                "{name}: {} of {} doc comments open with a question word or a pronoun; {MOST} % may",
                one.openings.len(),
                one.doc_comments
            ));
        }
        mistakes.extend(one.words.iter().chain(&one.names).cloned());
    }
    match mistakes.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "comments or names are not in plain English (`cargo xtask prose --list` has every place):\n  {}",
            mistakes.join("\n  ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Findings {
        let files = BTreeMap::from([(PathBuf::from("crates/a/b/src/lib.rs"), text.to_owned())]);
        findings(&files).unwrap().remove("crates/a/b").unwrap()
    }

    #[test]
    fn openings_are_looked_for_in_doc_comments_only_and_as_whole_words() {
        let found =
            of("/// Who waits.\nfn a() {}\n/// Whole.\nfn b() {}\n// What is this?\nfn c() {}\n");
        assert_eq!((found.doc_comments, found.openings.len()), (2, 1));
    }

    #[test]
    fn words_are_looked_for_in_all_comments_and_not_in_code() {
        let found = of(
            "// Nobody reads it.\nfn nobody() { print(\"nobody\"); }\n// the overflow user, `NOBODY_ID`\n",
        );
        assert_eq!(found.words.len(), 1);
    }

    #[test]
    fn a_crate_with_too_many_openings_or_any_word_is_refused_by_place() {
        let wrong = of("/// That is it.\nfn a() {}\n// whoever\n");
        let error = verdict(&BTreeMap::from([("crates/a/b".to_owned(), wrong)])).unwrap_err();
        assert!(
            error.contains("1 of 1") && error.contains("crates/a/b/src/lib.rs:3"),
            "{error}"
        );
    }
}
