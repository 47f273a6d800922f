//! Invalid limits in a configuration prevent the start, and the error names the key.
#![allow(clippy::unwrap_used, missing_docs)]

use std::process::Command;

/// Returns the error of a command that ends with status 1 for a file with this limit.
fn refused(limit: &str, arguments: &[&str]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("[limits]\n{limit}\n")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(arguments).arg("--config").arg(file.path());
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{limit}: {said}");
    let path = file.path().to_str().unwrap();
    assert!(said.contains(path), "{limit}: {said}");
    said
}

#[test]
fn limits_that_make_no_sense_are_refused_by_their_keys() {
    for (key, value) in [
        ("message", "0"),
        ("string", "0"),
        ("sequence", "0"),
        ("nesting", "0"),
        ("values", "0"),
        ("fragments_pending", "0"),
        ("fragments_bytes", "0"),
        ("received", "0"),
        ("threads", "0"),
        ("threads", "18446744073709551615"),
        ("requests_per_connection", "0"),
        ("pending_replies", "0"),
        ("pending_replies_per_connection", "0"),
        ("endpoints", "0"),
    ] {
        // It creates an ORB from the file, and ends.
        let said = refused(&format!("{key} = {value}"), &["protocols"]);
        let told = format!("`{value}` does not fit `limits.{key}`: expected ");
        assert!(said.contains(&told), "{said}");
    }
}

#[test]
fn the_help_to_a_limit_is_not_about_endpoints() {
    let listen = ["--listen", "iiop://127.0.0.1:0"];
    let serve = [&["naming", "serve", "--memory"], &listen[..]].concat();
    let said = refused("message = 0", &serve);
    assert!(said.contains("`limits.message`"), "{said}");
    assert!(
        said.contains("help: see the configuration file") && !said.contains("protocol://"),
        "{said}"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["naming", "serve", "--memory", "--listen", "carrier-pigeon"]);
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(said.contains("an endpoint is protocol://place"), "{said}");
}
