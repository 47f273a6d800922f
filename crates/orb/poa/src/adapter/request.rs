//! Request, as an adapter knows it.

#[cfg(feature = "comparison")]
use super::operation_tables::OperationTables;
use super::types::Adapter;
use crate::object_map::{ActiveMap, EntryId, Lookup};
#[cfg(feature = "comparison")]
use crate::policy::OperationDemultiplexing;
use crate::servant::Servant;
use punctual_orb::{DispatchError, SystemException, UpcallHook};
use std::sync::Arc;

/// Work to be done with a servant, once that is found: a request from the wire, or a call from
/// within the process.
pub(crate) trait Request {
    /// Result of the request.
    type Done;

    /// Returns the operation's name on the wire.
    fn operation(&self) -> &str;

    /// Finds the wanted object.
    #[inline]
    fn find<'m>(&mut self, map: &'m ActiveMap, wanted: RequestedObject<'_>) -> Lookup<'m> {
        map.find(wanted.id, wanted.entry_id)
    }

    /// Enters the policies around the upcall.
    ///
    /// # Errors
    /// The caller gets these instead of a result.
    fn enter(&mut self, around: &UpcallHook) -> Result<u64, SystemException>;

    /// Lets the servant answer.
    ///
    /// # Errors
    /// The caller gets these instead of a result.
    fn answer(&mut self, servant: &Arc<dyn Servant>) -> Result<Self::Done, DispatchError>;

    /// Lets the servant answer; a strategy for comparison finds an operation that is searched by
    /// name.
    ///
    /// # Errors
    /// The caller gets these instead of a result.
    #[cfg(feature = "comparison")]
    fn answer_by(
        &mut self,
        strategy: ByStrategy<'_>,
        servant: &Arc<dyn Servant>,
    ) -> Result<Self::Done, DispatchError> {
        let _ = strategy;
        self.answer(servant)
    }

    /// Runs [`Adapter::serve_now`] on the main thread.
    ///
    /// # Errors
    /// The caller gets these instead of a result.
    fn serve_by_main_thread(
        &mut self,
        adapter: &Adapter,
        wanted: RequestedObject<'_>,
    ) -> Result<Option<Self::Done>, DispatchError>;

    /// Returns the outcome of a request that must not wait, where it would have to; `None` if it
    /// may wait.
    fn outcome_without_wait(&self) -> Option<Self::Done>;
}

/// Object, as a request names it.
#[derive(Clone, Copy)]
pub(crate) struct RequestedObject<'k> {
    pub(crate) id: &'k [u8],
    pub(crate) entry_id: Option<EntryId>,
}

/// Strategy by which an operation is found.
#[cfg(feature = "comparison")]
#[derive(Clone, Copy)]
pub(crate) enum ByStrategy<'a> {
    /// Number of an operation that was found with the object.
    Number(usize),
    /// Search by the operation's name.
    Name(OperationDemultiplexing, &'a OperationTables),
}
