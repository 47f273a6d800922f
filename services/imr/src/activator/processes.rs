//! Processes that an activator has started, and a thread that waits for their ends.
//!
//! A process is known by a descriptor (pidfd), which becomes readable when it ends, and by which signals are sent: another
//! process that gets its number later is never meant. Only this thread collects the exit status, so the number stays taken
//! until the end has been noted.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

use parking_lot::Mutex;
use punctual_exec::thread::{JoinHandle, ThreadSpec};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};
use thiserror::Error;

use super::command::{BadCommand, split, unmarked};
use super::found;
use crate::implementation_repository::StartupOptions;

/// Variables by which systemd speaks to the activator itself: a server must not answer in its place.
const OF_SYSTEMD: [&str; 6] = [
    "NOTIFY_SOCKET",
    "WATCHDOG_USEC",
    "WATCHDOG_PID",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
];

/// Maximum number of processes.
const MOST: usize = 10_000;

/// Reason why a process was not started.
#[derive(Error)]
pub enum CannotStart {
    /// The command line cannot be split.
    #[error("its command line is wrong: {0}")]
    Command(#[from] BadCommand),
    /// The operating system refuses.
    #[error("`{0}`: {1}")]
    System(String, io::Error),
    /// There are too many processes.
    #[error("the activator has {MOST} processes already")]
    TooMany,
    /// The start was made before, for another repository, and its process has ended.
    #[error("its process has ended before it registered")]
    Ended,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for CannotStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Processes of an activator. Cheap to clone; clones have the same processes. They outlive the activator.
#[derive(Clone)]
pub struct Processes(Arc<Shared>);

struct Shared {
    by_shell: bool,
    /// Variables that each process gets, beside those of its server.
    environment: Mutex<Vec<(String, String)>>,
    running: Mutex<BTreeMap<i32, Running>>,
    /// Id and process of the last start of each server, of those that have one; none if it was a launcher that has failed. Locked
    /// after `running`.
    starts: Mutex<BTreeMap<String, (String, Option<i32>)>>,
    /// Wakes the thread that waits.
    wake: OwnedFd,
    has_stopped: Mutex<bool>,
    /// Thread that waits for ends.
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Running {
    name: String,
    /// Place in the order of starts.
    turn: u64,
    /// True for one that only starts something else.
    is_launcher: bool,
    /// `None` for a process that an earlier activator has started.
    child: Option<Child>,
    /// Shared with the thread that waits for it.
    descriptor: Arc<OwnedFd>,
}

impl Running {
    /// Sends a signal. One that is to end the process is for its group, such as what a shell has started.
    fn signal(&self, signal: Signal) -> bool {
        let is_sent = pidfd_send_signal(&*self.descriptor, signal).is_ok();
        // The group keeps its number as long as its leader has not been collected.
        let group = self.child.as_ref().map(Pid::from_child);
        if let Some(group) = group.filter(|_| matches!(signal, Signal::KILL | Signal::TERM)) {
            let _may_be_empty = kill_process_group(group, signal);
        }
        is_sent
    }
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.running.lock().keys()).finish()
    }
}

impl Processes {
    /// Makes the processes of an activator; `died` is called for the end of each, with its server's name and its number. With
    /// `by_shell`, command lines are run by `/bin/sh`.
    ///
    /// # Errors
    /// The thread that waits for ends cannot be started.
    pub fn new(by_shell: bool, died: impl Fn(&str, i32) + Send + 'static) -> io::Result<Self> {
        let processes = Self(Arc::new(Shared {
            by_shell,
            environment: Mutex::default(),
            running: Mutex::default(),
            starts: Mutex::default(),
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            has_stopped: Mutex::new(false),
            thread: Mutex::new(None),
        }));
        let waiting = processes.clone();
        let thread = ThreadSpec::named("imr-ends").start(move || waiting.wait_for_ends(&died))?;
        *processes.0.thread.lock() = Some(thread);
        Ok(processes)
    }

    /// Has each process get the activator's name, and the variables by which a server of TAO finds its repository, as from TAO's
    /// activator.
    pub(crate) fn set_repository(&self, activator: &str, reference: String) {
        *self.0.environment.lock() = vec![
            (found::ACTIVATOR.to_owned(), activator.to_owned()),
            ("TAO_USE_IMR".to_owned(), "1".to_owned()),
            ("ImplRepoServiceIOR".to_owned(), reference),
        ];
    }

    /// Starts a process for a server, and returns its number. `started` is called with the number before the end of the process
    /// can be told. A start that has an id, in the variable `PUNCTUAL_IMR_START` of its environment, is made once: a repository that
    /// takes it over from another one gets the process that is there.
    ///
    /// # Errors
    /// [`CannotStart`].
    pub fn start(
        &self,
        name: &str,
        options: &StartupOptions,
        started: impl FnOnce(i32),
    ) -> Result<i32, CannotStart> {
        let mut command = self.command(options)?;
        command.env(found::SERVER, name);
        let mut running = self.0.running.lock();
        let variables = options.environment.iter();
        let id = variables.rev().find(|one| one.name == found::START);
        if let Some((known, number)) = self.0.starts.lock().get(name)
            && id.is_some_and(|id| id.value == *known)
        {
            let number = number.ok_or(CannotStart::Ended)?;
            match running.contains_key(&number) {
                true => started(number),
                // The process of a launcher ends before the server that it has started registers.
                false if unmarked(&options.command_line).1 => {}
                false => return Err(CannotStart::Ended),
            }
            return Ok(number);
        }
        if running.len() >= MOST {
            return Err(CannotStart::TooMany);
        }
        let failed = |error| CannotStart::System(failing(options, &error), error);
        let mut child = command.spawn().map_err(failed)?;
        let pid = Pid::from_child(&child);
        // The child has not been collected, so that the number is its own.
        let descriptor = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => Arc::new(descriptor),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(error.into()));
            }
        };
        let number = pid.as_raw_nonzero().get();
        started(number);
        let name = name.to_owned();
        if let Some(id) = id {
            self.note_start(&running, &name, &id.value, number);
        }
        let (_, is_launcher) = unmarked(&options.command_line);
        let turn = next_turn(&running);
        running.insert(
            number,
            Running {
                name,
                turn,
                is_launcher,
                child: Some(child),
                descriptor,
            },
        );
        drop(running);
        self.wake();
        Ok(number)
    }

    /// Takes the processes that an earlier activator of the name has started for the repository, which go on: their ends are told,
    /// and they get signals. `known` is called with the server and the number of each before its end can be told.
    pub(crate) fn take_over(&self, mut known: impl FnMut(&str, i32)) {
        let marks = self.0.environment.lock().clone();
        let mut running = self.0.running.lock();
        for found in found::processes(&marks) {
            if running.contains_key(&found.pid) || running.len() >= MOST {
                continue;
            }
            tracing::info!("`{}` goes on as process {}", found.server, found.pid);
            known(&found.server, found.pid);
            if let Some(id) = &found.start {
                self.note_start(&running, &found.server, id, found.pid);
            }
            let process = Running {
                name: found.server,
                turn: next_turn(&running),
                is_launcher: false,
                child: None,
                descriptor: Arc::new(found.descriptor),
            };
            running.insert(found.pid, process);
        }
        drop(running);
        self.wake();
    }

    /// Notes the id of a start. Those of processes that have ended are forgotten when there are many.
    fn note_start(&self, running: &BTreeMap<i32, Running>, name: &str, id: &str, pid: i32) {
        let mut starts = self.0.starts.lock();
        if starts.len() >= MOST {
            starts.retain(|_, (_, pid)| pid.is_some_and(|pid| running.contains_key(&pid)));
        }
        starts.insert(name.to_owned(), (id.to_owned(), Some(pid)));
    }

    fn command(&self, options: &StartupOptions) -> Result<Command, CannotStart> {
        let (line, _) = unmarked(&options.command_line);
        let mut command = match self.0.by_shell {
            true => {
                let mut shell = Command::new("/bin/sh");
                shell.arg("-c").arg(line);
                shell
            }
            false => {
                let mut arguments = split(line)?.into_iter();
                let mut command = Command::new(arguments.next().ok_or(BadCommand::Empty)?);
                command.args(arguments);
                command
            }
        };
        if !options.working_directory.is_empty() {
            command.current_dir(&options.working_directory);
        }
        for variable in OF_SYSTEMD {
            command.env_remove(variable);
        }
        command.envs(self.0.environment.lock().iter().cloned());
        for variable in &options.environment {
            command.env(&variable.name, &variable.value);
        }
        // What a server prints goes where the activator's log goes: its standard output has the reference.
        let errors = io::stderr().as_fd().try_clone_to_owned();
        let output = errors.map_or_else(|_| Stdio::null(), Stdio::from);
        command.stdin(Stdio::null()).stdout(output);
        // A signal from the terminal is meant for the activator.
        command.process_group(0);
        Ok(command)
    }

    /// Sends a signal to a server's process, or none if it is 0; returns whether this activator has such a process of the server.
    #[must_use]
    pub fn kill(&self, name: &str, pid: i32, signal: i32) -> bool {
        let running = self.0.running.lock();
        let Some(process) = running.get(&pid).filter(|one| one.name == name) else {
            return false;
        };
        match signal {
            0 => true,
            signal => Signal::from_named_raw(signal).is_some_and(|signal| process.signal(signal)),
        }
    }

    /// Calls `with` with the processes that run, by their servers and in the order of their starts. Meanwhile none is started, and no end is reported. Launchers are
    /// not among them.
    pub(super) fn with_running(&self, with: impl FnOnce(&[(&str, i32)])) {
        let running = self.0.running.lock();
        let mut all: Vec<(&i32, &Running)> = running.iter().collect();
        all.retain(|(_, process)| !process.is_launcher);
        all.sort_by_key(|(_, process)| process.turn);
        let all: Vec<(&str, i32)> = { all.iter() }
            .map(|(pid, process)| (&*process.name, **pid))
            .collect();
        with(&all);
    }

    /// Returns the number of processes that run.
    #[must_use]
    pub fn running(&self) -> usize {
        self.0.running.lock().len()
    }

    /// Ends the thread that waits. Processes go on.
    pub(crate) fn stop(&self) {
        *self.0.has_stopped.lock() = true;
        self.wake();
        let thread = self.0.thread.lock().take();
        if let Some(thread) = thread {
            // A panic of it was reported when it happened.
            let _ = thread.join();
        }
    }

    fn wake(&self) {
        // A counter that is full has woken the thread.
        let _ = rustix::io::write(&self.0.wake, &1_u64.to_ne_bytes());
    }

    fn note_failed_launch(&self, name: &str, pid: i32) {
        if let Some((_, last)) = self.0.starts.lock().get_mut(name) {
            *last = last.filter(|last| *last != pid);
        }
    }

    fn wait_for_ends(&self, died: &dyn Fn(&str, i32)) {
        while !*self.0.has_stopped.lock() {
            let watched: Vec<(i32, Arc<OwnedFd>)> = {
                let running = self.0.running.lock();
                let all = running.iter();
                all.map(|(pid, one)| (*pid, one.descriptor.clone()))
                    .collect()
            };
            let ended = wait_for_one(self.0.wake.as_fd(), &watched);
            for pid in ended {
                let process = self.0.running.lock().remove(&pid);
                if let Some(mut process) = process {
                    let status = process.child.as_mut().map(Child::wait);
                    let has_launched = process.is_launcher
                        && matches!(&status, Some(Ok(status)) if status.success());
                    report(&process.name, pid, status);
                    if process.is_launcher && !has_launched {
                        self.note_failed_launch(&process.name, pid);
                    }
                    if !has_launched {
                        died(&process.name, pid);
                    }
                }
            }
        }
    }
}

/// Returns the place of the next process in the order of starts.
fn next_turn(running: &BTreeMap<i32, Running>) -> u64 {
    let last = running.values().map(|process| process.turn).max();
    last.map_or(0, |last| last + 1)
}

/// Waits until one of the processes has ended, or the waiting is interrupted. Returns the numbers of those that have ended.
fn wait_for_one(wake: BorrowedFd<'_>, watched: &[(i32, Arc<OwnedFd>)]) -> Vec<i32> {
    let mut all = vec![PollFd::from_borrowed_fd(wake, PollFlags::IN)];
    let each = watched.iter();
    all.extend(each.map(|(_, one)| PollFd::new(&**one, PollFlags::IN)));
    match poll(&mut all, None) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => {
            tracing::error!("the ends of processes are not noticed: {error}");
            std::thread::sleep(std::time::Duration::from_secs(1));
            return Vec::new();
        }
    }
    let mut count = [0; 8];
    // Nothing is read if it was a process that ended.
    let _ = rustix::io::read(wake, &mut count);
    let ready = all.iter().skip(1).zip(watched);
    let ended = ready.filter(|(one, _)| !one.revents().is_empty());
    ended.map(|(_, (pid, _))| *pid).collect()
}

fn report(name: &str, pid: i32, status: Option<io::Result<ExitStatus>>) {
    let Some(status) = status else {
        // Its status went to another process.
        return tracing::info!("`{name}`, process {pid}, has ended");
    };
    match status {
        Ok(status) if status.success() => tracing::info!("`{name}`, process {pid}, has ended"),
        Ok(status) => tracing::warn!("`{name}`, process {pid}, has ended: {status}"),
        Err(error) => tracing::warn!("`{name}`, process {pid}, has ended: {error}"),
    }
}

/// Returns what an error of a start is about: the folder if that is not there, or else the program.
fn failing(options: &StartupOptions, error: &io::Error) -> String {
    let folder = &options.working_directory;
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    if is_missing && !folder.is_empty() && !Path::new(folder).is_dir() {
        return folder.clone();
    }
    let arguments = split(unmarked(&options.command_line).0).unwrap_or_default();
    arguments.into_iter().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
