//! `punctual config`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::process::{Command, Output};

fn config(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.arg("config").args(arguments).output().unwrap()
}

#[test]
fn what_is_printed_is_a_file_that_is_accepted() {
    let sample = config(&[]);
    assert!(sample.status.success());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &sample.stdout).unwrap();
    let checked = config(&["--check", file.path().to_str().unwrap()]);
    assert!(checked.status.success() && checked.stderr.is_empty());
    let options = String::from_utf8(config(&["--options"]).stdout).unwrap();
    assert!(
        options.contains("-ORBCallTimeout a time such as 200ms"),
        "{options}"
    );
}

#[test]
fn a_mistake_is_shown_with_its_line_and_what_was_meant() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[timeouts]\ncall = 7\n").unwrap();
    let checked = config(&["--check", file.path().to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(1));
    let error = String::from_utf8(checked.stderr).unwrap();
    assert!(
        error.contains("line 2: unknown key `timeouts.call`; did you mean `timeouts.call_ms`?"),
        "{error}"
    );
}
