//! Options of the ORB, `-ORB…`, on command lines.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support::{Process, punctual, text};
use std::process::{Command, Stdio};

/// The services, with what each needs to start.
const SERVICES: [&[&str]; 7] = [
    &["naming", "serve", "--memory"],
    &["events", "serve"],
    &["events", "cos", "serve"],
    &["notify", "serve"],
    &["log", "serve", "--store", "log.redb"],
    &["ifr", "serve"],
    &["schedule", "serve"],
];

#[test]
fn every_service_takes_the_options_of_its_orb() {
    let folder = tempfile::tempdir().unwrap();
    for (at, service) in SERVICES.into_iter().enumerate() {
        let recorded = folder.path().join(format!("{at}.json"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(service).current_dir(folder.path());
        command.args(["--listen", "iiop://127.0.0.1:0", "-ORBRecord"]);
        command.arg(&recorded).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Process(command.spawn().unwrap());
        assert!(process.reference().starts_with("IOR:"), "{service:?}");
        process.signal("-TERM");
        assert!(process.0.wait().unwrap().success(), "{service:?}");
        let measured = std::fs::read_to_string(&recorded);
        assert!(measured.unwrap().contains("\"operations\""), "{service:?}");
    }
}

#[test]
fn an_option_that_no_orb_has_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    for service in SERVICES {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(service).current_dir(folder.path());
        command.args(["--listen", "iiop://127.0.0.1:0", "-ORBNoSuch", "x"]);
        let output = command.output().unwrap();
        let said = text(output.stderr);
        assert!(!output.status.success(), "{service:?}");
        assert!(said.contains("-ORBNoSuch"), "{service:?}: {said}");
    }
}

#[test]
fn commands_without_an_orb_refuse_its_options_by_name() {
    for command in [
        &["schedule", "check", "model.toml"][..],
        &["doctor"],
        &["ifr", "list", "--store", "none"],
    ] {
        let output = punctual(&[command, &["-ORBRecord", "f"]].concat());
        let said = text(output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {said}");
        assert!(said.contains("-ORBRecord"), "{command:?}: {said}");
    }
}
