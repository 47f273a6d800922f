//! Entries of the active object map.

pub(crate) use super::name::EntryId;
use super::name::Name;
use crate::own_policies::{ConflictingPolicy, OwnPolicies};
use crate::servant::Servant;
use std::fmt;
use std::sync::Arc;

/// Source of the object ids: the map or the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    /// The map assigns ids to objects that are activated without one.
    System,
    /// The application chooses ids.
    User,
}

/// Active object, in the form that its slot of the map stores.
pub(crate) struct Entry {
    /// Object id under which the object is active.
    pub(crate) id: Name,
    /// Servant of the activation; [`super::Pinned::forwarded`] returns whether calls have been
    /// forwarded since.
    pub(crate) servant: Arc<dyn Servant>,
    /// The object's own policies in place of its adapter's, if it has any.
    pub(crate) own: Option<Arc<OwnPolicies>>,
}

/// Deactivated object whose last call has ended.
#[derive(Debug)]
pub(crate) struct Deactivated {
    pub(crate) entry_id: EntryId,
    pub(crate) entry: Entry,
    /// Set if the object's servant is still active under another id (where the map indexes
    /// servants).
    pub(crate) remains: bool,
}

impl Deactivated {
    /// Returns the id under which the object was active.
    pub(crate) fn id(&self) -> Vec<u8> {
        self.entry.id.octets(self.entry_id)
    }
}

/// Listener for objects that have been deactivated and whose last call has ended.
pub(crate) trait OnDeactivated: Send + Sync {
    /// Releases a deactivated object. Called once for each object, without any lock held, on the
    /// thread whose call was the last; the object's id and entry are free when this has returned.
    /// Must not wait for a deactivation itself.
    fn deactivated(&self, object: Deactivated);

    /// Called after [`OnDeactivated::deactivated`], once the id and the entry are free.
    fn freed(&self) {}
}

/// Reason why an object could not be activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// An object with this id is already active.
    ObjectAlreadyActive,
    /// The servant is already active; the object is in this entry of the map.
    ServantAlreadyActive(EntryId),
    /// An object with the id is still being deactivated: [`super::ActiveMap::wait_while_closing`].
    Closing,
    /// The maximum number of objects in the map has been reached.
    Full,
    /// The active object map is closed permanently ([`super::ActiveMap::close_for_good`]).
    Gone,
    /// The id is not one of those known to the perfect hash.
    NotInTheSet,
    /// References to the object were made with a policy of its own that differs from the given one.
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
