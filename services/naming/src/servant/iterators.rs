//! Clients' iterators, by number.

use std::collections::HashMap;
use std::time::Instant;

use parking_lot::Mutex;
use punctual::{ObjectId, Poa, SystemException, SystemExceptionKind};

use crate::cos_naming::BindingIterator;
use crate::limits::Limits;
use crate::store::ContextId;

type Result<T> = std::result::Result<T, SystemException>;

/// Table of the binding iterators of all clients.
#[derive(Debug)]
pub(super) struct Iterators {
    poa: Poa,
    table: Mutex<HashMap<u64, Iterator>>,
}

#[derive(Clone, Debug)]
pub(super) struct Iterator {
    pub(super) context: ContextId,
    pub(super) behind: Option<Box<str>>,
    used: Instant,
}

impl Iterators {
    pub(super) fn new(poa: Poa) -> Self {
        let table = Mutex::default();
        Self { poa, table }
    }

    /// Creates a binding iterator that continues after the given key.
    pub(super) fn make(
        &self,
        context: ContextId,
        behind: Option<Box<str>>,
        limits: &Limits,
    ) -> Result<BindingIterator> {
        let number = getrandom::u64()
            .map_err(|error| SystemExceptionKind::Internal.because(error.to_string()))?;
        let id = ObjectId::from(&number.to_be_bytes());
        let reference = self.poa.create_reference_with_id(&id);
        let reference =
            reference.map_err(|error| SystemExceptionKind::Internal.because(error.to_string()))?;
        let used = Instant::now();
        let mut table = self.table.lock();
        table.retain(|_, one| used.duration_since(one.used) < limits.iterator_idle);
        if table.len() >= limits.iterators {
            let oldest = table.iter().min_by_key(|(_, one)| one.used);
            if let Some(oldest) = oldest.map(|(number, _)| *number) {
                table.remove(&oldest);
            }
        }
        table.insert(
            number,
            Iterator {
                context,
                behind,
                used,
            },
        );
        Ok(reference)
    }

    /// Returns `true` if there is an iterator with this object id.
    pub(super) fn has(&self, id: &ObjectId) -> bool {
        number(id).is_some_and(|number| self.table.lock().contains_key(&number))
    }

    /// Advances a binding iterator with the function `step`, unless the iterator has expired.
    pub(super) fn advance<R>(
        &self,
        number: u64,
        limits: &Limits,
        step: impl FnOnce(&mut Iterator) -> R,
    ) -> Option<R> {
        let now = Instant::now();
        let mut table = self.table.lock();
        let one = table.get_mut(&number)?;
        if now.duration_since(one.used) >= limits.iterator_idle {
            table.remove(&number);
            return None;
        }
        one.used = now;
        Some(step(one))
    }

    /// Removes an iterator. Returns `false` if there is none of this number.
    pub(super) fn remove(&self, number: u64) -> bool {
        self.table.lock().remove(&number).is_some()
    }
}

/// Returns the iterator number that an object id encodes.
pub(super) fn number(id: &ObjectId) -> Option<u64> {
    id.as_bytes().try_into().ok().map(u64::from_be_bytes)
}
