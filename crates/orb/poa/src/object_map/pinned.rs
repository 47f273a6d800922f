//! Pinned objects: active objects that cannot be removed while they are used.

use super::entry::{Entry, EntryId};
use super::map::ActiveMap;
use super::name::Name;
use super::slot::Pin;
use crate::own_policies::OwnPolicies;
use crate::servant::Servant;
use punctual_orb::ObjectRef;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Active object, which is not removed until this is dropped. The thread that drops the last pin of
/// an object that was deactivated meanwhile runs [`super::OnDeactivated::deactivated`].
pub(crate) struct Pinned<'m> {
    map: &'m ActiveMap,
    /// Pin on the object's slot; `None` only while this value is being dropped.
    pin: Option<Pin<'m, Entry>>,
    entry_id: EntryId,
}

impl<'m> Pinned<'m> {
    #[inline]
    pub(super) fn new(map: &'m ActiveMap, pin: Pin<'m, Entry>, entry_id: EntryId) -> Self {
        Self {
            map,
            pin: Some(pin),
            entry_id,
        }
    }

    /// Returns the id of the object's map entry.
    pub(crate) fn entry_id(&self) -> EntryId {
        self.entry_id
    }

    /// Returns whether the object id was derived from the map entry.
    #[inline]
    pub(crate) fn has_no_other_id(&self) -> bool {
        matches!(self.id, Name::EntryId)
    }

    /// Returns whether the object has the given object id.
    #[inline]
    pub(crate) fn is_named(&self, id: &[u8]) -> bool {
        match self.id.as_deref() {
            Some(own) => *own == *id,
            None => self.entry_id.octets() == *id,
        }
    }

    /// Returns what an upcall needs: the object's servant, and the object's own policies in place
    /// of its adapter's.
    #[inline]
    pub(crate) fn parts(&self) -> (&Arc<dyn Servant>, Option<&OwnPolicies>) {
        (&self.servant, self.own.as_deref())
    }

    /// Returns whether calls of the object are forwarded to another object.
    #[inline]
    pub(crate) fn is_forwarded(&self) -> bool {
        self.pin().is_forwarded()
    }

    /// Returns the object to which calls are forwarded, if they are. Takes a lock only in that
    /// case.
    #[inline]
    pub(crate) fn forwarded(&self) -> Option<ObjectRef> {
        self.is_forwarded()
            .then(|| self.map.forward_of(self.entry_id.index))
            .flatten()
    }

    #[inline]
    pub(super) fn pin(&self) -> &Pin<'m, Entry> {
        match &self.pin {
            Some(pin) => pin,
            None => unreachable!("pinned until it is dropped"),
        }
    }
}

impl Deref for Pinned<'_> {
    type Target = Entry;

    #[inline]
    fn deref(&self) -> &Entry {
        self.pin()
    }
}

impl Drop for Pinned<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(pin) = self.pin.take() {
            self.map.unpin(pin, self.entry_id);
        }
    }
}

impl fmt::Debug for Pinned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned")
            .field("place", &self.entry_id)
            .finish_non_exhaustive()
    }
}

/// Result of a search of the active object map for an id.
#[derive(Debug)]
pub(crate) enum Lookup<'m> {
    /// The object is active, and is pinned for as long as this value exists.
    Pinned(Pinned<'m>),
    /// The object is being deactivated.
    Closing,
    /// No object in the map has the id.
    None,
}
