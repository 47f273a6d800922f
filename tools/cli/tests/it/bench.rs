//! `punctual bench`: the program that it runs, and its error if that does not exist.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support::copy_program;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the command as installed in `folder`, with an empty PATH.
fn installed(folder: &Path, arguments: &[&str]) -> Output {
    let program = folder.join("punctual");
    if !program.exists() {
        copy_program(Path::new(env!("CARGO_BIN_EXE_punctual")), &program);
    }
    Command::new(program)
        .arg("bench")
        .args(arguments)
        .env("PATH", "")
        .output()
        .unwrap()
}

#[test]
fn the_program_beside_the_command_gets_all_arguments_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 7\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    copy_program(&script, &folder.path().join("punctual-bench"));
    for arguments in [
        &["--help"][..],
        &[
            "cubit",
            "--link",
            "uiop",
            "--json=a b",
            "--",
            "-ORBTrace",
            "giop",
        ],
    ] {
        let output = installed(folder.path(), arguments);
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(told.lines().collect::<Vec<_>>(), arguments);
        assert_eq!(output.status.code(), Some(7));
    }
}

#[test]
fn without_the_program_the_command_says_how_to_build_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = installed(folder.path(), &["goals"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    for part in [
        "punctual-bench does not start",
        "cargo build --release -p punctual-bench",
    ] {
        assert!(said.contains(part), "{said}");
    }
}
