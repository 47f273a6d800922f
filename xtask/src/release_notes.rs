//! `cargo xtask release-notes VERSION`: the changelog's section of a version.

use crate::run::{Result, root};

/// Options of `cargo xtask release-notes`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The version, as CHANGELOG.md has it.
    version: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let path = root().join("CHANGELOG.md");
    let changelog = std::fs::read_to_string(&path);
    let changelog = changelog.map_err(|error| format!("{}: {error}", path.display()))?;
    let notes = section(&changelog, &options.version);
    let notes = notes.ok_or_else(|| {
        let (path, version) = (path.display(), &options.version);
        format!("{path} has no section `## [{version}]`, or nothing in it")
    })?;
    println!("{notes}");
    Ok(())
}

/// Returns the text below the heading of a version in a changelog in the form of Keep a Changelog:
/// `## [0.1.0] - 2026-11-26`.
pub(crate) fn section<'t>(changelog: &'t str, version: &str) -> Option<&'t str> {
    let mut found = None;
    let mut at = 0;
    for line in changelog.split_inclusive('\n') {
        let begins = at;
        at += line.len();
        let Some(heading) = line.strip_prefix("## ") else {
            continue;
        };
        if let Some(from) = found {
            return text(&changelog[from..begins]);
        }
        let named = heading
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'));
        if named.is_some_and(|(named, _)| named == version) {
            found = Some(at);
        }
    }
    text(&changelog[found?..])
}

fn text(section: &str) -> Option<&str> {
    Some(section.trim()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n## [0.2.0] - 2026-12-01\n\n- new\n  and more\n\n### Details\n- small\n\n## [0.1.10]\n- old\n## [0.1.1]\n";

    #[test]
    fn notes_are_the_section_of_the_version() {
        let newest = section(CHANGELOG, "0.2.0").unwrap();
        assert_eq!(newest, "- new\n  and more\n\n### Details\n- small");
        assert_eq!(section(CHANGELOG, "0.1.10"), Some("- old"));
    }

    #[test]
    fn a_version_without_notes_has_none_and_no_other_ones() {
        for version in ["0.1.1", "0.1", "0.3.0", ""] {
            assert_eq!(section(CHANGELOG, version), None, "{version}");
        }
    }

    #[test]
    fn the_version_of_the_workspace_has_notes() {
        let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
        assert!(section(&changelog, env!("CARGO_PKG_VERSION")).is_some());
    }
}
