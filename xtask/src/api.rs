//! `cargo xtask api`: writes the public interface of each published library to `api/CRATE.txt`, one
//! item a line.
//!
//! A change of the interface shows as a change of these files. They are written from rustdoc's JSON, whose format is
//! that of the pinned compiler, with all features of the facade, and otherwise the default ones and those that other published crates ask for. Rustdoc's warnings are
//! errors: so the pages of these libraries need not be made to find them.

use crate::published;
use crate::run::{Result, cargo, packages, root, succeed};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Folder of the snapshots, from the root.
const FOLDER: &str = "api";

/// Upper bound of the printed lines of a difference.
const SHOWN: usize = 30;

/// Options of `cargo xtask api`.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Update the snapshots.
    #[arg(long)]
    write: bool,
    /// Document all other crates of the workspace too, so that no crate has comments of which rustdoc warns.
    #[arg(long)]
    all: bool,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Published library.
struct Library {
    package: String,
    /// Name of the library in Rust, by which rustdoc names its output.
    name: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let libraries = libraries()?;
    document(&libraries)?;
    if options.all {
        document_others(&libraries)?;
    }
    let mut changed = Vec::new();
    for library in &libraries {
        let interface = interface_of(library)?;
        let file = root().join(FOLDER).join(format!("{}.txt", library.package));
        match options.write {
            true => write(&file, &interface)?,
            false => changed.extend(difference(&file, &interface)),
        }
    }
    if changed.is_empty() {
        let count = libraries.len();
        println!("api: {count} public interfaces are those in {FOLDER}/");
        return Ok(());
    }
    Err(format!(
        "public interfaces have changed (`cargo xtask api --write` updates the snapshots; mention the change in CHANGELOG.md):\n{}",
        changed.join("\n")
    ))
}

/// Returns the published libraries of the workspace.
fn libraries() -> Result<Vec<Library>> {
    let published: BTreeSet<String> = published::names()?.into_iter().collect();
    let packages: Vec<Package> = packages()?;
    let published = packages
        .into_iter()
        .filter(|package| published.contains(&package.name));
    let libraries = published.filter_map(|package| {
        let is_library = |target: &Target| target.kind.iter().any(|kind| kind == "lib");
        let target = package.targets.into_iter().find(is_library)?;
        Some(Library {
            package: package.name,
            name: target.name,
        })
    });
    Ok(libraries.collect())
}

/// Runs rustdoc on the libraries, for its JSON.
///
/// One command for all of them: by commands of their own, each would have other features of what
/// they depend on, which would be checked again for most of them.
fn document(libraries: &[Library]) -> Result<()> {
    let mut command = cargo();
    command
        .args(["doc", "--quiet", "--lib", "--no-deps"])
        .args(["--features", "punctual/full"])
        .env("RUSTDOC", rustdoc()?)
        // Part of what cargo compares: the pages of `cargo doc`, made before, are not this output.
        .env(
            "RUSTDOCFLAGS",
            "-Z unstable-options --output-format json --deny warnings",
        );
    for library in libraries {
        command.args(["--package", &library.package]);
    }
    succeed(&mut command)
}

/// Makes the pages of all other crates.
fn document_others(libraries: &[Library]) -> Result<()> {
    let mut command = cargo();
    command
        .args(["doc", "--quiet", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "--deny warnings");
    for library in libraries {
        command.args(["--exclude", &library.package]);
    }
    succeed(&mut command)
}

/// Returns the public items of a library, one a line, from rustdoc's JSON.
fn interface_of(library: &Library) -> Result<String> {
    let json = format!("{}.json", library.name);
    let json = target_folder().join("doc").join(json);
    public_api::Builder::from_rustdoc_json(&json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .map(|interface| interface.to_string())
        .map_err(|error| format!("{}: {error}", json.display()))
}

/// Writes a script that runs rustdoc with its unstable options allowed, and returns the script's
/// path.
///
/// The environment variable that allows them is set for rustdoc only: set for cargo, it would make
/// cargo run build scripts and compile most crates again.
fn rustdoc() -> Result<PathBuf> {
    let file = target_folder().join("api").join("rustdoc");
    let failed = |error| format!("{}: {error}", file.display());
    fs::create_dir_all(target_folder().join("api")).map_err(failed)?;
    fs::write(&file, "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n").map_err(failed)?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    Ok(file)
}

fn target_folder() -> PathBuf {
    let folder = std::env::var_os("CARGO_TARGET_DIR");
    folder.map_or_else(|| root().join("target"), |folder| root().join(folder))
}

fn write(file: &PathBuf, interface: &str) -> Result<()> {
    let failed = |error| format!("{}: {error}", file.display());
    fs::create_dir_all(root().join(FOLDER)).map_err(failed)?;
    fs::write(file, interface).map_err(failed)
}

/// Returns the first of the lines that were added or removed since the snapshot.
fn difference(file: &PathBuf, interface: &str) -> Option<String> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let Ok(before) = fs::read_to_string(file) else {
        return Some(format!("  {name}: no snapshot"));
    };
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) =
        (before.lines().collect(), interface.lines().collect());
    let removed = old
        .difference(&new)
        .map(|line| format!("  {name}: - {line}"));
    let added = new
        .difference(&old)
        .map(|line| format!("  {name}: + {line}"));
    let lines: Vec<String> = removed.chain(added).collect();
    let more = lines.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = lines.into_iter().take(SHOWN).collect();
    if more > 0 {
        shown.push(format!("  {name}: and {more} lines more"));
    }
    (!shown.is_empty()).then(|| shown.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_interface_is_shown_by_its_lines() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("punctual-a.txt");
        assert_eq!(difference(&file, "x").unwrap(), "  punctual-a: no snapshot");
        fs::write(&file, "pub fn a::b()\npub fn a::c()\n").unwrap();
        let shown = difference(&file, "pub fn a::c()\npub fn a::d()\n").unwrap();
        assert_eq!(
            shown,
            "  punctual-a: - pub fn a::b()\n  punctual-a: + pub fn a::d()"
        );
        assert_eq!(difference(&file, "pub fn a::b()\npub fn a::c()\n"), None);
    }
}
