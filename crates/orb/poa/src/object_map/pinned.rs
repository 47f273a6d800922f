//! An object that stays while somebody looks at it.

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

/// An active object, which stays where it is until this is dropped. Whoever drops the last one of an object
/// that was deactivated meanwhile runs [`super::OnDeactivated::deactivated`].
pub(crate) struct Pinned<'m> {
    map: &'m ActiveMap,
    /// There until this is dropped.
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

    /// Where it is.
    pub(crate) fn entry_id(&self) -> EntryId {
        self.entry_id
    }

    /// Whether it has no other id than its entry.
    #[inline]
    pub(crate) fn has_no_other_id(&self) -> bool {
        matches!(self.id, Name::EntryId)
    }

    /// Whether this is its id.
    #[inline]
    pub(crate) fn is_named(&self, id: &[u8]) -> bool {
        match self.id.as_deref() {
            Some(own) => *own == *id,
            None => self.entry_id.octets() == *id,
        }
    }

    /// What its upcalls are made with: its servant, and what it has in place of policies of its adapter's.
    #[inline]
    pub(crate) fn parts(&self) -> (&Arc<dyn Servant>, Option<&OwnPolicies>) {
        (&self.servant, self.own.as_deref())
    }

    /// Whether calls are sent elsewhere since it was activated.
    #[inline]
    pub(crate) fn is_forwarded(&self) -> bool {
        self.pin().is_forwarded()
    }

    /// Where calls are sent instead. Takes a lock only if they are sent elsewhere.
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

/// What is known about an id.
#[derive(Debug)]
pub(crate) enum Found<'m> {
    /// It is active.
    Pinned(Pinned<'m>),
    /// It is being deactivated.
    Closing,
    /// It is neither.
    None,
}
