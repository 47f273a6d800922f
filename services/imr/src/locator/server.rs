//! One server: how it is started, whether it runs, and who waits for it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use punctual::{ObjectRef, minor};

use super::failures::Failures;
use super::outcome::{By, Failure, Place};
use crate::implementation_repository::{ActivationMode, ServerActiveStatus, StartupOptions};
use crate::kept;
use crate::limits::Limits;

/// Reason of the failure of a server that has registered.
const AT_ONCE: &str = "it ended right after it had registered";

/// Server that the repository knows; `W` is what waits for it.
#[derive(Debug)]
pub(crate) struct Server<W> {
    pub(crate) options: StartupOptions,
    /// Server that it is started with if it has no command of its own.
    pub(crate) leader: Option<String>,
    /// Process that has registered last, until it is known to have ended.
    pub(crate) run: Option<Run>,
    /// Start that is in progress; there is never a second one.
    pub(crate) start: Option<Start<W>>,
    /// Starts for one client each, in the mode PER_CLIENT.
    pub(crate) own_starts: VecDeque<Start<W>>,
    pub(crate) ping: Option<Ping<W>>,
    /// Process that has said that it ends, until the activator has noticed its end: it may still have the server's files and ports.
    pub(crate) leaving: Option<Leaving>,
    /// Starts that have failed since one has succeeded.
    pub(crate) failures: Failures,
    /// Failure of a start that the repositories which share it have not been told.
    pub(crate) failed: Option<kept::Failed>,
}

/// Registered process of a server.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) number: u64,
    pub(crate) place: Place,
    /// Process as the activator knows it.
    pub(crate) pid: Option<i32>,
    /// Activator that has started it; empty if that is not known.
    pub(crate) activator: String,
    /// True if an activator tells the end of the process `pid`.
    pub(crate) is_followed: bool,
    /// True until the activator has told the process that it started for the registration.
    pub(crate) awaits_pid: bool,
    /// Address from which it registered; `None` for one that was read from the store.
    pub(crate) peer: Option<String>,
    pub(crate) since: Instant,
    /// Time at which its activator has told its end; a ping is to confirm that.
    pub(crate) ended: Option<Instant>,
    /// True if an administrator has asked it to end.
    pub(crate) is_to_end: bool,
    /// True if it has answered the last ping.
    pub(crate) is_verified: bool,
}

/// Start of a process that has not registered yet.
#[derive(Debug)]
pub(crate) struct Start<W> {
    pub(crate) number: u64,
    pub(crate) pid: Option<i32>,
    /// Activator that starts it.
    pub(crate) activator: String,
    /// True while the process that runs before it has not ended: no activator has been called yet.
    pub(crate) is_held: bool,
    pub(crate) until: Instant,
    pub(crate) claim: Claim,
    /// True if a repository that has died may have had the process started.
    pub(crate) may_be_made: bool,
    pub(crate) waiters: Vec<(W, By)>,
}

/// Part of this repository in a start, of those that share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It shares nothing, or the start is that of another server of the process.
    Alone,
    /// It wants to make the start, and has not asked whether another one makes it.
    Wanted,
    /// It makes the start with this id.
    Own(u64),
    /// Another one makes the start with this id.
    Elsewhere(u64, String),
}

impl Claim {
    /// Returns the id of the start, when a repository makes it.
    pub(crate) fn id(&self) -> Option<u64> {
        match self {
            Self::Own(id) | Self::Elsewhere(id, _) => Some(*id),
            Self::Alone | Self::Wanted => None,
        }
    }
}

/// Process that ends.
#[derive(Clone, Debug)]
pub(crate) struct Leaving {
    pub(crate) pid: i32,
    pub(crate) activator: String,
    /// Time at which another process is started, whether this one has ended or not.
    pub(crate) until: Instant,
}

/// Question whether a registered process lives, with those who wait for the answer.
#[derive(Debug)]
pub(crate) struct Ping<W> {
    pub(crate) number: u64,
    pub(crate) run: u64,
    pub(crate) waiters: Vec<(W, By)>,
}

impl<W> Server<W> {
    pub(crate) fn new(options: StartupOptions) -> Self {
        Self {
            options,
            leader: None,
            run: None,
            start: None,
            own_starts: VecDeque::new(),
            ping: None,
            leaving: None,
            failures: Failures::default(),
            failed: None,
        }
    }

    /// Returns the number of those who wait for the server.
    pub(crate) fn waiting(&self) -> usize {
        let starts = self.start.iter().chain(&self.own_starts);
        let starting: usize = starts.map(|start| start.waiters.len()).sum();
        starting + self.ping.as_ref().map_or(0, |ping| ping.waiters.len())
    }

    /// Returns whether a process is that of a start, is registered, or ends.
    pub(crate) fn has(&self, pid: Option<i32>) -> bool {
        let run = self.run.as_ref().and_then(|run| run.pid);
        let leaving = self.leaving.as_ref().map(|leaving| leaving.pid);
        let start = self.start.as_ref().and_then(|start| start.pid);
        pid.is_some() && [run, leaving, start].contains(&pid)
    }

    /// Returns the object by which the registered process is called.
    pub(crate) fn object(&self) -> Option<&ObjectRef> {
        self.run.as_ref()?.place.object.as_ref()
    }

    /// Returns what is known of the server's state without asking it.
    pub(crate) fn status(&self) -> ServerActiveStatus {
        match &self.run {
            None => ServerActiveStatus::ActiveNo,
            Some(run) if run.is_verified => ServerActiveStatus::ActiveYes,
            Some(_) => ServerActiveStatus::ActiveMaybe,
        }
    }

    /// Checks whether a process may be started now.
    pub(crate) fn check_may_start(&self, name: &str, by: By, now: Instant) -> Result<(), Failure> {
        if self.options.command_line.is_empty() {
            let reason =
                format!("`{name}` does not run, and has no command by which it is started");
            return Err(Failure::new(minor::START_FAILED, reason));
        }
        if by == By::Operator {
            return Ok(());
        }
        if self.options.activation == ActivationMode::Manual {
            let reason =
                format!("`{name}` does not run, and its mode is MANUAL: clients do not start it");
            return Err(Failure::new(minor::NOT_STARTED_FOR_CLIENTS, reason));
        }
        let limit = u32::try_from(self.options.start_limit).unwrap_or(0);
        self.failures.check(name, limit, now)
    }

    /// Records that the registered process has ended. One that ends at once has failed, unless that was asked for: it may end in good
    /// order because of an error of its own.
    pub(crate) fn note_end(&mut self, limits: &Limits, now: Instant) {
        let Some(run) = self.run.take() else { return };
        if let Some(pid) = run.pid.filter(|_| run.is_followed) {
            let until = now + limits.end;
            let activator = run.activator.clone();
            self.leaving = Some(Leaving {
                pid,
                activator,
                until,
            });
        }
        let ended = run.ended.unwrap_or(now);
        let lived: Duration = ended.saturating_duration_since(run.since);
        if run.is_to_end || lived >= limits.settle {
            self.failures.forgive();
        } else if self.failures.count == 0 {
            // It may have been killed: the next client need not wait yet.
            self.failures.note_without_pause(AT_ONCE);
        } else {
            self.failures.note(AT_ONCE, limits, now);
        }
    }
}
