//! `cargo xtask release VERSION`: checks that a version may be released. Nothing is published by it.
//!
//! The manifests have the version, the changelog a dated section with an entry of a kind that Keep a Changelog knows,
//! the public interfaces are those of the snapshots and compatible with the version before, and each crate that is
//! published can be packaged.

mod compatibility;

use crate::run::{Result, cargo, packages, root, succeed};
use crate::{api, published, release_notes};
use serde::Deserialize;
use std::fs;

/// Options of `cargo xtask release`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Version to be released.
    version: String,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
}

/// Headings for kinds of changes that Keep a Changelog defines.
const KINDS: [&str; 6] = [
    "Added",
    "Changed",
    "Deprecated",
    "Removed",
    "Fixed",
    "Security",
];

pub(crate) fn run(options: &Options) -> Result<()> {
    let version = &options.version;
    let published = published::names()?;
    let packages: Vec<Package> = packages()?;
    let of_others: Vec<&str> = packages
        .iter()
        .filter(|one| published.contains(&one.name) && one.version != *version)
        .map(|one| one.name.as_str())
        .collect();
    if !of_others.is_empty() {
        return Err(format!(
            "set `version` in [workspace.package] and in the workspace's dependencies to {version}; others have: {}",
            of_others.join(", ")
        ));
    }
    println!("release: {} crates have version {version}", published.len());
    let changelog = fs::read_to_string(root().join("CHANGELOG.md"))
        .map_err(|error| format!("CHANGELOG.md: {error}"))?;
    changelog_is_ready(&changelog, version)?;
    println!("release: CHANGELOG.md has notes of {version}");
    published::check()?;
    api::run(&api::Options::default())?;
    compatibility::check(version, &published)?;
    let mut package = cargo();
    package.args([
        "package",
        "--workspace",
        "--no-verify",
        "--allow-dirty",
        "--quiet",
    ]);
    for name in packages.iter().filter(|one| !published.contains(&one.name)) {
        package.args(["--exclude", &name.name]);
    }
    succeed(&mut package)?;
    println!(
        "release: {} packages are in target/package",
        published.len()
    );
    println!(
        "next: commit, tag v{version}, `cargo publish --workspace`, and open a section [Unreleased]"
    );
    Ok(())
}

/// Checks the section of a version: a date, entries of a known kind, one line each.
fn changelog_is_ready(changelog: &str, version: &str) -> Result<()> {
    let heading = format!("## [{version}] - ");
    let date = changelog
        .lines()
        .find_map(|line| line.strip_prefix(&heading));
    if !date.is_some_and(is_date) {
        return Err(format!(
            "CHANGELOG.md has no heading `{heading}YYYY-MM-DD`: give what stands below [Unreleased] its version and its day"
        ));
    }
    let notes = release_notes::section(changelog, version).unwrap_or_default();
    let mut entries = 0;
    for line in notes.lines() {
        if let Some(kind) = line.strip_prefix("### ")
            && !KINDS.contains(&kind)
        {
            let known = KINDS.join(", ");
            return Err(format!(
                "CHANGELOG.md, {version}: `{kind}` is not a kind of change: {known}"
            ));
        }
        entries += usize::from(line.starts_with("- "));
    }
    match entries {
        0 => Err(format!("CHANGELOG.md, {version}: no entry (`- …`)")),
        _ => Ok(()),
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [4, 2, 2]
        && parts
            .iter()
            .all(|part| part.chars().all(|one| one.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: &str = "# Changelog\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n### Added\n- a\n## [0.1.0] - 2026-11-26\n### Odd\n- b\n";

    #[test]
    fn a_version_is_released_with_its_day_and_entries_of_known_kinds() {
        changelog_is_ready(READY, "0.2.0").unwrap();
        assert!(
            changelog_is_ready(READY, "0.3.0")
                .unwrap_err()
                .contains("YYYY-MM-DD")
        );
        assert!(
            changelog_is_ready(READY, "0.1.0")
                .unwrap_err()
                .contains("`Odd`")
        );
        let undated = READY.replace("2026-12-01", "soon");
        assert!(
            changelog_is_ready(&undated, "0.2.0")
                .unwrap_err()
                .contains("YYYY-MM-DD")
        );
        let empty = READY.replace("- a", "");
        assert!(
            changelog_is_ready(&empty, "0.2.0")
                .unwrap_err()
                .contains("no entry")
        );
    }
}
