//! Actions around each upcall of an adapter, because of its policies.

use super::call::ServerCall;
use crate::exception::SystemException;
use crate::fixed_context::{ObeyedWord, RunsAt};
use crate::policy::{AdapterPolicies, InvalidPolicy};
use crate::urgency::Urgency;
use punctual_giop::ServiceContexts;
use std::fmt::Debug;
use std::sync::Arc;

/// Actions around each upcall of an adapter, such as a priority that the thread takes, or a lock.
pub trait AroundUpcall: Send + Sync + Debug {
    /// Called before the servant, on the same thread, once the object is found. A call from within the process comes without a
    /// message. The result is passed to [`AroundUpcall::leave`].
    ///
    /// # Errors
    /// Passed to the caller; there is no upcall then, and no `leave`.
    fn enter(&self, call: Option<&mut ServerCall<'_>>) -> Result<u64, SystemException>;

    /// Returns the word that upcalls obey, if they do nothing else around the servant. Upcalls of requests with the same word
    /// as their threads' last ones then skip [`AroundUpcall::enter`], and [`AroundUpcall::leave`] if the thread is still
    /// scheduled as before. Called when the adapter is made.
    fn obeyed_word(&self) -> Option<ObeyedWord> {
        None
    }

    /// Returns the urgency, by the adapter's policies, of a request with these contexts that waits until a thread is free.
    fn urgency(&self, contexts: ServiceContexts<'_>) -> Urgency {
        let _ = contexts;
        Urgency::default()
    }

    /// Called after the upcall, on the same thread, however it ended.
    fn leave(&self, entered: u64);
}

/// Source of the actions around upcalls ([`crate::OrbBuilder::around_upcalls`]).
pub trait AroundUpcalls: Send + Sync + Debug {
    /// Returns the actions around the upcalls of an adapter with these policies. Called when the adapter is made.
    ///
    /// # Errors
    /// [`InvalidPolicy`] for one that cannot be obeyed.
    fn of(
        &self,
        policies: &AdapterPolicies,
    ) -> Result<Option<Arc<dyn AroundUpcall>>, InvalidPolicy>;
}

/// Actions around the upcalls of an adapter or an object, with properties known in advance.
#[derive(Clone, Debug)]
pub struct UpcallHook {
    around: Arc<dyn AroundUpcall>,
    /// Result of [`AroundUpcall::obeyed_word`].
    word: Option<ObeyedWord>,
}

impl UpcallHook {
    pub(crate) fn new(around: Arc<dyn AroundUpcall>) -> Self {
        let word = around.obeyed_word();
        Self { around, word }
    }

    /// Enters the upcall of a request. The result is passed to [`UpcallHook::leave`].
    ///
    /// # Errors
    /// Those of [`AroundUpcall::enter`].
    #[inline]
    pub fn enter(&self, call: &mut ServerCall<'_>) -> Result<u64, SystemException> {
        if let Some(word) = self.word
            && let Some(before) = call.obey_again(word)
        {
            return Ok(before.number());
        }
        self.around.enter(Some(call))
    }

    /// Enters the upcall of a call from within the process.
    ///
    /// # Errors
    /// Those of [`AroundUpcall::enter`].
    pub fn enter_here(&self) -> Result<u64, SystemException> {
        self.around.enter(None)
    }

    /// Returns the urgency of a request that waits ([`AroundUpcall::urgency`]).
    #[must_use]
    pub fn urgency(&self, contexts: ServiceContexts<'_>) -> Urgency {
        self.around.urgency(contexts)
    }

    /// Leaves the upcall.
    #[inline]
    pub fn leave(&self, entered: u64) {
        if self.word.is_none() || !restored(entered) {
            self.around.leave(entered);
        }
    }
}

// Not inlined: in another crate, thread-local state would be accessed by a call through a pointer.
#[inline(never)]
fn restored(entered: u64) -> bool {
    RunsAt::from_number(entered).restore()
}
