//! Operations by their names, found otherwise than by the search that the IDL compiler wrote: for comparison.

use crate::policy::OperationDemultiplexing;
use crate::servant::Servant;
use punctual_orb::{DispatchError, Dispatched, ServerCall};
use std::collections::HashMap;
use std::sync::Arc;

/// Tables by which an adapter finds operations otherwise than by the compiler's search: those of the interfaces
/// that it has served.
#[derive(Default)]
pub(crate) struct OperationTables {
    /// By the address of the names, which are the skeleton's.
    tables: papaya::HashMap<usize, Table>,
}

type Table = HashMap<&'static str, usize>;

impl OperationTables {
    pub(crate) fn upcall(
        &self,
        how: OperationDemultiplexing,
        servant: &Arc<dyn Servant>,
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        let names = servant.operations();
        // One that was written by hand has no table.
        if names.is_empty() {
            return servant.dispatch(call);
        }
        let operation = call.operation();
        let number = match how {
            OperationDemultiplexing::Linear => names.iter().position(|name| *name == operation),
            _ => self.hashed(names, operation),
        };
        match number {
            Some(number) => servant.upcall(number, call),
            None => Err(call.bad_operation()),
        }
    }

    fn hashed(&self, names: &'static [&'static str], operation: &str) -> Option<usize> {
        let tables = self.tables.pin();
        let table = tables.get_or_insert_with(names.as_ptr().addr(), || {
            let numbered = names.iter().enumerate();
            numbered.map(|(number, name)| (*name, number)).collect()
        });
        table.get(operation).copied()
    }
}
