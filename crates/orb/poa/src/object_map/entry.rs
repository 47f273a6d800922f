//! What is in the map, and what it is named by.

use super::name::Name;
use crate::servant::Servant;
use std::fmt;
use std::sync::Arc;

/// Names one use of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// The slot.
    pub(crate) index: u32,
    /// How often it had been used before.
    pub(crate) generation: u32,
}

impl Place {
    /// The id of an object that has no other: index and generation, big-endian.
    pub(crate) fn octets(self) -> [u8; 8] {
        let both = u64::from(self.index) << 32 | u64::from(self.generation);
        both.to_be_bytes()
    }

    /// The place that an id of eight octets names.
    pub(crate) fn of(id: &[u8]) -> Option<Self> {
        let both = u64::from_be_bytes(id.try_into().ok()?);
        Some(Self {
            index: (both >> 32) as u32,
            generation: both as u32,
        })
    }
}

/// Who makes ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    /// The map, for objects that are activated without one.
    System,
    /// The application.
    User,
}

/// An active object.
pub(crate) struct Entry {
    /// What it is active under.
    pub(crate) id: Name,
    /// What it was activated with; [`super::Pinned::forwarded`] says whether calls go elsewhere since.
    pub(crate) servant: Arc<dyn Servant>,
}

/// An object that was deactivated, after the last call has left it.
#[derive(Debug)]
pub(crate) struct Deactivated {
    pub(crate) place: Place,
    pub(crate) entry: Entry,
    /// Its servant is active under another id (where the map notes servants).
    pub(crate) remains: bool,
}

impl Deactivated {
    /// The id that it was active under.
    pub(crate) fn id(&self) -> Vec<u8> {
        self.entry.id.octets(self.place)
    }
}

/// What is to be done when the last call has left an object that was deactivated.
pub(crate) trait OnDeactivated: Send + Sync {
    /// Called once for each object, without any lock held, on the thread that left last; its id and its
    /// place are free when this has returned. Must not wait for a deactivation itself.
    fn deactivated(&self, object: Deactivated);

    /// Called after that, when the id and the place are free.
    fn freed(&self) {}
}

/// Why an object was not activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The id is active.
    ObjectAlreadyActive,
    /// The servant is active, there.
    ServantAlreadyActive(Place),
    /// The id is still being deactivated: [`super::ActiveMap::wait_while_closing`].
    Closing,
    /// There are no more places.
    Full,
    /// Nothing is activated any more ([`super::ActiveMap::close_for_good`]).
    Gone,
    /// It is none of the ids of the perfect hash.
    NotInTheSet,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("id", &self.id)
            .field("servant", &self.servant.identity())
            .finish()
    }
}
