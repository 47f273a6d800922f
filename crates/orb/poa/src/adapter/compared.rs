//! Requests of adapters with demultiplexing strategies for comparison ([`Demultiplexing`],
//! [`OperationDemultiplexing`]): they take the usual path, except that the strategies find object
//! and operation. Requests of other adapters do not use this module, and so pay nothing for it.

use super::request::{ByStrategy, CalledServant, Request, RequestedObject};
use super::types::Adapter;
use crate::ior_table::UnknownObjects;
use crate::object_map::{ActiveMap, Lookup};
use crate::policy::{Demultiplexing, OperationDemultiplexing};
use punctual_orb::{DispatchError, SystemException, UpcallHook};

/// Request whose object and operation are found by an adapter's strategies.
pub(super) struct Compared<'a, R> {
    adapter: &'a Adapter,
    request: &'a mut R,
    /// Number of the operation, if it was found with the object.
    number: Option<usize>,
}

impl<'a, R: Request> Compared<'a, R> {
    pub(super) fn new(adapter: &'a Adapter, request: &'a mut R) -> Self {
        Self {
            adapter,
            request,
            number: None,
        }
    }
}

impl<R: Request> Request for Compared<'_, R> {
    type Done = R::Done;

    fn operation(&self) -> &str {
        self.request.operation()
    }

    fn is_in_timeline(&self) -> bool {
        self.request.is_in_timeline()
    }

    fn find<'m>(&mut self, map: &'m ActiveMap, wanted: RequestedObject<'_>) -> Lookup<'m> {
        match self.adapter.policies.demultiplexing {
            Demultiplexing::Active => map.find(wanted.id, wanted.entry_id),
            Demultiplexing::DeLayered => {
                let operation = self.request.operation();
                let (found, number) = map.find_de_layered(wanted.id, operation);
                self.number = number;
                found
            }
            _ => map.find_by_strategy(wanted.id),
        }
    }

    fn enter(&mut self, around: &UpcallHook) -> Result<u64, SystemException> {
        self.request.enter(around)
    }

    fn answer(&mut self, servant: CalledServant<'_>) -> Result<R::Done, DispatchError> {
        let how = self.adapter.policies.operations;
        let strategy = match self.number {
            Some(number) => ByStrategy::Number(number),
            None if how == OperationDemultiplexing::Compiled => {
                return self.request.answer(servant);
            }
            None => ByStrategy::Name(how, &self.adapter.dispatch.operations),
        };
        self.request.answer_by(strategy, servant)
    }

    /// Serves the request on the main thread, where object and operation are found in the usual
    /// way: the hand-over costs more than any strategy would save.
    fn serve_by_main_thread(
        &mut self,
        adapter: &Adapter,
        wanted: RequestedObject<'_>,
    ) -> Result<Option<R::Done>, DispatchError> {
        self.request.serve_by_main_thread(adapter, wanted)
    }

    fn answer_unknown(
        &mut self,
        unknown: &dyn UnknownObjects,
        object_key: &[u8],
    ) -> Result<R::Done, DispatchError> {
        self.request.answer_unknown(unknown, object_key)
    }

    fn outcome_without_wait(&self) -> Option<R::Done> {
        self.request.outcome_without_wait()
    }
}
