//! Another process that runs this test program, and can be killed or limited in its descriptors.

use crate::hostile::links::Over;
use crate::hostile::log;
use crate::hostile::scribble::scribble;
use crate::support::{Echo, EchoImpl};
use punctual::{Interface, ListenEndpoint, RootPoa};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

/// Environment variable that tells a child process its role in the test.
const ROLE: &str = "PUNCTUAL_HOSTILE_ROLE";
const LINK: &str = "PUNCTUAL_HOSTILE_LINK";
const FOLDER: &str = "PUNCTUAL_HOSTILE_FOLDER";
const REFERENCE: &str = "PUNCTUAL_HOSTILE_REFERENCE";
/// Prefix of the lines that the other process writes for the test.
const MARK: &str = "@ ";
/// Size of the shared memory that a client holds, in bytes.
const LOAN: usize = 1 << 20;

/// Other process, which is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    stdin: ChildStdin,
    said: Receiver<String>,
    logged: Receiver<String>,
}

impl Process {
    /// Starts a server of one object. It prints its reference, then obeys commands.
    pub(crate) fn server(over: Over, folder: &Path) -> Self {
        Self::start("serve", over, folder, "")
    }

    /// Starts a client whose one call does not return.
    pub(crate) fn caller(over: Over, folder: &Path, reference: &str) -> Self {
        Self::start("call", over, folder, reference)
    }

    /// Starts a client that holds buffers in shared memory, one of them in a call that does not
    /// return.
    pub(crate) fn lender(over: Over, folder: &Path, reference: &str) -> Self {
        Self::start("lend", over, folder, reference)
    }

    /// Starts a client that overwrites the memory that it shares with the server, on one connection
    /// after another. It prints a line when it has done so on a number of connections.
    pub(crate) fn scribbler(over: Over, folder: &Path, reference: &str) -> Self {
        Self::start("scribble", over, folder, reference)
    }

    fn start(role: &str, over: Over, folder: &Path, reference: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["hostile::process::another_process", "--exact", "--ignored"])
            .args(["--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(LINK, over.label())
            .env(FOLDER, folder)
            .env(REFERENCE, reference)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = lines(child.stdout.take().unwrap());
        let logged = lines(child.stderr.take().unwrap());
        let stdin = child.stdin.take().unwrap();
        Self {
            child,
            stdin,
            said,
            logged,
        }
    }

    /// Returns the next line that the process writes for the test.
    pub(crate) fn says(&mut self) -> String {
        loop {
            let line = self.said.recv();
            let line = line.unwrap_or_else(|_| panic!("it ended: {:?}", self.log()));
            if let Some(said) = line.strip_prefix(MARK) {
                return said.to_owned();
            }
        }
    }

    /// Waits until the process has logged a line that contains `part`.
    pub(crate) fn wait_until_logged(&mut self, part: &str) {
        while !self.logged.recv().unwrap().contains(part) {}
    }

    fn log(&self) -> Vec<String> {
        self.logged.iter().collect()
    }

    /// Sends the process a command, and waits until it has carried the command out.
    pub(crate) fn told(&mut self, what: &str) -> &mut Self {
        writeln!(self.stdin, "{what}").unwrap();
        assert_eq!(self.says(), what);
        self
    }

    /// Kills the child process with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the lines of a pipe. A thread reads them, so that the writer never blocks.
fn lines(pipe: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (line, lines) = channel();
    std::thread::spawn(move || {
        let all = BufReader::new(pipe).lines().map_while(Result::ok);
        for one in all {
            if line.send(one).is_err() {
                return;
            }
        }
    });
    lines
}

/// Not a test: the main function of the process that [`Process`] starts.
#[test]
#[ignore = "another process of the other tests"]
fn another_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    log::to_stderr();
    let over = Over::labelled(&std::env::var(LINK).unwrap());
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let reference = std::env::var(REFERENCE).unwrap();
    match role.as_str() {
        "serve" => serve(over, &folder),
        "call" => {
            let _ = echo(over, &folder, &reference).wait();
        }
        "lend" => lend(&echo(over, &folder, &reference)),
        "scribble" => {
            scribble(over, &folder, &reference);
            say("scribbled");
        }
        _ => panic!("{role}"),
    }
}

fn say(what: &str) {
    // The test's own line may not have ended.
    println!("\n{MARK}{what}");
}

fn serve(over: Over, folder: &Path) {
    let inside = folder.join("socket");
    let place = match over {
        Over::Uiop | Over::Shmiop => inside.to_str().unwrap(),
        _ => over.anywhere(),
    };
    let server = over
        .orb(folder, |_| {})
        .listen(ListenEndpoint::new(over.name(), place))
        .build()
        .unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let servant = Arc::new(EchoImpl::default());
    let reference: Echo = poa.activate(servant.clone()).unwrap();
    say(&server.object_to_string(&reference).unwrap());
    let mut held = Vec::new();
    for line in std::io::stdin().lines().map_while(Result::ok) {
        match line.as_str() {
            "starve" => held = all_descriptors(),
            "feed" => held.clear(),
            "few" => few_descriptors(),
            "wait for a caller" => servant.gate.wait_for_waiters(1),
            _ => panic!("{line}"),
        }
        say(&line);
    }
}

/// Uses up all descriptors that this process may still open.
fn all_descriptors() -> Vec<File> {
    few_descriptors();
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

/// Limits this process to 64 open descriptors from now on.
fn few_descriptors() {
    let limited = Rlimit {
        current: Some(64),
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    setrlimit(Resource::Nofile, limited).unwrap();
}

fn echo(over: Over, folder: &Path, reference: &str) -> Echo {
    let client = over.orb(folder, |_| {}).build().unwrap();
    Echo::from_object(client.string_to_object(reference).unwrap())
}

fn lend(echo: &Echo) {
    let mut loans: Vec<_> = (0..4)
        .map(|_| echo.as_object().loan(LOAN).unwrap())
        .collect();
    for loan in &mut loans {
        loan.fill(1);
    }
    let _ = echo.sum_behind_gate(&loans[0]);
}
