//! `punctual new`: the new crate builds and passes its test.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_new_crate_builds_without_a_warning_and_passes_its_own_test() {
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

    // The workspace's versions, so that nothing is downloaded, and its profile, so that little is
    // built again.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new");
    let tested = Command::new(env!("CARGO"))
        .args(["test", "--quiet", "--offline"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("RUSTFLAGS", "--deny warnings")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tested.stderr);
    let told = String::from_utf8_lossy(&tested.stdout);
    assert!(tested.status.success(), "{said}\n{told}");
    assert!(told.contains("1 passed"), "{told}");
}
