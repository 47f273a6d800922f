//! Hooks around each upcall of an adapter, which its policies require.

use super::call::ServerCall;
use crate::exception::SystemException;
use crate::fixed_context::{ObeyedWord, RunsAt};
use crate::policy::{AdapterPolicies, InvalidPolicy};
use crate::urgency::Urgency;
use punctual_giop::ServiceContexts;
use std::fmt::Debug;
use std::sync::Arc;

/// Hook around each upcall of an adapter, which sets a thread priority or takes a lock, for
/// example.
pub trait AroundUpcall: Send + Sync + Debug {
    /// Called before the upcall, on its thread, once the object has been found. `call` is `None` for a call from within
    /// the process. The result is passed to [`AroundUpcall::leave`].
    ///
    /// # Errors
    /// The exception is passed to the caller; the upcall is not made, and `leave` is not called.
    fn enter(&self, call: Option<&mut ServerCall<'_>>) -> Result<u64, SystemException>;

    /// Returns the word of requests that determines the scheduling of upcalls, if setting that is all that the hook
    /// does. If a request carries a word equal to the last one that its thread has served, [`AroundUpcall::enter`] is
    /// then skipped, and [`AroundUpcall::leave`] too if the thread's scheduling has not changed meanwhile. Called when
    /// the adapter is created.
    fn obeyed_word(&self) -> Option<ObeyedWord> {
        None
    }

    /// Returns the urgency, according to the adapter's policies, of a request with these contexts that waits for a free
    /// thread.
    fn urgency(&self, contexts: ServiceContexts<'_>) -> Urgency {
        let _ = contexts;
        Urgency::default()
    }

    /// Called after the upcall, on its thread, whether or not it was successful. `entered` is the
    /// result of [`AroundUpcall::enter`].
    fn leave(&self, entered: u64);
}

/// Factory of the hooks that run around upcalls ([`crate::OrbBuilder::around_upcalls`]).
pub trait AroundUpcalls: Send + Sync + Debug {
    /// Returns the hook around the upcalls of an adapter with these policies. Called when the adapter is created.
    ///
    /// # Errors
    /// [`InvalidPolicy`] for a policy that the hook cannot implement.
    fn of(
        &self,
        policies: &AdapterPolicies,
    ) -> Result<Option<Arc<dyn AroundUpcall>>, InvalidPolicy>;
}

/// Hook around the upcalls of an adapter or an object, with the properties of it that are known in
/// advance.
#[derive(Clone, Debug)]
pub struct UpcallHook {
    around: Arc<dyn AroundUpcall>,
    /// Cached result of [`AroundUpcall::obeyed_word`].
    word: Option<ObeyedWord>,
}

impl UpcallHook {
    pub(crate) fn new(around: Arc<dyn AroundUpcall>) -> Self {
        let word = around.obeyed_word();
        Self { around, word }
    }

    /// Runs the hook before the upcall of a request. The result is passed to [`UpcallHook::leave`].
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

    /// Runs the hook before the upcall of a call from within the process. The result is passed to
    /// [`UpcallHook::leave`].
    ///
    /// # Errors
    /// Those of [`AroundUpcall::enter`].
    pub fn enter_here(&self) -> Result<u64, SystemException> {
        self.around.enter(None)
    }

    /// Returns the urgency of a request that waits for a thread ([`AroundUpcall::urgency`]).
    #[must_use]
    pub fn urgency(&self, contexts: ServiceContexts<'_>) -> Urgency {
        self.around.urgency(contexts)
    }

    /// Runs the part of the hook that follows the upcall.
    // Not inlined: in another crate, thread-local state would be accessed by a call through a pointer.
    #[inline(never)]
    pub fn leave(&self, entered: u64) {
        if self.word.is_none() || !RunsAt::from_number(entered).restore() {
            self.around.leave(entered);
        }
    }
}
