//! Runner of the commands of one page, in a folder that is removed afterwards.
//!
//! Commands begin in a folder `punctual`, as after a clone. `cargo run --bin punctual --` is the
//! program that was built, in any folder, and so are the programs of the examples ([`EXAMPLES`]), which
//! stand beside it, and are built if they do not. Programs of a crate that the page makes are built by
//! cargo, with the artifacts of `tests/new.rs`. Port 2809 is replaced by another one each time, so
//! that pages do not conflict.

use crate::transcript::{Step, fits};
use punctual_guide::root;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Programs of the examples that pages run.
const EXAMPLES: [&str; 2] = ["alarm-element", "alarm-manager"];

/// Time after which a command counts as hanging. It is long because the first build of a crate
/// compiles all of Punctual.
const LONGEST: Duration = Duration::from_secs(900);
/// Time without output after which a command in the background counts as hanging.
const QUIET: Duration = Duration::from_secs(300);

pub(crate) struct Session {
    within: tempfile::TempDir,
    /// Folder in which the next command runs.
    folder: PathBuf,
    port: u16,
    running: Vec<Child>,
}

impl Session {
    pub(crate) fn new() -> io::Result<Self> {
        let within = tempfile::tempdir()?;
        let folder = within.path().join("punctual");
        fs::create_dir(&folder)?;
        Ok(Self {
            within,
            folder,
            port: own_port(),
            running: Vec::new(),
        })
    }

    /// Writes a file that the page shows.
    pub(crate) fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
        fs::write(path, self.with_port(text))
    }

    pub(crate) fn run(&mut self, step: &Step) -> Result<(), String> {
        self.lock_versions().map_err(|error| error.to_string())?;
        let expected: Vec<_> = step
            .output
            .iter()
            .map(|line| self.with_port(line))
            .collect();
        let mut child = self.start(step).map_err(|error| error.to_string())?;
        let lines = reader(&mut child);
        if step.is_background {
            self.running.push(child);
            return shown(step, &expected, &lines);
        }
        let command = &step.command;
        let until = Instant::now() + LONGEST;
        let mut printed = Vec::new();
        let status = loop {
            printed.extend(lines.try_iter());
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if Instant::now() > until => {
                    self.running.push(child);
                    return Err(format!(
                        "`{command}` did not end; it printed\n{}",
                        printed.join("\n")
                    ));
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        // Its output ends with it, though background processes may keep the pipe open.
        while let Ok(line) = lines.recv_timeout(Duration::from_secs(1)) {
            printed.push(line);
        }
        self.change_folder().map_err(|error| error.to_string())?;
        let code = status.code().unwrap_or(-1);
        if code != step.status {
            let printed = printed.join("\n");
            return Err(format!(
                "`{command}` ended with status {code}, and printed\n{printed}"
            ));
        }
        match !step.is_compared || fits(&expected, &printed) {
            true => Ok(()),
            false => Err(format!(
                "`{command}` printed\n{}\nwhere the page has\n{}",
                printed.join("\n"),
                expected.join("\n")
            )),
        }
    }

    fn start(&self, step: &Step) -> io::Result<Child> {
        let punctual = env!("CARGO_BIN_EXE_punctual");
        let command = self.with_port(&step.command);
        let mut command = command.replace("cargo run --bin punctual --", punctual);
        for example in EXAMPLES {
            let run = format!("cargo run --bin {example} --");
            if command.contains(&run) {
                command = command.replace(&run, &built(example)?);
            }
        }
        let script = match step.is_background {
            true => format!("exec 2>&1\n{command}"),
            false => format!(
                "exec 2>&1\n{command}\nstatus=$?\npwd > {}\nexit $status",
                self.place().display()
            ),
        };
        let bin = Path::new(punctual).parent().unwrap_or(Path::new("/"));
        let path = format!(
            "{}:{}",
            bin.display(),
            std::env::var("PATH").unwrap_or_default()
        );
        Command::new("bash")
            .args(["-c", &script])
            .current_dir(&self.folder)
            .env("PATH", path)
            .env(
                "CARGO_TARGET_DIR",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("new"),
            )
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_QUIET", "true")
            .env("RUSTFLAGS", "--deny warnings")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
    }

    /// Replaces the versions in a crate that the page has made by the workspace's, so that nothing
    /// is downloaded.
    fn lock_versions(&self) -> io::Result<()> {
        let is_crate = self.folder.join("Cargo.toml").exists();
        let lock = self.folder.join("Cargo.lock");
        if is_crate && !lock.exists() {
            fs::copy(root().join("Cargo.lock"), lock)?;
        }
        Ok(())
    }

    fn place(&self) -> PathBuf {
        self.within.path().join(".folder")
    }

    /// Sets the session's folder to the one to which the command has changed.
    fn change_folder(&mut self) -> io::Result<()> {
        if let Ok(place) = fs::read_to_string(self.place()) {
            self.folder = PathBuf::from(place.trim_end());
        }
        Ok(())
    }

    fn with_port(&self, text: &str) -> String {
        text.replace("2809", &self.port.to_string())
    }
}

/// Returns the path of an example's program. `cargo test --workspace` has built it with its own tests; else it is built.
fn built(example: &str) -> io::Result<String> {
    let folder = Path::new(env!("CARGO_BIN_EXE_punctual")).with_file_name("");
    let program = folder.join(example).display().to_string();
    if Path::new(&program).exists() {
        return Ok(program);
    }
    let profile = match folder.file_name() {
        Some(name) if name != "debug" => name.to_string_lossy().into_owned(),
        _ => "dev".to_owned(),
    };
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--bin", example, "--profile", &profile])
        .arg("--target-dir")
        .arg(folder.join(".."))
        .current_dir(root())
        .env("CARGO_NET_OFFLINE", "true")
        .status()?;
    match status.success() {
        true => Ok(program),
        false => Err(io::Error::other(format!("{example} cannot be built"))),
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for child in &mut self.running {
            // The whole process group: a shell, and its children.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = child.wait();
        }
    }
}

/// Returns the lines that a command prints, as they arrive.
fn reader(child: &mut Child) -> Receiver<String> {
    let (say, heard) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        thread::spawn(move || {
            let output: Box<dyn Read + Send> = Box::new(output);
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if say.send(line).is_err() {
                    break;
                }
            }
        });
    }
    heard
}

/// Waits until a command in the background has printed the output that the page shows.
fn shown(step: &Step, expected: &[String], lines: &Receiver<String>) -> Result<(), String> {
    let command = &step.command;
    let mut printed = Vec::new();
    while !fits(expected, &printed) {
        match lines.recv_timeout(QUIET) {
            Ok(line) => printed.push(line),
            Err(_) => {
                let printed = printed.join("\n");
                return Err(format!(
                    "`{command}` printed\n{printed}\nwhere the page has\n{}",
                    expected.join("\n")
                ));
            }
        }
    }
    Ok(())
}

/// Returns a port that stays free while the session's servers are away: below those that the kernel chooses for others, and another one for
/// each process of this test and each session.
fn own_port() -> u16 {
    static SESSIONS: AtomicU16 = AtomicU16::new(0);
    let of_process = u16::try_from(std::process::id() % 1_000).unwrap_or_default() * 20;
    loop {
        let session = SESSIONS.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + of_process + session;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
