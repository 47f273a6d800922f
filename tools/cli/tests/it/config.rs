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

#[test]
fn what_the_start_of_a_program_refuses_is_refused() {
    let cases = [
        (
            "listen = [\"iiop://127.0.0.1:0\"]\nsecurity = \"require\"\n",
            "iiop",
        ),
        ("listen = [\"ssliop://127.0.0.1:0\"]\n", "ssliop"),
        ("client_protocols = [\"iop\"]\n", "iop"),
        ("[link.iop]\nx = \"1\"\n", "link.iop"),
        (
            "[tls]\ntrusted = [\"/nowhere/ca.pem\"]\n",
            "/nowhere/ca.pem",
        ),
    ];
    for (text, named) in cases {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let checked = config(&["--check", file.path().to_str().unwrap()]);
        let error = String::from_utf8(checked.stderr).unwrap();
        assert_eq!(checked.status.code(), Some(1), "{text}: {error}");
        assert!(error.contains(named), "{text}: {error}");
    }
}

#[test]
fn protocols_of_shared_libraries_are_said_not_to_be_checked() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = "client_protocols = [\"quick\"]\n[[library]]\npath = \"/nowhere/libquick.so\"\n";
    std::fs::write(file.path(), text).unwrap();
    let checked = config(&["--check", file.path().to_str().unwrap()]);
    let note = String::from_utf8(checked.stderr).unwrap();
    assert!(checked.status.success(), "{note}");
    assert!(
        note.contains("not loaded") && note.contains("quick"),
        "{note}"
    );
}
