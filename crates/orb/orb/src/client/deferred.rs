//! Deferred call: its reply is awaited later, or its arrival is notified (CORBA 3.3 part 2, §22;
//! Arulanthu et al. 2000).
//!
//! It is stored between its request and its reply, together with the reference and the arguments, which
//! another attempt may need. A call that repeats an earlier one is sent on the fast path
//! ([`super::short`]), and ends there if its reply has results or a user exception. Any other call is an
//! [`Invocation`], which also takes up what the fast path cannot end.

use super::complete;
use super::failure::{Failed, out_of_place, timed_out, unwatchable, while_calling};
use super::invocation::{Attempted, Awaited, Call, Invocation, Progress, SentDeferred};
use super::outcome::{Reply, ReplyOutcome, Results};
use super::remote::Callee;
use super::short::{self, Deferral};
use super::start_times;
use super::write::Ask;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::lane::{Alarm, AwaitedReply, Binding, ClientConnection, Lane};
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
    stage: Stage,
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
    Held(Held, Option<Box<Alarm>>, Box<Staged>),
    /// The request was sent on the fast path.
    Short(SentDeferred, AwaitedReply),
    Awaits(Awaited, Box<Staged>),
    /// No member of an object group has answered: the request is sent again at this time, when the alarm wakes the waiting
    /// task.
    Paused(Deadline, Option<Box<Alarm>>, Box<Staged>),
    /// Boxed because it is large, and most calls in flight are not done.
    Done(Box<Result<Option<ReplyOutcome>, SystemException>>),
    /// Placeholder while the call passes from one stage to another.
    InTransition,
}

/// Call that goes through its stages.
struct Staged {
    invocation: Invocation,
    /// Slot of the limit on calls in flight, occupied until the call is done.
    place: Option<InFlightGuard>,
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
        let stage = what.with_call(Stage::begin);
        Self { what, stage }
    }

    /// Returns the lane over which the call is made.
    pub(crate) fn lane(&self) -> &Arc<Lane> {
        &self.what.lane
    }

    /// Waits until the result is available, or until `until`. Returns whether it is available.
    pub(crate) fn wait(&mut self, until: Deadline) -> bool {
        if let Stage::Held(held, _, staged) = &mut self.stage {
            let deadline = staged.invocation.deadline;
            match held.wait(until.earlier(deadline)) {
                Some(place) => self.send(place),
                None if deadline.has_passed() => self.give_up_held(),
                None => return false,
            }
        }
        loop {
            match self.stage.take() {
                Stage::Short(sent, reply) => {
                    let connection = reply.connection().clone();
                    match complete::wait_until(reply, until, sent.deadline) {
                        Ok(came) => self.take_up_sent(sent, connection, came),
                        Err(reply) => {
                            self.stage = Stage::Short(sent, reply);
                            return false;
                        }
                    }
                }
                Stage::Awaits(Awaited { binding, reply }, staged) => {
                    match complete::wait_until(reply, until, staged.invocation.deadline) {
                        Ok(came) => self.take_up(binding, came, staged),
                        Err(reply) => {
                            self.stage = Stage::Awaits(Awaited { binding, reply }, staged);
                            return false;
                        }
                    }
                }
                Stage::Paused(end, alarm, staged) => {
                    start_times::wait(end.earlier(until), Deadline::NEVER);
                    if !end.has_passed() {
                        self.stage = Stage::Paused(end, alarm, staged);
                        return false;
                    }
                    self.stage = self.what.with_call(|call| staged.proceed(call));
                }
                other => {
                    self.stage = other;
                    return matches!(self.stage, Stage::Done(_));
                }
            }
        }
    }

    /// Returns whether the result is available. If it is not, `watcher` is woken when it is time to
    /// poll again. Does not wait for the reply. If the call has to be repeated, sends the request
    /// again. The caller waits for the result, so that a request that is buffered for others is sent.
    pub(crate) fn poll(&mut self, watcher: &Waker) -> bool {
        if let Stage::Awaits(awaited, staged) = &self.stage {
            let deadline = staged.invocation.deadline;
            awaited.reply.flush_if_it_waits(deadline);
        }
        self.poll_at_leisure(watcher)
    }

    /// Polls as [`Deferred::poll`] does, for a caller that does not wait: buffered requests stay so.
    fn poll_at_leisure(&mut self, watcher: &Waker) -> bool {
        if let Stage::Held(..) = self.stage
            && !self.poll_held(watcher)
        {
            return false;
        }
        loop {
            while let Stage::Paused(..) = self.stage {
                if !self.poll_paused(watcher) {
                    return matches!(self.stage, Stage::Done(_));
                }
            }
            let (reply, deadline) = match &mut self.stage {
                Stage::Short(sent, reply) => (reply, sent.deadline),
                Stage::Awaits(awaited, staged) => (&mut awaited.reply, staged.invocation.deadline),
                other => return matches!(other, Stage::Done(_)),
            };
            match reply.watch(self.what.lane.replies(), watcher, deadline) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    self.stage = Stage::failed(unwatchable(&error));
                    return true;
                }
            }
            match self.stage.take() {
                Stage::Short(sent, reply) => {
                    let connection = reply.connection().clone();
                    let came = complete::take(reply, deadline);
                    self.take_up_sent(sent, connection, came);
                }
                Stage::Awaits(Awaited { binding, reply }, staged) => {
                    let came = complete::take(reply, deadline);
                    self.take_up(binding, came, staged);
                }
                other => self.stage = other,
            }
        }
    }

    /// Returns whether the call is no longer held back by the limit on calls in flight. If it still
    /// is, `watcher` is woken when a slot may be free or the call's time is up.
    fn poll_held(&mut self, watcher: &Waker) -> bool {
        let Stage::Held(held, alarm, staged) = &mut self.stage else {
            return true;
        };
        let deadline = staged.invocation.deadline;
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

    /// Sends the request again if the pause is over. Otherwise `watcher` is woken when it is.
    fn poll_paused(&mut self, watcher: &Waker) -> bool {
        let Stage::Paused(end, alarm, _) = &mut self.stage else {
            return true;
        };
        if !end.has_passed() {
            match self.what.lane.replies().wake_at(*end, watcher) {
                Ok(set) => *alarm = set.map(Box::new),
                Err(error) => self.stage = Stage::failed(unwatchable(&error)),
            }
            return false;
        }
        if let Stage::Paused(_, _, staged) = self.stage.take() {
            self.stage = self.what.with_call(|call| staged.proceed(call));
        }
        true
    }

    /// Sends a request that was held back, now that the call has a slot.
    fn send(&mut self, place: InFlightGuard) {
        if let Stage::Held(_, _, mut staged) = self.stage.take() {
            staged.place = Some(place);
            self.stage = self.what.with_call(|call| staged.proceed(call));
        }
    }

    fn give_up_held(&mut self) {
        self.stage = Stage::failed(too_many(Kind::Timeout));
    }

    /// Goes on with what has come for a request that was sent on the fast path.
    fn take_up_sent(
        &mut self,
        sent: SentDeferred,
        connection: Arc<ClientConnection>,
        came: Result<Message, Failed>,
    ) {
        self.stage = self.what.with_call(|call| {
            match came.and_then(|message| Reply::read(message, &connection, call.callee)) {
                Ok(outcome @ (ReplyOutcome::Results(_) | ReplyOutcome::UserException(_))) => {
                    Stage::Done(Box::new(Ok(Some(outcome))))
                }
                outcome => Stage::after_short(call, (sent, connection), outcome),
            }
        });
    }

    fn take_up(&mut self, binding: Binding, came: Result<Message, Failed>, staged: Box<Staged>) {
        let go_on = |call: &Call<'_>| staged.go_on(|it| it.take_up(call, binding, came));
        self.stage = self.what.with_call(go_on);
    }

    /// Arranges that `watcher` is woken when it is time for [`Deferred::poll_finish`]; returns `true` if
    /// it is time already.
    pub(crate) fn watch(&mut self, watcher: &Waker) -> bool {
        match &mut self.stage {
            Stage::Short(sent, reply) => {
                let watched = reply.watch(self.what.lane.replies(), watcher, sent.deadline);
                // An error is reported when the call is polled.
                watched.unwrap_or(true)
            }
            _ => self.poll_at_leisure(watcher),
        }
    }

    /// Passes the results to `results`, if they are available. If they are not, returns `None`, and the
    /// waker that `watcher` makes is woken when it is time to poll again.
    ///
    /// # Errors
    /// Those of [`Deferred::finish`].
    pub(crate) fn poll_finish(
        &mut self,
        watcher: impl FnOnce() -> Waker,
        results: &mut Results<'_>,
    ) -> Option<Result<(), SystemException>> {
        if let Stage::Short(_, reply) = &self.stage
            && reply.has_come()
            && self.give_sent(results)
        {
            return Some(Ok(()));
        }
        self.poll_at_leisure(&watcher()).then(|| self.end(results))
    }

    /// Passes the results to `results`, waiting for them if necessary.
    ///
    /// # Errors
    /// The exception that the server raised, or the reason why the call failed.
    pub(crate) fn finish(mut self, results: &mut Results<'_>) -> Result<(), SystemException> {
        if self.finish_sent(results) {
            return Ok(());
        }
        if !self.wait(Deadline::NEVER)
            && let Stage::Awaits(awaited, _) = &self.stage
        {
            // Within an upcall, it waits only for so long.
            let peer = awaited.reply.connection().peer();
            self.stage = Stage::failed(timed_out(peer, Deadline::NEVER));
        }
        self.end(results)
    }

    /// Passes the results of a call that is done to `results`.
    fn end(&mut self, results: &mut Results<'_>) -> Result<(), SystemException> {
        let what = &self.what;
        let callee = what.owner.callee_of(&what.lane);
        let named = |exception| {
            let operation = what.operation.get();
            while_calling(exception, operation.name(), callee.object.called_as())
        };
        let Stage::Done(outcome) = self.stage.take() else {
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

    /// Takes a request that was sent on the fast path out of its stage, if it is in that stage, with the
    /// connection over which it was sent.
    fn take_sent(&mut self) -> Option<(SentDeferred, AwaitedReply, Arc<ClientConnection>)> {
        match self.stage.take() {
            Stage::Short(sent, reply) => {
                let connection = reply.connection().clone();
                Some((sent, reply, connection))
            }
            other => {
                self.stage = other;
                None
            }
        }
    }

    /// Takes the reply that has come to a request that was sent on the fast path, and passes its results
    /// to `results`. Returns whether they have been read; otherwise the call goes on.
    fn give_sent(&mut self, results: &mut Results<'_>) -> bool {
        let Some((sent, reply, connection)) = self.take_sent() else {
            return false;
        };
        let came = complete::take(reply, sent.deadline);
        if let Ok(message) = &came {
            let callee = self.what.owner.callee_of(&self.what.lane);
            if Reply::give_plain(message, &connection, &callee, results) {
                return true;
            }
        }
        self.take_up_sent(sent, connection, came);
        false
    }

    /// Waits for the reply to a request that was sent on the fast path, and passes its results to
    /// `results`. Returns whether they have been read; otherwise the call goes on.
    fn finish_sent(&mut self, results: &mut Results<'_>) -> bool {
        let Some((sent, reply, connection)) = self.take_sent() else {
            return false;
        };
        let callee = self.what.owner.callee_of(&self.what.lane);
        let by = (&callee, &*connection);
        let outcome = match short::wait_deferred(by, (reply, sent.deadline), results) {
            Ok(None) => return true,
            Ok(Some(outcome)) => Ok(outcome),
            Err(failed) => Err(failed),
        };
        let go_on = |call: &Call<'_>| Stage::after_short(call, (sent, connection), outcome);
        self.stage = self.what.with_call(go_on);
        false
    }
}

/// Returns the exception for a call above the limit on calls in flight.
#[cold]
fn too_many(kind: Kind) -> SystemException {
    SystemException::new(kind, minor::TOO_MANY_CALLS, CompletionStatus::No)
        .with_detail("as many calls are in flight as the policy CallsInFlight allows")
}

impl Stage {
    /// Sends the request, on the fast path if that is applicable.
    fn begin(call: &Call<'_>) -> Self {
        let Ask::Request {
            operation,
            arguments,
        } = call.ask
        else {
            return Staged::of(Invocation::new(call)).begin(call);
        };
        match short::send_deferred(&call.callee, operation, arguments) {
            Deferral::Sent(sent, reply) => Self::Short(sent, reply),
            Deferral::Attempted(attempted) => {
                Staged::of(Invocation::new(call)).go_on_from(call, *attempted)
            }
            Deferral::No => Staged::of(Invocation::new(call)).begin(call),
        }
    }

    /// Goes on after a request that was sent on the fast path, with an outcome that does not end there.
    #[cold]
    fn after_short(
        call: &Call<'_>,
        (sent, connection): (SentDeferred, Arc<ClientConnection>),
        outcome: Result<ReplyOutcome, Failed>,
    ) -> Self {
        let binding = sent.path.bound.binding_to(connection);
        let staged = Staged::of(Invocation::of_sent(call, sent));
        staged.go_on(|it| it.go_on_with(call, binding, outcome.map(Some)))
    }

    fn failed(exception: SystemException) -> Self {
        Self::Done(Box::new(Err(exception)))
    }

    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::InTransition)
    }
}

impl Staged {
    fn of(mut invocation: Invocation) -> Box<Self> {
        invocation.set_deferred();
        invocation.is_put_away = true;
        let place = None;
        Box::new(Self { invocation, place })
    }

    /// Sends the request, unless the limit on calls in flight is reached.
    #[inline(never)]
    fn begin(mut self: Box<Self>, call: &Call<'_>) -> Stage {
        if let Some(bound) = &self.invocation.route.effective.in_flight {
            let may_block = !call.callee.lane.replies().are_run_by_calling_thread();
            match bound.enter(self.invocation.deadline, may_block) {
                Ok(place) => self.place = Some(place),
                Err(Full::Held(held)) => return Stage::Held(held, None, self),
                Err(Full::Raises) => return Stage::failed(too_many(Kind::Transient)),
                Err(Full::TimedOut) => return Stage::failed(too_many(Kind::Timeout)),
            }
        }
        self.proceed(call)
    }

    fn proceed(self: Box<Self>, call: &Call<'_>) -> Stage {
        self.go_on(|invocation| invocation.proceed(call))
    }

    #[cold]
    fn go_on_from(self: Box<Self>, call: &Call<'_>, first: Attempted) -> Stage {
        self.go_on(|invocation| invocation.go_on_from(call, first))
    }

    fn go_on(
        mut self: Box<Self>,
        go_on: impl FnOnce(&mut Invocation) -> Result<Progress, SystemException>,
    ) -> Stage {
        match go_on(&mut self.invocation) {
            Ok(Progress::Done(outcome)) => Stage::Done(Box::new(Ok(outcome))),
            Ok(Progress::Awaits(awaited)) => Stage::Awaits(awaited, self),
            Ok(Progress::Pauses(until)) => Stage::Paused(until, None, self),
            Err(exception) => Stage::failed(exception),
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
