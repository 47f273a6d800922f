//! Server in another process, which can be stopped and killed.

use crate::group::{Server, until};
use punctual::fault_tolerance::{FaultTolerance, HeartbeatEnabledPolicy};
use punctual::poa::PoaPolicy;
use punctual::{Interface, ListenEndpoint, Orb, RootPoa, SystemException};
use punctual_ior::Ior;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

/// Environment variable of the other process.
const SERVES: &str = "PUNCTUAL_FAULT_TOLERANCE_SERVES";
/// Prefix of the line with the server's reference.
const MARK: &str = "@ ";

/// Other process with a server of one counter; killed when dropped.
pub(crate) struct Process {
    child: Child,
    /// Ends the process when it is closed.
    _stdin: ChildStdin,
    ior: Ior,
}

impl Process {
    pub(crate) fn server() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["process::another_process", "--exact", "--ignored"])
            .args(["--nocapture", "--test-threads=1"])
            .env(SERVES, "")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = lines.find_map(|line| Some(line.unwrap().strip_prefix(MARK)?.to_owned()));
        // Further lines are read, so that the process does not block.
        std::thread::spawn(move || lines.map_while(Result::ok).count());
        Self {
            _stdin: child.stdin.take().unwrap(),
            child,
            ior: said.unwrap().parse().unwrap(),
        }
    }

    pub(crate) fn ior(&self) -> Ior {
        self.ior.clone()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let process = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process(process, signal).unwrap();
    }

    /// Stops the process, and waits until all of its threads have stopped.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
        let tasks = format!("/proc/{}/task", self.child.id());
        let has_stopped = |task: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            // The state stands behind the name, which is in parentheses.
            stat.rsplit_once(')')
                .is_some_and(|(_, rest)| rest.starts_with(" T"))
        };
        until(|| {
            let mut tasks = std::fs::read_dir(&tasks).unwrap().map_while(Result::ok);
            tasks.all(has_stopped)
        });
    }

    /// Kills the process while `call` is held in it, and lets the call pass at the member that is next.
    pub(crate) fn kill_in_call(
        &mut self,
        call: impl FnOnce() -> Result<u32, SystemException> + Send,
        next: &Server,
    ) {
        std::thread::scope(|threads| {
            let call = threads.spawn(call);
            // The call is at the gate of this process, or about to be: in both cases it is repeated.
            std::thread::sleep(std::time::Duration::from_millis(20));
            self.child.kill().unwrap();
            self.child.wait().unwrap();
            until(|| next.servant.upcalls() == 1);
            next.servant.gate.open();
            assert_eq!(call.join().unwrap(), Ok(1));
        });
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Not a test: the main function of the process that [`Process`] starts.
#[test]
#[ignore = "another process of the other tests"]
fn another_process() {
    if std::env::var_os(SERVES).is_none() {
        return;
    }
    let builder = FaultTolerance::extend(Orb::builder()).unwrap();
    let orb = builder
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let root = orb.root_poa().unwrap();
    let beating = PoaPolicy::of(HeartbeatEnabledPolicy(true));
    let poa = root.create_poa("beating", Some(root.manager()), &[beating]);
    let poa = poa.unwrap();
    root.manager().activate().unwrap();
    let servant = Arc::new(crate::group::Counter::default());
    let echo: crate::support::Echo = poa.activate(servant).unwrap();
    println!(
        "\n{MARK}{}",
        orb.object_to_string(echo.as_object()).unwrap()
    );
    std::io::stdin().lines().map_while(Result::ok).count();
}
