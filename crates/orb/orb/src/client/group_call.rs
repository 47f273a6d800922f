//! State of a call to an object group, over all its attempts: its service contexts, and the pauses between its rounds.

use super::contexts::{FilledContexts, filled};
use super::remote::Callee;
use super::route::Route;
use super::write::Ask;
use crate::fixed_context::{CallPolicies, RequestContext};
use crate::groups::{GroupTerms, GroupVersion, Heartbeat};
use punctual_exec::Deadline;
use punctual_giop::service_context::FT_GROUP_VERSION;
use punctual_sys::clock;
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
    /// True if an attempt may have been executed, so that the call may be done whatever ends it.
    pub(super) may_be_done: bool,
    /// End of the pause before the next attempt, if there is one.
    pause: Option<Deadline>,
}

impl GroupCall {
    /// Creates the state of a call that begins on this route; `None` if the reference is not one of a group.
    pub(super) fn begin(callee: &Callee<'_>, ask: Ask<'_>, route: &Route) -> Option<Box<Self>> {
        let groups = callee.broker().groups()?;
        // A relayed request brings the contexts of its sender, which repeats it.
        if matches!(ask, Ask::Relay(_)) {
            return None;
        }
        let version = route.group_version(callee)?;
        let terms = groups.terms(CallPolicies(&route.effective), callee.broker().config());
        Some(Box::new(Self {
            expires: Deadline::after(terms.duration),
            terms,
            version,
            rounds: 0,
            may_be_done: false,
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

    /// Returns the end of the pause that the call has to make now, if it has to.
    pub(super) fn take_pause(&mut self) -> Option<Deadline> {
        self.pause.take()
    }

    /// Records the version of the reference to which the call was forwarded; changes it in the contexts of the request, too.
    pub(super) fn set_version(&mut self, version: u32, contexts: &mut FilledContexts) {
        if version == self.version {
            return;
        }
        self.version = version;
        let is_version = |(id, _): &&mut (u32, Vec<u8>)| *id == FT_GROUP_VERSION;
        if let Some((_, data)) = contexts.iter_mut().find(is_version) {
            *data = GroupVersion(version).data().to_vec();
        }
    }

    /// Begins the pause before the next round; `false` if too little time is left for one.
    pub(super) fn pause(&mut self, deadline: Deadline) -> bool {
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
