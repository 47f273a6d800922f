//! Deferred call: its reply is awaited later, or its arrival is notified (CORBA 3.3 part 2, §22;
//! Arulanthu et al. 2000).
//!
//! It is an [`Invocation`] that is stored between its request and its reply, together with the
//! reference and the arguments, which another attempt may need.

use super::complete;
use super::failure::{Failed, out_of_place, unwatchable, while_calling};
use super::invocation::{Awaited, Call, Invocation, Progress};
use super::outcome::{ReplyOutcome, Results};
use super::remote::Callee;
use super::write::Ask;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::lane::{Alarm, Binding, Lane, in_reply_handler};
use crate::messaging::Message;
use crate::operation::{NamedOperation, OperationDetails};
use crate::policy::{Full, Held, InFlightGuard};
use punctual_cdr::{CdrError, Encoder};
use punctual_exec::Deadline;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// Handle that keeps a reference alive while a deferred call through it is in progress.
pub(crate) trait Owner {
    /// Returns the reference, as the callee of a call that the given lane makes.
    fn callee_of<'c>(&'c self, lane: &'c Arc<Lane>) -> Callee<'c>;
}

/// Function that marshals the arguments owned by a deferred call.
pub(crate) type OwnedArguments = dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError> + Send;

/// Deferred call (see the module documentation). Dropping it before its reply has arrived cancels
/// it.
pub(crate) struct Deferred<O> {
    what: CalledObject<O>,
    invocation: Invocation,
    stage: Stage,
    /// Slot of the limit on calls in flight, occupied until the call is done.
    place: Option<InFlightGuard>,
}

/// Target object, operation and arguments of a deferred call.
struct CalledObject<O> {
    owner: O,
    lane: Arc<Lane>,
    operation: CalledOperation,
    arguments: Box<OwnedArguments>,
}

/// Operation whose name is owned or static, and so lives as long as the call.
#[derive(Clone, Debug)]
pub(crate) enum CalledOperation {
    /// Two-way operation whose name is a constant of the program.
    Known(&'static str),
    /// Two-way operation whose name is known only at run time. Boxed, so that the enum needs no
    /// tag.
    Named(Box<Described>),
}

/// Operation whose name is known only at run time, with the description that its interceptors see.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) name: Arc<str>,
    pub(crate) details: Arc<dyn OperationDetails + Send>,
}

impl CalledOperation {
    fn get(&self) -> NamedOperation<'_> {
        match self {
            Self::Known(name) => NamedOperation::two_way(name),
            Self::Named(one) => NamedOperation::named(&one.name, true).with_details(&*one.details),
        }
    }
}

enum Stage {
    /// The request is not sent yet: the limit on calls in flight is reached. The alarm wakes the
    /// waiting task when the call's time-out passes.
    Held(Held, Option<Box<Alarm>>),
    Awaits(Awaited),
    /// Boxed because it is large, and most calls in flight are not done.
    Done(Box<Result<Option<ReplyOutcome>, SystemException>>),
    /// Placeholder while the call passes from one stage to another.
    InTransition,
}

impl<O: Owner> CalledObject<O> {
    fn with_call<R>(&self, go_on: impl FnOnce(&Call<'_>) -> R) -> R {
        go_on(&Call {
            callee: self.owner.callee_of(&self.lane),
            ask: Ask::Request {
                operation: &self.operation.get(),
                arguments: &*self.arguments,
            },
        })
    }
}

impl<O: Owner> Deferred<O> {
    /// Sends the request over the given lane. A failure to send becomes the call's result.
    pub(crate) fn begin(
        owner: O,
        lane: Arc<Lane>,
        operation: CalledOperation,
        arguments: Box<OwnedArguments>,
    ) -> Self {
        let what = CalledObject {
            owner,
            lane,
            operation,
            arguments,
        };
        let (invocation, stage, place) = what.with_call(|call| {
            let mut invocation = Invocation::new(call);
            invocation.set_deferred();
            invocation.is_put_away = true;
            let (stage, place) = begin(call, &mut invocation);
            (invocation, stage, place)
        });
        Self {
            what,
            invocation,
            stage,
            place,
        }
        .settled()
    }

    /// Returns the lane over which the call is made.
    pub(crate) fn lane(&self) -> &Arc<Lane> {
        &self.what.lane
    }

    /// Waits until the result is available, or until `until`. Returns whether it is available.
    pub(crate) fn wait(&mut self, until: Deadline) -> bool {
        if let Stage::Held(held, _) = &mut self.stage {
            let deadline = self.invocation.deadline;
            match held.wait(until.earlier(deadline)) {
                Some(place) => self.send(place),
                None if deadline.has_passed() => self.give_up_held(),
                None => return false,
            }
        }
        loop {
            let Awaited { binding, reply } = match self.stage.take() {
                Ok(awaited) => awaited,
                Err(is_done) => return is_done,
            };
            match complete::wait_until(reply, until, self.invocation.deadline) {
                Ok(came) => {
                    self.take_up(binding, came);
                }
                Err(reply) => {
                    self.stage = Stage::Awaits(Awaited { binding, reply });
                    return false;
                }
            }
        }
    }

    /// Returns whether the result is available. If it is not, `watcher` is woken when it is time to
    /// poll again. Does not wait for the reply. If the call has to be repeated, sends the request
    /// again.
    pub(crate) fn poll(&mut self, watcher: &Waker) -> bool {
        if let Stage::Held(..) = self.stage
            && !self.poll_held(watcher)
        {
            return false;
        }
        loop {
            let Awaited { binding, mut reply } = match self.stage.take() {
                Ok(awaited) => awaited,
                Err(is_done) => return is_done,
            };
            let deadline = self.invocation.deadline;
            match reply.watch(self.what.lane.replies(), watcher, deadline) {
                Ok(true) => {
                    let came = complete::take(reply, deadline);
                    self.take_up(binding, came);
                }
                Ok(false) => {
                    self.stage = Stage::Awaits(Awaited { binding, reply });
                    return false;
                }
                Err(error) => {
                    self.stage = Stage::failed(unwatchable(&error));
                    self.settle();
                }
            }
        }
    }

    /// Returns whether the call is no longer held back by the limit on calls in flight. If it still
    /// is, `watcher` is woken when a slot may be free or the call's time is up.
    fn poll_held(&mut self, watcher: &Waker) -> bool {
        let deadline = self.invocation.deadline;
        let Stage::Held(held, alarm) = &mut self.stage else {
            return true;
        };
        if deadline.has_passed() {
            self.give_up_held();
            return true;
        }
        if let Some(place) = held.poll(watcher) {
            self.send(place);
            return true;
        }
        match self.what.lane.replies().wake_at(deadline, watcher) {
            Ok(set) => *alarm = set.map(Box::new),
            Err(error) => {
                self.stage = Stage::failed(unwatchable(&error));
                return true;
            }
        }
        false
    }

    /// Sends a request that was held back, now that the call has a slot.
    fn send(&mut self, place: InFlightGuard) {
        self.place = Some(place);
        let invocation = &mut self.invocation;
        let progress = self.what.with_call(|call| invocation.proceed(call));
        self.stage = Stage::of(progress);
        self.settle();
    }

    fn give_up_held(&mut self) {
        self.stage = Stage::failed(too_many(Kind::Timeout));
    }

    /// Frees the slot of the call for another one, if the call is done.
    fn settle(&mut self) {
        if let Stage::Done(_) = self.stage {
            self.place = None;
        }
    }

    fn settled(mut self) -> Self {
        self.settle();
        self
    }

    fn take_up(&mut self, binding: Binding, came: Result<Message, Failed>) {
        let invocation = &mut self.invocation;
        let go_on = |call: &Call<'_>| invocation.take_up(call, binding, came);
        self.stage = Stage::of(self.what.with_call(go_on));
        self.settle();
    }

    /// Passes the results to `results`, waiting for them if necessary.
    ///
    /// # Errors
    /// The exception that the server raised, or the reason why the call failed.
    pub(crate) fn finish(mut self, results: &mut Results<'_>) -> Result<(), SystemException> {
        self.wait(Deadline::NEVER);
        let what = &self.what;
        let callee = what.owner.callee_of(&what.lane);
        let named = |exception| {
            let operation = what.operation.get();
            while_calling(exception, operation.name(), callee.object.called_as())
        };
        let Stage::Done(outcome) = self.stage else {
            return Err(named(out_of_place()));
        };
        match (*outcome)
            .map_err(named)?
            .map(|one| one.give(callee, results))
        {
            Some(None) => Ok(()),
            Some(Some(ReplyOutcome::SystemException(exception))) => Err(named(exception)),
            _ => Err(named(out_of_place())),
        }
    }
}

/// Sends the request, unless the limit on calls in flight is reached.
fn begin(call: &Call<'_>, invocation: &mut Invocation) -> (Stage, Option<InFlightGuard>) {
    let place = match &invocation.route.effective.in_flight {
        None => None,
        Some(bound) => match bound.enter(invocation.deadline, !in_reply_handler()) {
            Ok(place) => Some(place),
            Err(Full::Held(held)) => return (Stage::Held(held, None), None),
            Err(Full::Raises) => return (Stage::failed(too_many(Kind::Transient)), None),
            Err(Full::TimedOut) => return (Stage::failed(too_many(Kind::Timeout)), None),
        },
    };
    (Stage::of(invocation.proceed(call)), place)
}

/// Returns the exception for a call above the limit on calls in flight.
#[cold]
fn too_many(kind: Kind) -> SystemException {
    SystemException::new(kind, minor::TOO_MANY_CALLS, CompletionStatus::No)
        .with_detail("as many calls are in flight as the policy CallsInFlight allows")
}

impl Stage {
    fn of(progress: Result<Progress, SystemException>) -> Self {
        match progress {
            Ok(Progress::Done(outcome)) => Self::Done(Box::new(Ok(outcome))),
            Ok(Progress::Awaits(awaited)) => Self::Awaits(awaited),
            Err(exception) => Self::failed(exception),
        }
    }

    fn failed(exception: SystemException) -> Self {
        Self::Done(Box::new(Err(exception)))
    }

    /// Takes the awaited reply out of the stage. If no reply is awaited, returns whether the call
    /// is done.
    fn take(&mut self) -> Result<Awaited, bool> {
        match std::mem::replace(self, Self::InTransition) {
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
            .field("operation", &self.what.operation.get().name())
            .field("is_done", &matches!(self.stage, Stage::Done(_)))
            .finish_non_exhaustive()
    }
}
