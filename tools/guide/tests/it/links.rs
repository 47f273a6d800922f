//! Links between pages have targets, every page of the guide is in its table of contents, and
//! blocks that are not run have a reason.
#![allow(clippy::unwrap_used, missing_docs)]

use punctual_guide::{headings, links, pages, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Number of blocks of the guide that are neither compiled nor run, each with its reason in the
/// page. It is raised only deliberately.
const NOT_RUN: usize = 38;

/// Returns the pages of the repository that are checked.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let tops = [
        "",
        "docs",
        "docs/guide",
        "docs/conformance",
        "bench",
        "interop",
        "fuzz",
        "services",
        "examples/alarms",
        "examples/cpp",
        "examples/telemetry",
        "examples/tls",
    ];
    for top in tops.map(|folder| root().join(folder)) {
        for entry in std::fs::read_dir(top).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn problem(page: &Path, target: &str) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let to = match path {
        "" => page.to_owned(),
        _ => page.parent().unwrap().join(path),
    };
    if !to.exists() {
        return Some("leads to no file");
    }
    let is_page = to.extension().is_some_and(|extension| extension == "md");
    if anchor.is_empty() || !is_page {
        return None;
    }
    let text = std::fs::read_to_string(&to).unwrap();
    match headings(&text).iter().any(|heading| heading == anchor) {
        true => None,
        false => Some("leads to no heading"),
    }
}

#[test]
fn links_between_documents_lead_to_files_and_headings() {
    let mut wrong = Vec::new();
    for page in documents() {
        let text = std::fs::read_to_string(&page).unwrap();
        for (line, target) in links(&text) {
            if let Some(problem) = problem(&page, &target) {
                wrong.push(format!("{}:{line}: `{target}` {problem}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_of_contents_names_each_page_of_the_guide_once() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let named: Vec<_> = links(&summary)
        .into_iter()
        .map(|(_, target)| target)
        .collect();
    let once: BTreeSet<_> = named.iter().collect();
    assert_eq!(once.len(), named.len(), "a page is named twice");
    for page in pages().unwrap() {
        let path = format!("guide/{}.md", page.name);
        assert!(named.contains(&path), "{path} is not in docs/SUMMARY.md");
    }
}

#[test]
fn what_is_not_run_says_why() {
    let mut without = 0;
    for page in pages().unwrap() {
        for block in &page.blocks {
            without += usize::from(block.not_run.is_some());
            let place = format!("docs/guide/{}.md:{}", page.name, block.line);
            assert_ne!(block.not_run.as_deref(), Some(""), "{place}: no reason");
            let reason = block.not_run.as_deref().unwrap_or_default();
            let paths = reason
                .split([' ', ';', ',', '`'])
                .map(|word| word.trim_matches('.'));
            for path in paths.filter(|word| word.contains('/')) {
                assert!(root().join(path).exists(), "{place}: there is no {path}");
            }
            let is_marked = block.not_run.is_some() || !block.has("ignore");
            assert!(
                is_marked,
                "{place}: ignored without `guide: not run: REASON`"
            );
            let known = [
                "rust", "idl", "toml", "sh", "console", "text", "json", "cpp",
            ];
            assert!(
                known.contains(&block.language.as_str()),
                "{place}: `{}`",
                block.language
            );
        }
    }
    assert_eq!(without, NOT_RUN, "change the number if that is meant");
}

#[test]
fn dependencies_that_pages_show_are_the_crates_that_they_name() {
    let mut shown = 0;
    for page in pages().unwrap() {
        let manifests = page
            .blocks
            .iter()
            .filter(|block| block.language == "toml" && block.text.starts_with("[dependencies]"));
        for block in manifests {
            for line in block.text.lines().skip(1) {
                let place = format!("docs/guide/{}.md: {line}", page.name);
                let (name, rest) = line.split_once(" = { path = \"../punctual/").unwrap();
                let (folder, _) = rest.split_once('"').unwrap();
                let manifest = root().join(folder).join("Cargo.toml");
                let manifest = std::fs::read_to_string(manifest).expect(&place);
                assert!(manifest.contains(&format!("name = \"{name}\"")), "{place}");
                shown += 1;
            }
        }
    }
    assert!(shown > 0);
}
