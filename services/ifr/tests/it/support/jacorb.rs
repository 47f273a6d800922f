//! Programs of JacORB, run if there is a JDK, and the jars that `cargo xtask interop jacorb`
//! gathers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the class path of JacORB and its dependencies, or the reason for which there is none.
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

/// Runs a program, one source file, with an argument, and returns its output; `None`, with the
/// reason printed, if it cannot be run.
pub(crate) fn run(source: &Path, argument: impl FnOnce() -> String) -> Option<Output> {
    let output = command(source)?.arg(argument()).output();
    Some(output.unwrap())
}

/// Returns the command that runs a program, one source file; `None`, with the reason printed, if it
/// cannot be run.
pub(crate) fn command(source: &Path) -> Option<Command> {
    let class_path = match class_path() {
        Ok(class_path) => class_path,
        Err(reason) => {
            println!("skipped: {reason}");
            return None;
        }
    };
    if Command::new("java").arg("-version").output().is_err() {
        println!("skipped: java is not installed");
        return None;
    }
    let mut command = Command::new("java");
    command
        .args(["-Dorg.omg.CORBA.ORBClass=org.jacorb.orb.ORB"])
        .args(["-Dorg.omg.CORBA.ORBSingletonClass=org.jacorb.orb.ORBSingleton"])
        .args(["-Dorg.slf4j.simpleLogger.defaultLogLevel=error"])
        .args(["--class-path", &class_path])
        .arg(source);
    Some(command)
}
