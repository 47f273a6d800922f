//! Requests as an adapter serves them.

#[cfg(feature = "comparison")]
use super::operation_tables::OperationTables;
use super::types::Adapter;
use crate::ior_table::UnknownObjects;
use crate::object_map::{ActiveMap, EntryId, Lookup};
#[cfg(feature = "comparison")]
use crate::policy::OperationDemultiplexing;
use crate::servant::Servant;
use punctual_orb::{DispatchError, SystemException, UpcallHook};
use std::ops::Deref;
use std::sync::Arc;

/// Call of a servant, to be made once the servant has been found: a request from the wire, or a
/// collocated call.
pub(crate) trait Request {
    /// Type of the result of the request.
    type Done;

    /// Returns the name of the requested operation, as sent in the request.
    fn operation(&self) -> &str;

    /// Returns whether a timeline has records of the request: it has none of collocated calls.
    fn is_in_timeline(&self) -> bool;

    /// Finds the requested object in the active object map.
    #[inline]
    fn find<'m>(&mut self, map: &'m ActiveMap, wanted: RequestedObject<'_>) -> Lookup<'m> {
        map.find(wanted.id, wanted.entry_id)
    }

    /// Applies the policies that act around the upcall.
    ///
    /// # Errors
    /// The exception that the caller gets instead of a result.
    fn enter(&mut self, around: &UpcallHook) -> Result<u64, SystemException>;

    /// Makes the upcall.
    ///
    /// # Errors
    ///
    /// The exception that the caller gets instead of a result.
    fn answer(&mut self, servant: CalledServant<'_>) -> Result<Self::Done, DispatchError>;

    /// Makes the upcall; the operation is found by a strategy for comparison.
    ///
    /// # Errors
    ///
    /// The exception that the caller gets instead of a result.
    #[cfg(feature = "comparison")]
    fn answer_by(
        &mut self,
        strategy: ByStrategy<'_>,
        servant: CalledServant<'_>,
    ) -> Result<Self::Done, DispatchError> {
        let _ = strategy;
        self.answer(servant)
    }

    /// Runs [`Adapter::serve_now`] on the main thread.
    ///
    /// # Errors
    /// The exception that the caller gets instead of a result.
    fn serve_by_main_thread(
        &mut self,
        adapter: &Adapter,
        wanted: RequestedObject<'_>,
    ) -> Result<Option<Self::Done>, DispatchError>;

    /// Answers a request for an object that no adapter has. A collocated call has none.
    ///
    /// # Errors
    /// The exception that the caller gets instead of a result, or the forward.
    fn answer_unknown(
        &mut self,
        unknown: &dyn UnknownObjects,
        object_key: &[u8],
    ) -> Result<Self::Done, DispatchError>;

    /// Returns the outcome for a request that must not wait and would have to; `None` for a request
    /// that may wait.
    fn outcome_without_wait(&self) -> Option<Self::Done>;
}

/// Object that a request's key names: its id, and its map entry if the key has one.
#[derive(Clone, Copy)]
pub(crate) struct RequestedObject<'k> {
    pub(crate) id: &'k [u8],
    pub(crate) entry_id: Option<EntryId>,
}

/// Servant of an upcall. The plain reference to it is computed once, for all calls of the upcall.
#[derive(Clone, Copy)]
pub(crate) struct CalledServant<'s> {
    pub(crate) shared: &'s Arc<dyn Servant>,
    servant: &'s dyn Servant,
}

impl<'s> CalledServant<'s> {
    #[inline(always)]
    pub(crate) fn new(shared: &'s Arc<dyn Servant>) -> Self {
        let servant = &**shared;
        Self { shared, servant }
    }
}

impl Deref for CalledServant<'_> {
    type Target = dyn Servant;

    #[inline(always)]
    fn deref(&self) -> &(dyn Servant + 'static) {
        self.servant
    }
}

/// Means of finding an operation: its number, or a search strategy.
#[cfg(feature = "comparison")]
#[derive(Clone, Copy)]
pub(crate) enum ByStrategy<'a> {
    /// Number of the operation, which was found together with the object.
    Number(usize),
    /// Search for the operation by its name.
    Name(OperationDemultiplexing, &'a OperationTables),
}
