//! Execution of the README's commands in a shell like a newcomer's, one of them a server.

use crate::run::Result;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Returns a shell command for a line, without the environment variables that this program's own
/// cargo sets and without those that affect builds. The shell is replaced by the line's program, so
/// that the program can be killed.
pub(super) fn in_shell(line: &str, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-ec", &format!("exec {line}")])
        .current_dir(folder);
    for (name, _) in std::env::vars_os() {
        if is_of_a_build(&name) {
            command.env_remove(name);
        }
    }
    command
}

/// Returns whether an environment variable is set by cargo for its child processes or affects
/// builds. Variables that say where crates are downloaded from (`CARGO_HTTP_…`, `CARGO_NET_…`,
/// `CARGO_REGISTRIES_…`, `CARGO_SOURCE_…`) are excepted.
fn is_of_a_build(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let of_downloads = ["HTTP", "NET", "REGISTR", "SOURCE"]
        .iter()
        .any(|what| name.starts_with(&format!("CARGO_{what}")));
    let of_cargo = name == "CARGO" || name.starts_with("CARGO_") || name.starts_with("RUSTUP_TOOL");
    let of_rustc = name.starts_with("RUSTC") || name.starts_with("RUSTFLAGS");
    (of_cargo && !of_downloads) || of_rustc
}

/// Returns the path of the user's cargo configuration file, if there is one.
pub(super) fn settings_of_cargo() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")))?;
    let settings = home.join("config.toml");
    settings.is_file().then_some(settings)
}

/// Server process, which is stopped when it is dropped.
pub(super) struct Server(Child);

impl Server {
    /// Starts a server that prints a line as soon as it serves.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let started = command.stdout(Stdio::piped()).spawn();
        let mut server = started
            .map(Self)
            .map_err(|error| format!("{command:?} could not be started: {error}"))?;
        let mut line = String::new();
        if let Some(printed) = server.0.stdout.take() {
            let read = BufReader::new(printed).read_line(&mut line);
            read.map_err(|error| format!("{command:?}: {error}"))?;
        }
        match line.is_empty() {
            true => Err(format!("{command:?} has ended before it served")),
            false => Ok(server),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_know_nothing_of_the_cargo_that_runs_the_tests() {
        let removed = |name: &str| is_of_a_build(OsStr::new(name));
        assert!(removed("CARGO") && removed("CARGO_MANIFEST_DIR") && removed("RUSTFLAGS"));
        assert!(removed("CARGO_INCREMENTAL") && removed("RUSTUP_TOOLCHAIN"));
        assert!(!removed("CARGO_HTTP_CAINFO") && !removed("CARGO_REGISTRIES_CRATES_IO_PROTOCOL"));
        assert!(!removed("PATH") && !removed("RUSTUP_HOME"));
    }

    #[test]
    fn a_server_serves_when_it_has_printed_a_line_and_one_that_ends_at_once_is_an_error() {
        let here = Path::new(".");
        assert!(Server::start(&mut in_shell("true", here)).is_err());
        let talks = "sh -c 'echo serving; exec sleep 1000'";
        let server = Server::start(&mut in_shell(talks, here)).unwrap();
        let process = PathBuf::from(format!("/proc/{}", server.0.id()));
        assert!(process.exists());
        drop(server);
        assert!(!process.exists());
    }
}
