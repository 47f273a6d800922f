//! Comparison of the public interfaces with those of the version before, by `cargo semver-checks`.

use crate::run::{Result, cargo, is_installed, root, succeed};
use std::process::Command;

/// Compares the crates' public interfaces with those of the latest tagged version below `version`, if there is one.
///
/// # Errors
/// `cargo semver-checks` is not installed, or finds a change that the version number does not allow.
pub(super) fn check(version: &str, published: &[String]) -> Result<()> {
    let Some(tag) = before(&tags()?, version) else {
        println!(
            "release: no version before {version} has a tag: there is no interface to compare with"
        );
        return Ok(());
    };
    if !is_installed("cargo-semver-checks") {
        return Err(format!(
            "the public interfaces have to be compared with {tag}: `cargo install --locked cargo-semver-checks`"
        ));
    }
    let mut compare = cargo();
    compare.args(["semver-checks", "--baseline-rev", &tag]);
    for name in published {
        compare.args(["--package", name]);
    }
    succeed(&mut compare)?;
    println!("release: the public interfaces are compatible with {tag}, as {version} promises");
    Ok(())
}

fn tags() -> Result<String> {
    let mut git = Command::new("git");
    let output = git
        .args(["tag", "--list", "v*"])
        .current_dir(root())
        .output();
    let output = output.map_err(|error| format!("git could not be started: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Returns the tag of the latest version below the given one.
fn before(tags: &str, version: &str) -> Option<String> {
    let limit = numbers(version)?;
    let versions = tags
        .lines()
        .filter_map(|tag| Some((numbers(tag.strip_prefix('v')?)?, tag)));
    let earlier = versions.filter(|(version, _)| *version < limit);
    earlier.max().map(|(_, tag)| tag.to_owned())
}

/// Returns the numbers of a version; `None` for anything else, such as a version before a release.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let parts: Option<Vec<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_compared_with_the_latest_one_before_it() {
        let tags = "v0.1.0\nv0.10.0\nv0.9.1\nv0.10.0-rc.1\nvery\n";
        assert_eq!(before(tags, "0.11.0").as_deref(), Some("v0.10.0"));
        assert_eq!(before(tags, "0.10.0").as_deref(), Some("v0.9.1"));
        assert_eq!(before(tags, "0.1.0"), None);
        assert_eq!(before("", "0.2.0"), None);
    }
}
