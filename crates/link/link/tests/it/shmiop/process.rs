//! Test program run as another process.

use crate::shmiop::support::*;
use punctual_link::shmiop::{Allow, NAME, ShmOptions, Shmiop};
use punctual_link::{Acceptor, Address, Link, Properties};
use std::fs::Permissions;
use std::io::IoSlice;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// Temporary directory that all users may enter.
pub(crate) struct Open(pub(crate) PathBuf);

impl Open {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("punctual-shmiop-{}-{name}", std::process::id());
        let open = Self(std::env::temp_dir().join(name));
        std::fs::create_dir(&open.0).unwrap();
        open.to_all(&open.0);
        open
    }

    pub(crate) fn listen(&self, link: &Shmiop) -> Box<dyn Acceptor> {
        let place = self.0.join("socket");
        let address = Address::new(NAME, place.to_str().unwrap());
        link.listen(&address, &Properties::NONE).unwrap()
    }

    pub(crate) fn to_all(&self, path: impl AsRef<Path>) {
        std::fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Process of this test program, in one of the roles of [`another_process`].
pub(crate) struct Process {
    pub(crate) child: Child,
    /// Input of the process, which ends when this is closed.
    pub(crate) _stdin: Option<ChildStdin>,
}

impl Process {
    pub(crate) fn new(role: &str, place: &str) -> Self {
        Self::start(
            &mut Command::new(std::env::current_exe().unwrap()),
            role,
            place,
        )
    }

    /// Starts as an unprivileged user, from a copy of the program that it may read.
    pub(crate) fn as_nobody(role: &str, open: &Open, place: &str) -> Option<Self> {
        const NOBODY: u32 = 65534;
        if punctual_sys::unix::effective_user() != 0 {
            eprintln!("skipped: only root can start a process of another user");
            return None;
        }
        let copy = open.0.join("program");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let mut command = Command::new(&copy);
        Some(Self::start(command.uid(NOBODY), role, place))
    }

    pub(crate) fn start(command: &mut Command, role: &str, place: &str) -> Self {
        command
            .args([
                "shmiop::process::another_process",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env("SHMIOP_ROLE", role)
            .env("SHMIOP_PLACE", place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = spawn(command);
        let stdin = child.stdin.take();
        Self {
            child,
            _stdin: stdin,
        }
    }

    /// Sends SIGKILL to the process, whatever it is doing.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the child process prints a line that contains the given text.
    pub(crate) fn assert_said(&mut self, line: &str) {
        let stdout = self.child.stdout.as_mut().unwrap();
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        assert!(lines.any(|said| said.contains(line)));
    }

    /// Returns the line that the process prints about itself.
    pub(crate) fn says(mut self) -> String {
        let mut output = String::new();
        let mut stdout = self.child.stdout.take().unwrap();
        stdout.read_to_string(&mut output).unwrap();
        let said = output.lines().find(|line| line.contains("said: "));
        said.unwrap_or_default().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "what the other tests run as another process"]
fn another_process() {
    let (Ok(role), Ok(place)) = (std::env::var("SHMIOP_ROLE"), std::env::var("SHMIOP_PLACE"))
    else {
        return;
    };
    let link = link(ShmOptions {
        allow: Allow::Anyone,
        ..ShmOptions::default()
    });
    if role == "listen" {
        let acceptor = link.listen(&Address::new(NAME, &place), &Properties::NONE);
        let acceptor = acceptor.unwrap();
        println!("said: listening");
        let _refused = acceptor.accept();
        return wait_for_the_end();
    }
    let connected = link.connect(&Address::new(NAME, &place), &Properties::NONE, limit());
    let connection = match connected {
        Ok(connection) => connection,
        Err(error) => {
            println!("said: {error}");
            return;
        }
    };
    match role.as_str() {
        "send" => send(&*connection, b"", &pattern(MIB, 0)),
        "send for ever" => loop {
            let sevens = [7; 10_000];
            if connection.send(&[IoSlice::new(&sevens)], limit()).is_err() {
                return;
            }
        },
        "receive and keep" => {
            let _kept = receive(&*connection, MIB);
            send(&*connection, b"kept", b"");
            wait_for_the_end();
        }
        "echo" => loop {
            let block = receive(&*connection, MIB);
            send(&*connection, b"", &contents(&block));
        },
        _ => println!("said: connected"),
    }
    wait_for_the_end();
}

/// Waits until the process that started this one closes its input, or kills it.
fn wait_for_the_end() {
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// Starts a program that may just have been copied: another test's process has the copy open for
/// writing until its own exec, and a file open for writing cannot be run (ETXTBSY).
fn spawn(command: &mut Command) -> Child {
    for _ in 0..200 {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(5));
            }
            started => return started.unwrap(),
        }
    }
    panic!("the program is open for writing all the time")
}
