//! One call, through its stages: resolve ([`super::resolve`], [`super::route`]), bind, write
//! ([`super::write`]), send ([`super::send`]), complete ([`super::complete`]), conclude
//! ([`super::conclude`]).
//!
//! An [`Invocation`] holds the state of a call between two stages, and borrows nothing: callee and
//! request ([`Call`]) are passed to each stage. [`Invocation::proceed`] sends the request; then the
//! call can be stored until its reply has arrived, and [`Invocation::take_up`] continues it, on any
//! thread, perhaps with another attempt. Its [`Completion`] determines which thread does that, and
//! when. The fast path ([`super::short`]) goes through the same stages, but makes no decisions.

use super::complete::Completion;
use super::contexts::{FilledContexts, filled};
use super::failure::{Failed, not_before_its_end, too_late};
use super::group_call::GroupCall;
use super::interception::Interception;
use super::outcome::ReplyOutcome;
use super::path::Path;
use super::remote::Callee;
use super::route::Route;
use super::start_times;
use super::write::{Arguments, Ask};
use crate::exception::SystemException;
use crate::fixed_context::wanted;
use crate::invocation_policies::told;
use crate::lane::{AwaitedReply, Binding};
use crate::messaging::Message;
use crate::operation::NamedOperation;
use crate::policy::{Effective, StartTimes};
use punctual_exec::Deadline;
use punctual_giop::AddressingDisposition;
use std::sync::Arc;

/// Target object and message of a call.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) callee: Callee<'a>,
    pub(super) ask: Ask<'a>,
}

/// State of one call, over all attempts to make it.
#[derive(Debug)]
pub(super) struct Invocation {
    pub(super) completion: Completion,
    pub(super) deadline: Deadline,
    /// Start times, if the request or the reply has to wait for one. Boxed to keep calls small:
    /// many are in flight, and few have start times.
    pub(super) starts: Option<Box<StartTimes>>,
    /// Time after which the request must not be sent any more; not later than the reply's deadline.
    pub(super) request_deadline: Deadline,
    /// Addressing disposition that the server asked for (CORBA 3.3 part 2, §9.4.2.3).
    pub(super) addressing: AddressingDisposition,
    pub(super) route: Route,
    /// Service contexts of the request, as they were when the call was made.
    pub(super) contexts: FilledContexts,
    /// True if the caller does not wait for the reply, so that the request may be buffered.
    pub(super) is_put_away: bool,
    /// Number of times that the call was repeated on a new connection because the old one had gone
    /// stale.
    pub(super) stale: u32,
    /// Number of times that a server has asked for another addressing disposition.
    pub(super) readdressed: u32,
    /// State of a call to an object group.
    pub(super) group: Option<Box<GroupCall>>,
    /// State of the request interceptors, if the ORB has any.
    pub(super) interception: Option<Box<Interception>>,
}

/// Result of one attempt; `None` for a one-way that was sent.
pub(super) type Outcome = Result<Option<ReplyOutcome>, Failed>;

/// The awaited reply of a sent request; `None` if no reply is expected.
type Sent = Result<Option<AwaitedReply>, Failed>;

/// Result of a first attempt on the fast path, and the deadline of the call.
pub(super) struct Attempted {
    pub(super) outcome: Outcome,
    pub(super) deadline: Deadline,
    /// Service contexts of the request, if all attempts of the call must carry the same ones.
    pub(super) contexts: Option<FilledContexts>,
    /// Pass through the interception points, if the ORB has client interceptors.
    pub(super) interrupted: Option<Box<Interrupted>>,
}

/// Result of a call attempt on the fast path.
pub(super) enum Short {
    /// The results or the user exception have been read, or a one-way was sent.
    Done,
    /// Any other result, from which the slow path goes on.
    Attempted(Box<Attempted>),
    /// The fast path is not applicable to the call.
    No,
}

/// Deferred call whose request was sent on the fast path: its state until the reply has arrived, from
/// which the slow path can go on.
#[derive(Debug)]
pub(super) struct SentDeferred {
    /// Path along which the request was sent.
    pub(super) path: Arc<Path>,
    /// Service contexts of the request.
    pub(super) contexts: FilledContexts,
    pub(super) deadline: Deadline,
}

/// Pass of a call that began on the fast path.
pub(super) struct Interrupted {
    pub(super) interception: Box<Interception>,
    /// Outcome on which the interceptors have decided in place of the attempt's; the pass has ended
    /// then.
    pub(super) by: Option<crate::interceptor::Outcome>,
}

/// Next step of a call after an attempt.
pub(super) enum Next {
    /// The call is done, with this result; `None` for a one-way that was sent.
    Done(Option<ReplyOutcome>),
    /// The call must be attempted again.
    Again,
}

/// Progress of a call.
#[derive(Debug)]
pub(super) enum Progress {
    /// The call is done; `None` for a one-way that was sent.
    Done(Option<ReplyOutcome>),
    /// The request has been sent, and its reply is awaited.
    Awaits(Awaited),
    /// No member of an object group has answered: the call is repeated at this time.
    Pauses(Deadline),
}

/// Sent request whose reply has not arrived.
#[derive(Debug)]
pub(super) struct Awaited {
    /// Binding to the connection over which the request was sent.
    pub(super) binding: Binding,
    pub(super) reply: AwaitedReply,
}

impl<'a> Call<'a> {
    pub(super) fn request(
        callee: &Callee<'a>,
        operation: &'a NamedOperation<'a>,
        arguments: &'a Arguments<'a>,
    ) -> Self {
        let ask = Ask::Request {
            operation,
            arguments,
        };
        Self {
            callee: *callee,
            ask,
        }
    }
}

impl Invocation {
    pub(super) fn new(call: &Call<'_>) -> Self {
        Self::under(call, call.callee.effective())
    }

    /// Creates the state of a deferred call whose request has been sent on the fast path.
    #[cold]
    pub(super) fn of_sent(call: &Call<'_>, sent: SentDeferred) -> Self {
        let mut this = Self::under(call, sent.path.effective.clone());
        this.deadline = sent.deadline;
        this.request_deadline = sent.deadline;
        this.contexts = sent.contexts;
        this.is_put_away = true;
        this
    }

    /// Creates the state of a call under these policies.
    fn under(call: &Call<'_>, effective: Arc<Effective>) -> Self {
        let callee = &call.callee;
        let completion = Completion::of(call.ask);
        let timeout = Deadline::after_optional(callee.timeout_under(&effective));
        let queued = effective.queued;
        let ends = effective.ends.begin();
        let mut deadline = timeout.earlier(ends.reply_deadline());
        let route = match (
            call.ask,
            Route::new(callee, effective, completion != Completion::Sent),
        ) {
            // The question is where the object is now, so remembered paths do not count.
            (Ask::Locate, route) => route.bound_anew(),
            (_, route) => route,
        };
        let group = GroupCall::begin(callee, call.ask, &route);
        if let Some(group) = &group {
            deadline = deadline.earlier(group.expires);
        }
        Self {
            completion,
            deadline,
            request_deadline: deadline.earlier(ends.request_deadline()),
            addressing: AddressingDisposition::Key,
            contexts: match call.ask {
                Ask::Request { .. } => {
                    let mut contexts =
                        filled(&wanted(&callee.broker().request_contexts, &route.effective));
                    contexts.extend(told(&ends, &queued));
                    if let Some(group) = &group {
                        group.add_contexts(&mut contexts);
                    }
                    contexts
                }
                // A relayed request brings the contexts of its sender.
                Ask::Relay(_) | Ask::Locate => FilledContexts::new(),
            },
            route,
            group,
            starts: queued.starts(),
            is_put_away: false,
            stale: 0,
            readdressed: 0,
            interception: Interception::begin(callee.broker(), call.ask),
        }
    }

    /// Makes attempts until a request whose reply is to be awaited has been sent, or the call is
    /// done.
    ///
    /// # Errors
    /// The exception that ends the call.
    pub(super) fn proceed(&mut self, call: &Call<'_>) -> Result<Progress, SystemException> {
        let start = self
            .starts
            .as_mut()
            .and_then(|starts| starts.request.take());
        if let Some(start) = start
            && !start_times::wait(start, self.request_deadline)
        {
            return Err(not_before_its_end(self.request_deadline));
        }
        loop {
            if let Some(until) = self.take_pause() {
                return Ok(Progress::Pauses(until));
            }
            if let Next::Again = self.begin_pass(call)? {
                continue;
            }
            let (binding, outcome) = match self.bind_and_send(call) {
                Ok((binding, Ok(Some(reply)))) => match self.end_request_pass(call)? {
                    Next::Done(_) => return Ok(Progress::Awaits(Awaited { binding, reply })),
                    Next::Again => continue,
                },
                Ok((binding, Ok(None))) => (binding, Ok(None)),
                Ok((binding, Err(failed))) => (binding, Err(failed)),
                // That ends the call, unless it is to a group or an interceptor decides otherwise.
                Err(exception) => {
                    let judged = self.another_round(call, exception);
                    match self.end_pass(call, judged.map(|()| Next::Again), None)? {
                        Next::Done(outcome) => return Ok(Progress::Done(outcome)),
                        Next::Again => continue,
                    }
                }
            };
            if let Next::Done(outcome) = self.conclude(call, outcome, Some(&binding))? {
                return Ok(Progress::Done(outcome));
            }
        }
    }

    /// Makes one attempt, up to the point where its reply is awaited.
    fn bind_and_send(&mut self, call: &Call<'_>) -> Result<(Binding, Sent), SystemException> {
        let binding = self.bind(call)?;
        if self.request_deadline.has_passed() {
            return Err(too_late(binding.connection.peer(), self.request_deadline));
        }
        let sent = self.send_by(call, &binding);
        Ok((binding, sent))
    }

    /// Continues the call with the reply to the request that was sent by `binding`, or with the
    /// failure that came instead of a reply.
    ///
    /// # Errors
    /// Those of [`Invocation::proceed`].
    pub(super) fn take_up(
        &mut self,
        call: &Call<'_>,
        binding: Binding,
        came: Result<Message, Failed>,
    ) -> Result<Progress, SystemException> {
        if let Next::Again = self.begin_poll(call)? {
            return self.proceed(call);
        }
        if let Ok(message) = &came {
            self.note_reply(&binding, message);
        }
        let outcome = came.and_then(|message| call.read(&binding, message).map(Some));
        self.go_on_with(call, binding, outcome)
    }

    /// Continues the call with the outcome of the attempt that was sent by `binding`.
    ///
    /// # Errors
    /// Those of [`Invocation::proceed`].
    pub(super) fn go_on_with(
        &mut self,
        call: &Call<'_>,
        binding: Binding,
        outcome: Outcome,
    ) -> Result<Progress, SystemException> {
        let next = self.conclude(call, outcome, Some(&binding))?;
        // Another attempt may need the connection exclusively.
        drop(binding);
        self.after(call, next)
    }

    /// Continues the call from the result of a first attempt on the fast path.
    ///
    /// # Errors
    /// Those of [`Invocation::proceed`].
    pub(super) fn go_on_from(
        &mut self,
        call: &Call<'_>,
        first: Attempted,
    ) -> Result<Progress, SystemException> {
        self.deadline = first.deadline;
        self.request_deadline = first.deadline;
        if let Some(contexts) = first.contexts {
            self.contexts = contexts;
        }
        if let Some(group) = &mut self.group {
            group.expires = first.deadline;
        }
        let mut by = None;
        if let Some(interrupted) = first.interrupted {
            self.interception = Some(interrupted.interception);
            by = interrupted.by;
        }
        let next = match by {
            Some(outcome) => self.obey(call, outcome)?,
            None => self.conclude(call, first.outcome, None)?,
        };
        self.after(call, next)
    }

    fn after(&mut self, call: &Call<'_>, next: Next) -> Result<Progress, SystemException> {
        match next {
            Next::Done(outcome) => Ok(Progress::Done(outcome)),
            Next::Again => self.proceed(call),
        }
    }
}
