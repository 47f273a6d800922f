//! A call whose caller goes on: its reply is waited for later, or somebody is told when it is there (CORBA 3.3 part 2, §22;
//! paper 002).
//!
//! It is an [`Invocation`] that is put away between its request and its reply, with all that it borrowed while it was sent: the
//! reference, and the arguments, which another attempt may need.

use super::complete;
use super::failure::{out_of_place, unwatchable};
use super::invocation::{Awaited, Call, Invocation, Progress};
use super::outcome::{ReplyOutcome, Results};
use super::remote::Callee;
use super::write::Ask;
use crate::exception::SystemException;
use crate::lane::Lane;
use crate::operation::Operation;
use punctual_cdr::{CdrError, Encoder};
use punctual_exec::Deadline;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// Who holds the reference that is called.
pub(crate) trait Owner {
    /// What the call is made with, of that lane's.
    fn callee_of<'c>(&'c self, lane: &'c Arc<Lane>) -> Callee<'c>;
}

/// Arguments that outlive the caller's.
pub(crate) type OwnedArguments = dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError> + Send;

/// See the module. Dropped before its reply has come, it is cancelled.
pub(crate) struct Deferred<O> {
    what: What<O>,
    invocation: Invocation,
    stage: Stage,
}

/// What is called.
struct What<O> {
    owner: O,
    lane: Arc<Lane>,
    operation: Operation,
    arguments: Box<OwnedArguments>,
}

enum Stage {
    Awaits(Awaited),
    Done(Result<Option<ReplyOutcome>, SystemException>),
    /// Between two others.
    Moving,
}

impl<O: Owner> What<O> {
    fn call(&self) -> Call<'_> {
        Call {
            callee: self.owner.callee_of(&self.lane),
            ask: Ask::Request {
                operation: &self.operation,
                arguments: &*self.arguments,
            },
        }
    }
}

impl<O: Owner> Deferred<O> {
    /// Sends the request, by that lane. What keeps it from being sent is its result.
    pub(crate) fn begin(
        owner: O,
        lane: Arc<Lane>,
        operation: Operation,
        arguments: Box<OwnedArguments>,
    ) -> Self {
        let what = What {
            owner,
            lane,
            operation,
            arguments,
        };
        let mut invocation = Invocation::new(&what.call());
        invocation.is_deferred();
        invocation.is_put_away = true;
        let stage = Stage::of(invocation.proceed(&what.call()));
        Self {
            what,
            invocation,
            stage,
        }
    }

    /// Whose call it is.
    pub(crate) fn lane(&self) -> &Arc<Lane> {
        &self.what.lane
    }

    /// Waits until its result is there, or `until`; whether it is.
    pub(crate) fn wait(&mut self, until: Deadline) -> bool {
        loop {
            let Awaited { binding, reply } = match self.stage.take() {
                Ok(awaited) => awaited,
                Err(is_done) => return is_done,
            };
            match complete::wait_until(reply, until, self.invocation.deadline) {
                Ok(came) => {
                    let progress = self.invocation.take_up(&self.what.call(), binding, came);
                    self.stage = Stage::of(progress);
                }
                Err(reply) => {
                    self.stage = Stage::Awaits(Awaited { binding, reply });
                    return false;
                }
            }
        }
    }

    /// Whether its result is there; if not, `watcher` is woken when it is time to ask again. Does not wait for the reply; where the
    /// call is to be repeated, it is sent again.
    pub(crate) fn poll(&mut self, watcher: &Waker) -> bool {
        loop {
            let Awaited { binding, mut reply } = match self.stage.take() {
                Ok(awaited) => awaited,
                Err(is_done) => return is_done,
            };
            let deadline = self.invocation.deadline;
            match reply.watch(self.what.lane.replies(), watcher, deadline) {
                Ok(true) => {
                    let came = complete::take(reply, deadline);
                    let progress = self.invocation.take_up(&self.what.call(), binding, came);
                    self.stage = Stage::of(progress);
                }
                Ok(false) => {
                    self.stage = Stage::Awaits(Awaited { binding, reply });
                    return false;
                }
                Err(error) => self.stage = Stage::Done(Err(unwatchable(&error))),
            }
        }
    }

    /// Lets `results` read what has come. Waits for it, where it is not there.
    ///
    /// # Errors
    /// What the server raised, or what kept the call from it.
    pub(crate) fn finish(mut self, results: &mut Results<'_>) -> Result<(), SystemException> {
        self.wait(Deadline::NEVER);
        let what = &self.what;
        let named = |exception: SystemException| {
            exception.in_context(format_args!("calling `{}`", what.operation.name()))
        };
        let Stage::Done(outcome) = self.stage else {
            return Err(named(out_of_place()));
        };
        let callee = what.owner.callee_of(&what.lane);
        match outcome.map_err(named)?.map(|one| one.give(callee, results)) {
            Some(None) => Ok(()),
            Some(Some(ReplyOutcome::SystemException(exception))) => Err(named(exception)),
            _ => Err(named(out_of_place())),
        }
    }
}

impl Stage {
    fn of(progress: Result<Progress, SystemException>) -> Self {
        match progress {
            Ok(Progress::Done(outcome)) => Self::Done(Ok(outcome)),
            Ok(Progress::Awaits(awaited)) => Self::Awaits(awaited),
            Err(exception) => Self::Done(Err(exception)),
        }
    }

    /// Takes the reply that is awaited, if one is; else whether the call is done.
    fn take(&mut self) -> Result<Awaited, bool> {
        match std::mem::replace(self, Self::Moving) {
            Self::Awaits(awaited) => Ok(awaited),
            other => {
                *self = other;
                Err(matches!(self, Self::Done(_)))
            }
        }
    }
}

impl<O> fmt::Debug for Deferred<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferred")
            .field("operation", &self.what.operation.name())
            .field("is_done", &matches!(self.stage, Stage::Done(_)))
            .finish_non_exhaustive()
    }
}
