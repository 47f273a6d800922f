//! Search for operations by name with strategies other than the compiler's generated search, for
//! comparison.

use crate::policy::OperationDemultiplexing;
use crate::servant::Servant;
use punctual_orb::{DispatchError, Dispatched, ServerCall};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Operation tables of the interfaces that an adapter has served, for strategies other than the
/// compiler's generated search.
#[derive(Default)]
pub(crate) struct OperationTables {
    /// Tables by the address of the skeleton's list of names. Made with the first of them: an empty
    /// map takes 12 KiB.
    tables: OnceLock<papaya::HashMap<usize, Table>>,
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
        // A hand-written skeleton has no table.
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
        let tables = self.tables.get_or_init(Default::default).pin();
        let table = tables.get_or_insert_with(names.as_ptr().addr(), || {
            let numbered = names.iter().enumerate();
            numbered.map(|(number, name)| (*name, number)).collect()
        });
        table.get(operation).copied()
    }
}
