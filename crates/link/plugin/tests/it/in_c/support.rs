//! Support: libraries in C, compiled for a test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the C compiler; `None` with the reason printed if there is none.
pub(crate) fn compiler() -> Option<Command> {
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    match Command::new(&cc).arg("--version").output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            println!("skipped: {cc:?} does not work: {}", output.status);
            return None;
        }
        Err(error) => {
            println!("skipped: no C compiler {cc:?}: {error}");
            return None;
        }
    }
    let mut command = Command::new(cc);
    command
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .arg("-I")
        .arg(home().join("include"));
    Some(command)
}

/// Runs a compiler command, and panics if it fails.
pub(crate) fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{errors}");
}

/// Compiles `tests/in_c/loopback.c` to a shared library, with a macro defined if one is given.
pub(crate) fn loopback(defined: Option<&str>) -> Option<PathBuf> {
    let mut compiler = compiler()?;
    let name = format!("loopback-{}.so", defined.unwrap_or("right"));
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Under a name of its own first: another run of the tests may have the old one mapped.
    let fresh = library.with_extension(std::process::id().to_string());
    compiler
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .arg(&fresh)
        .arg(home().join("tests/it/in_c/loopback.c"));
    if let Some(defined) = defined {
        compiler.arg(format!("-D{defined}"));
    }
    run(&mut compiler);
    std::fs::rename(&fresh, &library).unwrap();
    Some(library)
}

/// Returns the root folder of this package.
pub(crate) fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns whether the library is mapped in this process.
pub(crate) fn is_mapped(library: &Path) -> bool {
    let library = library.canonicalize().unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.contains(library.to_str().unwrap())
}
