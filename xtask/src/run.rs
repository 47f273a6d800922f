//! Execution of other programs.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Result type of the tasks, with an error message as text.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// Returns a command that runs the cargo that started this program.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Returns cargo's metadata of the packages in the workspace; `T` selects the fields.
pub(crate) fn packages<T: DeserializeOwned>() -> Result<Vec<T>> {
    #[derive(Deserialize)]
    struct Metadata<T> {
        packages: Vec<T>,
    }
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| format!("cargo metadata could not be started: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Metadata<T> = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cannot read the output of cargo metadata: {error}"))?;
    Ok(metadata.packages)
}

/// Runs a command to its end; if it fails, the error names the command.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let shown = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown} ended with {status}")),
        Err(error) => Err(format!("{shown} could not be started: {error}")),
    }
}

/// Returns the path of the workspace's root folder.
pub(crate) fn root() -> PathBuf {
    // At run time, as cargo says it: a program copied or shared between checkouts looks at the one it runs in.
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// Returns whether a program is found in the folders of `PATH`.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
