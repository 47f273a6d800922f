//! Calls through references of object groups: their service contexts, and their repeats (CORBA 3.0, §23.2.7 and §23.2.8).
//!
//! All attempts of a call carry one FT_REQUEST, so that a server that keeps results runs it once. So a call may be repeated
//! where others may not: when the server may have begun it. It goes from member to member, and then begins again at the
//! first one, after a pause that grows from round to round, until its duration or its own time-out is over.

use super::contexts::{FilledContexts, filled};
use super::invocation::{Call, Invocation};
use super::route::Route;
use super::target::Target;
use super::write::Ask;
use crate::broker::Broker;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use crate::fixed_context::{CallPolicies, RequestContext};
use crate::groups::{GroupTerms, GroupVersion, Heartbeat};
use crate::lane::Endpoint;
use crate::policy::Effective;
use punctual_exec::Deadline;
use punctual_giop::service_context::FT_GROUP_VERSION;
use punctual_sys::clock;
use std::sync::Arc;
use std::time::Duration;

/// Pause after the first round in which no member has answered; each later one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// Longest pause between two rounds.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// Time left to a call below which no further round begins.
const LEAST_LEFT: Duration = Duration::from_millis(2);

/// State of a call to an object group, over all its attempts.
#[derive(Debug)]
pub(super) struct GroupCall {
    terms: GroupTerms,
    /// Version of the reference by which the next attempt is made.
    version: u32,
    /// Time at which the call is no longer repeated.
    pub(super) expires: Deadline,
    rounds: u32,
    /// End of the pause before the next attempt, if there is one.
    pause: Option<Deadline>,
}

impl GroupCall {
    /// Creates the state of a call that begins on this route; `None` if the reference is not one of a group.
    pub(super) fn begin(call: &Call<'_>, route: &Route) -> Option<Box<Self>> {
        let callee = &call.callee;
        let groups = callee.broker().groups.as_ref()?;
        // A relayed request brings the contexts of its sender, which repeats it.
        if matches!(call.ask, Ask::Relay(_)) {
            return None;
        }
        let version = route.group_version(callee)?;
        let terms = groups.terms(CallPolicies(&route.effective), callee.broker().config());
        Some(Box::new(Self {
            expires: Deadline::after(terms.duration),
            terms,
            version,
            rounds: 0,
            pause: None,
        }))
    }

    /// Adds the service contexts of the call to those of its request.
    pub(super) fn add_contexts(&self, contexts: &mut FilledContexts) {
        let version = GroupVersion(self.version);
        contexts.push((version.id(), version.data().to_vec()));
        contexts.extend(filled(std::slice::from_ref(&self.terms.request)));
    }

    /// Returns the heartbeats that the client wants while a reply is awaited.
    pub(super) fn heartbeat(&self) -> Option<Heartbeat> {
        self.terms.heartbeat
    }

    /// Begins the pause before the next round; `false` if too little time is left for one.
    fn pause(&mut self, deadline: Deadline) -> bool {
        let Some(left) = deadline.remaining() else {
            return false;
        };
        if left < LEAST_LEFT {
            return false;
        }
        let whole = FIRST_PAUSE.saturating_mul(1 << self.rounds.min(10));
        self.rounds = self.rounds.saturating_add(1);
        // Clients that have lost one server do not come back together.
        let nanos = u64::try_from(whole.min(LONGEST_PAUSE).as_nanos()).unwrap_or(u64::MAX);
        let pause = nanos - clock::nanos() % (nanos / 4).max(1);
        let pause = Duration::from_nanos(pause).min(left / 2);
        self.pause = Some(Deadline::after(pause));
        true
    }
}

impl Invocation {
    /// Returns the end of the pause that the call has to make now, if it has to.
    pub(super) fn take_pause(&mut self) -> Option<Deadline> {
        self.group.as_mut()?.pause.take()
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
            return Err(exception);
        }
        self.route.begin_again(&call.callee);
        self.stale = 0;
        Ok(())
    }

    /// Adapts the call to the group of the reference to which it was forwarded, if that is one of a group.
    pub(super) fn adapt_to_group(&mut self, call: &Call<'_>) {
        let Some(group) = &mut self.group else {
            self.group = GroupCall::begin(call, &self.route);
            if let Some(group) = &self.group {
                self.deadline = self.deadline.earlier(group.expires);
                self.request_deadline = self.request_deadline.earlier(group.expires);
                if matches!(call.ask, Ask::Request { .. }) {
                    group.add_contexts(&mut self.contexts);
                }
            }
            return;
        };
        if let Some(version) = self.route.group_version(&call.callee)
            && version != group.version
        {
            group.version = version;
            let is_version = |(id, _): &&mut (u32, Vec<u8>)| *id == FT_GROUP_VERSION;
            if let Some((_, data)) = self.contexts.iter_mut().find(is_version) {
                *data = GroupVersion(version).data().to_vec();
            }
        }
    }
}

/// Terms of the calls along a remembered path to an object group.
#[derive(Debug)]
pub(super) struct GroupPath {
    pub(super) terms: GroupTerms,
    pub(super) version: u32,
}

impl GroupPath {
    /// Returns the terms of calls along a path through these targets; `None` if none of them is a group's.
    pub(super) fn along(
        broker: &Broker,
        effective: &Effective,
        levels: &[(Arc<Target>, Option<Arc<Endpoint>>)],
    ) -> Option<Self> {
        let groups = broker.groups.as_ref()?;
        let mut targets = levels.iter().rev();
        let version =
            targets.find_map(|(target, _)| Some(target.stated().group.as_ref()?.version))?;
        let terms = groups.terms(CallPolicies(effective), broker.config());
        Some(Self { terms, version })
    }

    /// Returns the service contexts of the calls, after those that all calls carry.
    pub(super) fn contexts(
        &self,
        wanted: &[Arc<dyn RequestContext>],
    ) -> Arc<[Arc<dyn RequestContext>]> {
        let version: Arc<dyn RequestContext> = Arc::new(GroupVersion(self.version));
        let own = [version, self.terms.request.clone()];
        wanted.iter().cloned().chain(own).collect()
    }
}
