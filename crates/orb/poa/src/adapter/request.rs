//! A request, as an adapter knows it.

#[cfg(feature = "comparison")]
use super::operation_tables::OperationTables;
use super::types::Adapter;
use crate::object_map::{ActiveMap, EntryId, Found};
#[cfg(feature = "comparison")]
use crate::policy::OperationDemultiplexing;
use crate::servant::Servant;
use punctual_orb::{DispatchError, SystemException, UpcallHook};
use std::sync::Arc;

/// What is to be done with a servant, once that is found: a request from the wire, or a call from within the
/// process.
pub(crate) trait Request {
    /// What comes of it.
    type Done;

    /// The operation's name on the wire.
    fn operation(&self) -> &str;

    /// Finds the object that is wanted.
    #[inline]
    fn find<'m>(&mut self, map: &'m ActiveMap, wanted: RequestedObject<'_>) -> Found<'m> {
        map.find(wanted.id, wanted.entry_id)
    }

    /// Enters what surrounds the upcall.
    ///
    /// # Errors
    /// What to tell the caller instead of a result.
    fn enter(&mut self, around: &UpcallHook) -> Result<u64, SystemException>;

    /// Lets the servant answer.
    ///
    /// # Errors
    /// What to tell the caller instead of a result.
    fn answer(&mut self, servant: &Arc<dyn Servant>) -> Result<Self::Done, DispatchError>;

    /// Lets the servant answer, whose operation is found by a strategy for comparison, if it is by name.
    ///
    /// # Errors
    /// What to tell the caller instead of a result.
    #[cfg(feature = "comparison")]
    fn answer_by(
        &mut self,
        strategy: ByStrategy<'_>,
        servant: &Arc<dyn Servant>,
    ) -> Result<Self::Done, DispatchError> {
        let _ = strategy;
        self.answer(servant)
    }

    /// Has the main thread do [`Adapter::serve_now`].
    ///
    /// # Errors
    /// What to tell the caller instead of a result.
    fn serve_by_main_thread(
        &mut self,
        adapter: &Adapter,
        wanted: RequestedObject<'_>,
    ) -> Result<Option<Self::Done>, DispatchError>;

    /// What becomes of it where it would have to wait, if it is not to.
    fn rather_than_wait(&self) -> Option<Self::Done>;
}

/// An object, as a request names it.
#[derive(Clone, Copy)]
pub(crate) struct RequestedObject<'k> {
    pub(crate) id: &'k [u8],
    pub(crate) entry_id: Option<EntryId>,
}

/// How an operation is found.
#[cfg(feature = "comparison")]
#[derive(Clone, Copy)]
pub(crate) enum ByStrategy<'a> {
    /// It was, with the object: by its number.
    Number(usize),
    /// By its name.
    Name(OperationDemultiplexing, &'a OperationTables),
}
