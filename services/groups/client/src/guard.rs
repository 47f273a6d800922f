//! Guards before servants of members.

use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use parking_lot::RwLock;
use punctual::about_to_block;
use punctual::poa::{
    DispatchError, Dispatched, IdAssignmentPolicy, IdUniquenessPolicy, PoaPolicy,
    RequestProcessingPolicy, ServantRetentionPolicy, ServerCall,
};
use punctual::{
    Interface, ObjectId, ObjectRef, Poa, Servant, SystemException, SystemExceptionKind,
};

use crate::each::{Numbers, number_in};

/// Operations that a member answers whether it is primary or not.
const ALWAYS: [&str; 5] = [
    "get_state",
    "set_state",
    "get_update",
    "set_update",
    "is_alive",
];

/// Guard of a member's servants: decides which requests they serve. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Guard(Arc<Inner>);

/// Question to the service whether the member is primary, which was not known at a time.
type Ask = Arc<dyn Fn(Instant) + Send + Sync>;

#[derive(Default)]
struct Inner {
    in_progress: AtomicU32,
    sheds: AtomicBool,
    /// The group's own object; `None` before the member has joined.
    forwarder: RwLock<Option<ObjectRef>>,
    /// True if only the primary serves.
    is_passive: AtomicBool,
    term: RwLock<Term>,
    /// Asks the service, while the member is one.
    ask: RwLock<Option<Ask>>,
}

/// Time for which the member is primary without a break.
#[derive(Clone, Copy, Default)]
struct Term {
    /// Number of the term, from 1 on.
    number: u64,
    /// End of the term, as far as it is known.
    until: Option<Instant>,
}

thread_local! {
    /// Guard of the request that the calling thread serves, by its address, and the term in which the request passed it.
    static SERVING: Cell<Option<(usize, u64)>> = const { Cell::new(None) };
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("in_progress", &self.in_progress)
            .field("sheds", &self.sheds)
            .finish_non_exhaustive()
    }
}

impl Guard {
    /// Returns a guard of a member that has not joined yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts the guard before a servant.
    #[must_use]
    pub fn around(&self, servant: Arc<dyn Servant>) -> Arc<dyn Servant> {
        Arc::new(Guarded {
            guard: self.clone(),
            servant,
            each: None,
        })
    }

    /// Activates a servant as a member of a group that balances each request (property `punctual.PerRequest`), in an adapter of its
    /// own with this name below `parent`: requests that come again without having been at the group are forwarded there. Each of
    /// them costs two more round trips. Before the member has joined, they are served.
    ///
    /// # Errors
    /// INTERNAL, BAD_PARAM or another exception if the adapter cannot be made, as there is one of the name.
    pub fn each_request<I: Interface>(
        &self,
        parent: &Poa,
        name: &str,
        servant: Arc<dyn Servant>,
    ) -> Result<I, SystemException> {
        let policies = [
            PoaPolicy::RequestProcessing(RequestProcessingPolicy::DefaultServant),
            PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
            PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple),
        ];
        let poa = parent.create_poa(name, Some(parent.manager()), &policies)?;
        poa.set_servant(Arc::new(Guarded {
            guard: self.clone(),
            servant,
            each: Some(Numbers::default()),
        }))?;
        Ok(poa.create_reference_with_id(&ObjectId::from(&b"member"[..]))?)
    }

    /// Returns the number of requests that the servants are serving.
    #[must_use]
    pub fn in_progress(&self) -> u32 {
        self.0.in_progress.load(Ordering::Relaxed)
    }

    /// Forwards requests to the group from now on, or serves them again.
    pub fn shed(&self, sheds: bool) {
        self.0.sheds.store(sheds, Ordering::Relaxed);
    }

    /// Returns whether requests are forwarded to the group to shed load.
    #[must_use]
    pub fn is_shedding(&self) -> bool {
        self.0.sheds.load(Ordering::Relaxed)
    }

    /// Returns whether the member is primary now: its lease has not ended.
    #[must_use]
    pub fn is_primary(&self) -> bool {
        self.current_term().is_some()
    }

    /// Returns the number of the term in which the calling thread's request has passed this guard; on other threads that of the
    /// term in which the member is primary now. A member that has been primary without a break since is in the same term.
    #[must_use]
    pub fn term(&self) -> Option<u64> {
        self.begun().or_else(|| self.current_term())
    }

    fn current_term(&self) -> Option<u64> {
        let term = *self.0.term.read();
        let is_primary = term.until.is_some_and(|until| Instant::now() < until);
        is_primary.then_some(term.number)
    }

    /// Returns whether the member is primary, and has been since the calling thread's request passed this guard: one of an
    /// earlier term does not know what others have done since. Of a thread that serves no request, that is not known here.
    pub(crate) fn is_primary_since_request(&self) -> bool {
        let begun = self.begun();
        begun.is_none_or(|begun| self.current_term() == Some(begun))
    }

    /// Returns the term of the request that the calling thread serves behind this guard.
    fn begun(&self) -> Option<u64> {
        let (guard, term) = SERVING.get()?;
        (guard == self.address()).then_some(term)
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(crate) fn set_passive(&self, is_passive: bool) {
        self.0.is_passive.store(is_passive, Ordering::Relaxed);
    }

    pub(crate) fn set_forwarder(&self, forwarder: Option<ObjectRef>) {
        *self.0.forwarder.write() = forwarder;
    }

    pub(crate) fn set_ask(&self, ask: impl Fn(Instant) + Send + Sync + 'static) {
        *self.0.ask.write() = Some(Arc::new(ask));
    }

    pub(crate) fn set_primary_until(&self, until: Option<Instant>) {
        let mut term = self.0.term.write();
        if until.is_some() && term.until.is_none_or(|until| until <= Instant::now()) {
            term.number += 1;
        }
        term.until = until;
    }

    /// Returns whether the member is primary. A request may come before the member has learned that it is: then it asks.
    pub(crate) fn is_primary_or_becomes_it(&self) -> bool {
        if self.is_primary() {
            return true;
        }
        let ask = self.0.ask.read().clone();
        if let Some(ask) = ask {
            let _ = about_to_block();
            ask(Instant::now());
        }
        self.is_primary()
    }

    /// Checks that a request may be served here.
    fn check(&self, operation: &str) -> Result<(), DispatchError> {
        let is_passive = self.0.is_passive.load(Ordering::Relaxed);
        if ALWAYS.contains(&operation) {
            // A primary's state is the group's. One that comes now was delayed, or is not the service's.
            let replaces = operation.starts_with("set_") && is_passive && self.is_primary();
            return match replaces {
                true => Err(SystemExceptionKind::BadInvOrder
                    .because("this member is primary, and takes no state")
                    .into()),
                false => Ok(()),
            };
        }
        let waits = is_passive && !self.is_primary_or_becomes_it();
        if !(waits || self.is_shedding()) {
            return Ok(());
        }
        match &*self.0.forwarder.read() {
            Some(group) => Err(DispatchError::forward(group)),
            None => Err(SystemExceptionKind::Transient
                .because("this member has not joined its group yet")
                .into()),
        }
    }
}

/// Servant behind a guard.
struct Guarded {
    guard: Guard,
    servant: Arc<dyn Servant>,
    /// Numbers of requests, if each is balanced.
    each: Option<Numbers>,
}

impl Guarded {
    /// Checks that a request has come by way of the group, where each has to.
    fn check_way(&self, call: &ServerCall<'_>) -> Result<(), DispatchError> {
        let Some(numbers) = &self.each else {
            return Ok(());
        };
        let operation = call.operation();
        // Operations of every object, as `_is_a`, are made as part of others; one-ways cannot be forwarded.
        if operation.starts_with('_') || ALWAYS.contains(&operation) || !call.expects_reply() {
            return Ok(());
        }
        let id = punctual::poa::Current.object_id().ok();
        let number = id.and_then(|id| number_in(id.as_bytes()));
        match &*self.guard.0.forwarder.read() {
            Some(group) if number.is_some_and(|number| !numbers.is_first(number)) => {
                Err(DispatchError::forward(group))
            }
            _ => Ok(()),
        }
    }
}

/// Request in progress, until it is dropped.
struct InProgress<'g>(&'g AtomicU32);

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Request that the thread served before, until this is dropped.
struct Serving(Option<(usize, u64)>);

impl Drop for Serving {
    fn drop(&mut self) {
        SERVING.set(self.0);
    }
}

impl Servant for Guarded {
    fn repository_ids(&self) -> &'static [&'static str] {
        self.servant.repository_ids()
    }

    fn primary_interface(&self) -> Cow<'_, str> {
        self.servant.primary_interface()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.servant.is_a(repository_id)
    }

    fn is_transparent(&self) -> bool {
        self.servant.is_transparent()
    }

    fn is_dynamic(&self) -> bool {
        self.servant.is_dynamic()
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        self.guard.check(call.operation())?;
        self.check_way(call)?;
        let count = &self.guard.0.in_progress;
        count.fetch_add(1, Ordering::Relaxed);
        let _in_progress = InProgress(count);
        let term = self.guard.0.term.read().number;
        let _serving = Serving(SERVING.replace(Some((self.guard.address(), term))));
        self.servant.dispatch(call)
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self.servant.implementation()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_request_of_an_earlier_term_is_known() {
        let guard = Guard::new();
        let later = || Some(Instant::now() + Duration::from_secs(600));
        assert!(guard.is_primary_since_request(), "it serves no request");
        guard.set_primary_until(later());
        let begun = guard.term().unwrap();
        let _serving = Serving(SERVING.replace(Some((guard.address(), begun))));
        guard.set_primary_until(later());
        assert!(guard.is_primary_since_request());
        guard.set_primary_until(None);
        assert!(!guard.is_primary_since_request());
        guard.set_primary_until(later());
        assert!(guard.is_primary() && !guard.is_primary_since_request());
        assert!(Guard::new().is_primary_since_request(), "another guard's");
    }
}
