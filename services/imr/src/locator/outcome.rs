//! Outcomes for those who wait for a server, and actions to be made outside of the state's lock.

use punctual::{CompletionStatus, ObjectRef, SystemException, SystemExceptionKind, minor};

use crate::implementation_repository::StartupOptions;

/// Place of a server that runs.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// A `corbaloc:` without the object key; may be empty if there is an object.
    pub(crate) partial: String,
    /// Object by which the server is called, at the endpoints of all of its objects.
    pub(crate) object: Option<ObjectRef>,
}

/// Reason why a client is not led to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Minor code of the TRANSIENT that the client gets.
    pub(crate) minor: u32,
    pub(crate) reason: String,
}

impl Failure {
    pub(crate) fn new(minor: u32, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { minor, reason }
    }

    /// Returns the failure of a name that no server has.
    pub(crate) fn unknown(name: &str) -> Self {
        Self::new(
            minor::UNKNOWN_SERVER,
            format!("no server is registered as `{name}`"),
        )
    }

    /// Returns the exception that a client gets: nothing has been done, and a repeated call may succeed.
    pub(crate) fn exception(&self) -> SystemException {
        let kind = SystemExceptionKind::Transient;
        SystemException::new(kind, self.minor, CompletionStatus::No)
            .with_detail(self.reason.as_str())
    }
}

/// Answer to one that waits for a server.
pub(crate) type Outcome = Result<Place, Failure>;

/// Party for which a server is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A client, whose request came here.
    Client,
    /// An administrator, or the repository itself: modes, pauses and limits do not hold it back.
    Operator,
}

/// Answer of a server to a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    Alive,
    /// The process cannot be reached, or the object is not there.
    Dead,
    /// No answer in time, or an exception that says nothing of it: it may be slow or stopped, and is not taken for dead.
    Silent,
}

/// Step to be made without the lock of the state.
#[derive(Debug)]
pub(crate) enum Action<W> {
    /// Answers one that waits.
    Answer(W, Outcome),
    /// Starts a process by an activator; the number is that of the start.
    Start {
        number: u64,
        name: String,
        activator: String,
        options: StartupOptions,
    },
    /// Asks a server whether it lives; the number is that of the ping.
    Ping {
        number: u64,
        name: String,
        object: ObjectRef,
    },
    /// Asks an activator whether a process that ends is still there.
    Look {
        name: String,
        activator: String,
        pid: i32,
    },
    /// Tells the repositories that share a server how it is.
    Store { name: String },
    /// Ends a process by its activator that has not registered in time.
    Kill {
        name: String,
        activator: String,
        pid: i32,
    },
}
