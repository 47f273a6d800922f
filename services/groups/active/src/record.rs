//! Entries of the log, and states, as bytes.

use punctual_groups_requests::bytes_of;
use punctual_host::store::{Cdr, Record};

use crate::records::{Entry, State};

impl Entry {
    /// Returns the entry as bytes; `None` if it has none, as its text nests too deep or is too long.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        bytes_of(self)
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        Cdr::decode(bytes).map(|Cdr(entry)| entry)
    }
}

impl State {
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        bytes_of(self)
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        Cdr::decode(bytes).map(|Cdr(state)| state)
    }
}
