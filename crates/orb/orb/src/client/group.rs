//! Repeats of calls to object groups (CORBA 3.0, §23.2.7 and §23.2.8).
//!
//! All attempts of a call carry one FT_REQUEST, so that a server that keeps results runs it once. So a call may be repeated
//! where others may not: when the server may have begun it. It goes from member to member, and then begins again at the
//! first one, after a pause that grows from round to round, until its duration or its own time-out is over.

use super::group_call::GroupCall;
use super::invocation::{Call, Invocation};
use super::write::Ask;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_exec::Deadline;

impl Invocation {
    /// Returns the end of the pause that the call has to make now, if it has to.
    pub(super) fn take_pause(&mut self) -> Option<Deadline> {
        self.group.as_mut()?.take_pause()
    }

    /// Returns whether the call may be repeated after this exception although the server may have begun it: calls to object
    /// groups may.
    pub(super) fn may_repeat(&self, exception: &SystemException) -> bool {
        self.group.is_some()
            && exception.completed() != CompletionStatus::Yes
            && matches!(
                exception.kind(),
                Kind::Transient | Kind::CommFailure | Kind::NoResponse | Kind::ObjAdapter
            )
    }

    /// Records that the call is repeated after an attempt that ended with this exception.
    pub(super) fn note_repeat(&mut self, exception: &SystemException) {
        if let Some(group) = &mut self.group {
            group.may_be_done |= exception.completed() != CompletionStatus::No;
        }
    }

    /// Returns the exception that ends the call as it is true of all attempts: if an earlier one may have been executed, it does
    /// not say COMPLETED_NO.
    pub(super) fn of_all_attempts(&self, exception: SystemException) -> SystemException {
        let may_be_done = self.group.as_ref().is_some_and(|group| group.may_be_done);
        match may_be_done && exception.completed() == CompletionStatus::No {
            true => exception.completed_as(CompletionStatus::Maybe),
            false => exception,
        }
    }

    /// Begins another round over all members of the group, after a pause.
    ///
    /// # Errors
    /// The exception with which the last round ended, if there is no further one.
    pub(super) fn another_round(
        &mut self,
        call: &Call<'_>,
        exception: SystemException,
    ) -> Result<(), SystemException> {
        let repeats = self.may_repeat(&exception) && !self.route.is_held();
        let deadline = self.deadline;
        let pauses = |group: &mut Box<GroupCall>| repeats && group.pause(deadline);
        if !self.group.as_mut().is_some_and(pauses) {
            return Err(self.of_all_attempts(exception));
        }
        self.route.begin_again(&call.callee);
        self.stale = 0;
        Ok(())
    }

    /// Adapts the call to the group of the reference to which it was forwarded, if that is one of a group.
    pub(super) fn adapt_to_group(&mut self, call: &Call<'_>) {
        let Some(group) = &mut self.group else {
            self.group = GroupCall::begin(&call.callee, call.ask, &self.route);
            if let Some(group) = &self.group {
                self.deadline = self.deadline.earlier(group.expires);
                self.request_deadline = self.request_deadline.earlier(group.expires);
                if matches!(call.ask, Ask::Request { .. }) {
                    group.add_contexts(&mut self.contexts);
                }
            }
            return;
        };
        if let Some(version) = self.route.group_version(&call.callee) {
            group.set_version(version, &mut self.contexts);
        }
    }
}
