//! JacORB's client does everything to the naming service.
//!
//! It is tried where a JDK is, and the jars that `cargo xtask interop jacorb` gathers.
#![allow(clippy::unwrap_used)]

#[path = "naming/support.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::Served;

const EXPECTED: &str = r"resolved: true
as text: true
text: a\.b.c\/d
url: corbaname::host:9#a%20b
bind: AlreadyBound
missing: 0 x/y
no context: 1 pump/y
no object: 2 plants
empty: InvalidName
rebound: true
destroy: NotEmpty
gone: true
through: true x
first: object0 0
first: object1 0
one: true object2
two: 2
rest: 1 plants 1
end: false
destroyed: true
";

/// JacORB and what it needs beside, as a class path; or why there is none.
fn class_path() -> Result<String, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let gathered = target.map(|target| target.join("debug/interop-jacorb"));
    let gathered = gathered.unwrap_or_default();
    let folder = gathered.join("jars");
    let entries = std::fs::read_dir(&folder);
    let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
    let shown = |path: PathBuf| path.display().to_string();
    let mut parts = vec![shown(gathered.join("classes"))];
    parts.extend(entries.filter_map(|entry| Some(shown(entry.ok()?.path()))));
    match parts.iter().any(|part| part.contains("jacorb-omgapi")) {
        true => Ok(parts.join(":")),
        false => Err(format!("JacORB is not in {}", folder.display())),
    }
}

#[test]
fn jacorb_does_everything_to_the_naming_service() {
    let class_path = match class_path() {
        Ok(class_path) => class_path,
        Err(reason) => {
            println!("skipped: {reason}");
            return;
        }
    };
    if Command::new("java").arg("-version").output().is_err() {
        println!("skipped: java is not installed");
        return;
    }
    let served = Served::in_memory();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jacorb/Names.java");
    let output = Command::new("java")
        .args(["-Dorg.omg.CORBA.ORBClass=org.jacorb.orb.ORB"])
        .args(["-Dorg.omg.CORBA.ORBSingletonClass=org.jacorb.orb.ORBSingleton"])
        .args(["-Dorg.slf4j.simpleLogger.defaultLogLevel=error"])
        .args(["--class-path", &class_path])
        .arg(source)
        .arg(format!(
            "corbaloc:iiop:1.2@{}/NameService",
            &served.address()[1..]
        ))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), EXPECTED, "{said}");
}
