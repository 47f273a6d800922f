//! State of the requests that a server is serving, from their first interception point to their
//! last.

use parking_lot::Mutex;
use std::collections::HashMap;

/// State by request id, as interceptors see it: the ids are unique in the process. A request may
/// begin on one thread and be answered by another. Each access locks the map on its own.
#[derive(Debug)]
pub(crate) struct Served<T>(Mutex<HashMap<u32, T>>);

impl<T> Default for Served<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Served<T> {
    pub(crate) fn begins(&self, request_id: u32, what: T) {
        self.0.lock().insert(request_id, what);
    }

    pub(crate) fn ends(&self, request_id: u32) -> Option<T> {
        self.0.lock().remove(&request_id)
    }
}

#[cfg(feature = "trace-context")]
impl<T: Clone> Served<T> {
    pub(crate) fn of(&self, request_id: u32) -> Option<T> {
        self.0.lock().get(&request_id).cloned()
    }
}
