//! Entry of the map.

pub(crate) use super::name::EntryId;
use super::name::Name;
use crate::own_policies::{ConflictingPolicy, OwnPolicies};
use crate::servant::Servant;
use std::fmt;
use std::sync::Arc;

/// Assigner of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    /// Map, for objects that are activated without an id.
    System,
    /// The application chooses ids.
    User,
}

/// Active object.
pub(crate) struct Entry {
    /// Id under which it is active.
    pub(crate) id: Name,
    /// Servant that it was activated with; [`super::Pinned::forwarded`] returns whether calls are
    /// forwarded since.
    pub(crate) servant: Arc<dyn Servant>,
    /// Policies that replace those of its adapter, if any.
    pub(crate) own: Option<Arc<OwnPolicies>>,
}

/// Deactivated object, after the last call has left it.
#[derive(Debug)]
pub(crate) struct Deactivated {
    pub(crate) entry_id: EntryId,
    pub(crate) entry: Entry,
    /// Set if its servant is active under another id (where the map indexes servants).
    pub(crate) remains: bool,
}

impl Deactivated {
    /// Returns the id under which it was active.
    pub(crate) fn id(&self) -> Vec<u8> {
        self.entry.id.octets(self.entry_id)
    }
}

/// Listener for the end of deactivated objects.
pub(crate) trait OnDeactivated: Send + Sync {
    /// Handles the end of an object. Called once for each object, without any lock held, on the
    /// thread that left last; the object's id and entry are free when this has returned. Must not
    /// wait for a deactivation itself.
    fn deactivated(&self, object: Deactivated);

    /// Called after that, when the id and the entry are free.
    fn freed(&self) {}
}

/// Reason why an object was not activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The id is active.
    ObjectAlreadyActive,
    /// The servant is active at this entry.
    ServantAlreadyActive(EntryId),
    /// The id is still being deactivated: [`super::ActiveMap::wait_while_closing`].
    Closing,
    /// There are no more entries.
    Full,
    /// The map is closed permanently ([`super::ActiveMap::close_for_good`]).
    Gone,
    /// The id is not in the set of the perfect hash.
    NotInTheSet,
    /// References to the object were made with another policy of its own.
    OwnPolicyDiffers,
}

impl From<ConflictingPolicy> for Refused {
    fn from(_: ConflictingPolicy) -> Self {
        Self::OwnPolicyDiffers
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("id", &self.id)
            .field("servant", &self.servant.identity())
            .finish()
    }
}
