//! The commands of the guide and of the README: the commands of each page are run in order, in a
//! folder of their own, and must print the shown output.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "guide/session.rs"]
mod session;
#[path = "guide/transcript.rs"]
mod transcript;

use punctual_guide::{Page, pages, root};
use session::Session;
use std::sync::{Mutex, PoisonError};

/// Lock for one page at a time: pages that make crates build them in one shared folder.
static BUILDING: Mutex<()> = Mutex::new(());

/// Runs the commands of a page; an error names the page and the line.
fn run(page: &Page, path: &str) -> Result<(), String> {
    let _one = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut session = Session::new().map_err(|error| format!("{path}: {error}"))?;
    for block in &page.blocks {
        let at = |line: usize, what: String| format!("{path}:{line}: {what}");
        if let Some(file) = &block.file {
            let written = session.write(file, &block.text);
            written.map_err(|error| at(block.line, format!("{file}: {error}")))?;
        } else if block.not_run.is_none() && ["sh", "console"].contains(&block.language.as_str()) {
            for step in transcript::steps(block) {
                session.run(&step).map_err(|what| at(step.line, what))?;
            }
        }
    }
    Ok(())
}

#[test]
fn each_command_of_the_guide_runs_and_prints_what_its_page_shows() {
    let mut failed = Vec::new();
    // For authors: this page alone.
    let only = std::env::var("PUNCTUAL_PAGE").ok();
    let is_wanted = |page: &Page| only.as_ref().is_none_or(|only| *only == page.name);
    let pages: Vec<Page> = pages().unwrap().into_iter().filter(is_wanted).collect();
    assert!(!pages.is_empty(), "no page is called {only:?}");
    for page in pages {
        let path = format!("docs/guide/{}.md", page.name);
        failed.extend(run(&page, &path).err());
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn each_command_of_the_readme_runs() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let done = run(&Page::parse("README", &text), "README.md");
    assert_eq!(done, Ok(()));
}

#[test]
fn a_command_that_fails_is_told_with_its_page_and_line() {
    let page = Page::parse("page", "# Page\n\n```console\n$ true\n$ ls missing\n```\n");
    let told = run(&page, "page.md").unwrap_err();
    assert!(
        told.starts_with("page.md:5: `ls missing` ended with status 2"),
        "{told}"
    );
}

#[test]
fn output_that_differs_is_told_with_its_page_and_line() {
    let page = Page::parse(
        "page",
        "```console\n$ echo one; echo two\none\n…\n$ echo three\nfour\n```\n",
    );
    let told = run(&page, "page.md").unwrap_err();
    assert!(
        told.starts_with("page.md:5: `echo three` printed"),
        "{told}"
    );
}
