//! Outsider: a program as users build it, in a crate of its own outside the workspace with a plain
//! release profile. It is built when a benchmark starts, from its sources in the tree that this
//! program was built from.

use crate::Result;
use crate::omniorb::output;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name in tables of the contender built outside of the workspace.
pub const NAME: &str = "punctual-plain";

/// Builds the program into `directory`, unless it is up to date, and returns its path.
///
/// # Errors
/// The sources are missing, or the build fails; the message is cargo's.
pub fn build(directory: &Path) -> Result<PathBuf> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = bench.join("outsider");
    if !sources.join("Cargo.toml").exists() {
        return Err(format!("its sources are not at {}", sources.display()).into());
    }
    // The workspace's lock file is used, so that both have the same dependencies, and no crate is
    // downloaded.
    let locked = bench.join("../Cargo.lock");
    fs::copy(&locked, sources.join("Cargo.lock"))
        .map_err(|error| format!("{}: {error}", locked.display()))?;
    let target = directory.join(NAME);
    let program = target.join("release/outsider");
    if !program.exists() {
        eprintln!("building {NAME}: a minute or two, once");
    }
    output(
        Command::new("cargo")
            .args(["build", "--release", "--quiet", "--target-dir"])
            .arg(&target)
            .current_dir(&sources),
    )?;
    Ok(program)
}
