//! Library of the package in `dynamic/`, built on demand.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the library's path. If cargo is not installed to build it, prints that and returns
/// `None`.
pub(crate) fn built() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    LIBRARY.get_or_init(build).as_deref()
}

/// Builds the library; returns the path that cargo reports.
fn build() -> Option<PathBuf> {
    let Some(cargo) = std::env::var_os("CARGO") else {
        println!("skipped: not started by cargo, which builds the library");
        return None;
    };
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let output = Command::new(cargo)
        .args(["build", "--offline", "--message-format=json"])
        .arg("--target-dir")
        .arg(target)
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("dynamic/Cargo.toml"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let messages = String::from_utf8(output.stdout).unwrap();
    let library = messages
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .find(|message| message["target"]["name"] == "punctual_example_protocol_dynamic")
        .unwrap();
    let file = library["filenames"][0].as_str().unwrap();
    assert!(file.ends_with(".so"), "{file}");
    Some(file.into())
}
