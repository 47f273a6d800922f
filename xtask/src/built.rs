//! Programs that cargo builds, as its messages name them.

use crate::run::Result;
use serde::Deserialize;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Executable file of a program or of tests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Executable {
    pub(crate) file: PathBuf,
    /// Name of its cargo target.
    pub(crate) name: String,
    /// Manifest of its package.
    pub(crate) manifest: PathBuf,
    pub(crate) is_test: bool,
}

/// Message of cargo's, reduced to the fields that are used here.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Runs a command of cargo's that builds programs, whose errors and warnings are shown, and returns the programs.
///
/// # Errors
/// It does not start, or something does not compile.
pub(crate) fn executables(cargo: &mut Command) -> Result<Vec<Executable>> {
    let output = cargo
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("the programs cannot be built: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(executable).collect())
}

fn executable(line: &str) -> Option<Executable> {
    let message: Message = serde_json::from_str(line).ok()?;
    Some(Executable {
        file: message.executable?,
        name: message.target?.name,
        manifest: message.manifest_path?,
        is_test: message.profile?.test,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_the_executables_among_cargos_messages() {
        let line = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/a/Cargo.toml",
                "target":{{"name":"it"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let found = executable(&line(true, "\"/w/target/it-1\"")).unwrap();
        let expected = Executable {
            file: "/w/target/it-1".into(),
            name: "it".to_owned(),
            manifest: "/w/a/Cargo.toml".into(),
            is_test: true,
        };
        assert_eq!(found, expected);
        assert!(executable(&line(true, "null")).is_none());
        assert!(!executable(&line(false, "\"/a\"")).unwrap().is_test);
        assert!(executable("no message").is_none());
        assert!(executable(r#"{"reason":"build-finished","success":true}"#).is_none());
    }
}
