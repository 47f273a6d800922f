//! Active object map: objects by id, found without a lock.
//!
//! An object has an entry, named by an [`EntryId`]: a slot's number and the number of its earlier
//! uses, so that it names one activation and is never used again. A thread that serves a call
//! *pins* the entry for its duration ([`Pinned`]); an object that is deactivated is found by no new
//! call, and is removed with its last pin: [`OnDeactivated::deactivated`] is called then, on the
//! thread whose call was the last, and only after it the id and the slot are free.
//!
//! | file | what |
//! |---|---|
//! | `slot` | one entry, and the word that controls access to it; all `unsafe` of the crate |
//! | `slots` | entries by number, in segments that never move |
//! | `map` | activation, under the map's mutex |
//! | `lookup` | lookups, which take none; `lookup_compared` has those for comparison |
//! | `deactivation` | deactivation, the end of the last call, waiting for it |
//! | `index` | from ids to entries, with each strategy |
//! | `by_servant` | from servants to entries |
//!
//! Lookups take no lock at all, and allocate nothing. Only a search for an id that does not exist
//! takes the map's mutex, and that only while an object with an id of its own is being deactivated.

mod by_servant;
mod deactivation;
mod entry;
mod index;
mod link;
mod lookup;
#[cfg(feature = "comparison")]
mod lookup_compared;
mod map;
mod name;
mod pinned;
#[allow(unsafe_code)]
mod slot;
#[cfg(test)]
mod slot_tests;
mod slots;
mod sync;
#[cfg(all(test, feature = "comparison"))]
mod tests;

pub(crate) use by_servant::Servants;
pub(crate) use entry::{Deactivated, EntryId, Ids, OnDeactivated, Refused};
pub(crate) use index::{DuplicateId, Strategy};
pub(crate) use map::{Active, ActiveMap};
pub(crate) use pinned::{Lookup, Pinned};
