//! `punctual new`: the new crate is formatted, builds and passes its test; its server and its client run, and the
//! server ends in order.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn a_new_crate_builds_without_a_warning_passes_its_test_and_runs_until_a_signal() {
    let within = tempfile::tempdir().unwrap();
    let folder = within.path().join("my-plant");
    let made = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .arg("new")
        .arg(&folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    assert!(
        String::from_utf8(made.stdout)
            .unwrap()
            .contains("cargo test")
    );

    let formatted = Command::new(env!("CARGO"))
        .args(["fmt", "--check"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let differs = String::from_utf8_lossy(&formatted.stdout);
    assert!(formatted.status.success(), "{differs}");

    // The workspace's versions, so that nothing is downloaded, and its profile, so that little is
    // built again.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new");
    let tested = Command::new(env!("CARGO"))
        .args(["test", "--quiet", "--offline"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("RUSTFLAGS", "--deny warnings")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tested.stderr);
    let told = String::from_utf8_lossy(&tested.stdout);
    assert!(tested.status.success(), "{said}\n{told}");
    assert!(told.contains("1 passed"), "{told}");

    // The test has built both programs.
    let mut server = Command::new(target.join("debug/server"))
        .args(["-ORBListenEndpoints", "iiop://127.0.0.1:0"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(server.stdout.take().unwrap()).lines().next();
    assert!(said.unwrap().unwrap().starts_with("serving;"));
    let client = Command::new(target.join("debug/client"))
        .current_dir(&folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&client.stdout);
    assert_eq!(said, "Hello, world!\n1 greeted so far\n");
    call_from_cpp(&folder);
    let process = server.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &process]).status();
    assert!(killed.unwrap().success());
    let ended = server.wait_with_output().unwrap();
    let logged = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}\n{logged}", ended.status);
    assert!(logged.contains("a signal ends the process"), "{logged}");
}

/// Compiles the client of `examples/cpp` by omniORB, and calls the server that runs in a folder.
fn call_from_cpp(folder: &Path) {
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cpp/client.cc");
    let within = tempfile::tempdir().unwrap();
    let idl = Command::new("omniidl")
        .arg("-bcxx")
        .arg(folder.join("idl/greeter.idl"))
        .current_dir(within.path())
        .output();
    let Ok(idl) = idl else {
        return println!("skipped: there is no omniidl");
    };
    assert!(idl.status.success(), "{idl:?}");
    let compiled = Command::new("g++")
        .arg("-I.")
        .arg(client)
        .args(["greeterSK.cc", "-lomniORB4", "-lomnithread", "-o", "client"])
        .current_dir(within.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    let reference = fs::read_to_string(folder.join("greeter.ior")).unwrap();
    let called = Command::new(within.path().join("client"))
        .arg(reference.trim())
        .output()
        .unwrap();
    let expected = "Hello, C++!\n2 greeted so far\nnot greeted: a name is needed\n";
    assert_eq!(
        String::from_utf8_lossy(&called.stdout),
        expected,
        "{called:?}"
    );
}
