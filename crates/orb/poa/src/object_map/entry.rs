//! What is in the map.

pub(crate) use super::name::EntryId;
use super::name::Name;
use crate::own_policies::{Differs, OwnPolicies};
use crate::servant::Servant;
use std::fmt;
use std::sync::Arc;

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
    /// What it has in place of policies of its adapter's, if anything.
    pub(crate) own: Option<Arc<OwnPolicies>>,
}

/// An object that was deactivated, after the last call has left it.
#[derive(Debug)]
pub(crate) struct Deactivated {
    pub(crate) entry_id: EntryId,
    pub(crate) entry: Entry,
    /// Its servant is active under another id (where the map notes servants).
    pub(crate) remains: bool,
}

impl Deactivated {
    /// The id that it was active under.
    pub(crate) fn id(&self) -> Vec<u8> {
        self.entry.id.octets(self.entry_id)
    }
}

/// What is to be done when the last call has left an object that was deactivated.
pub(crate) trait OnDeactivated: Send + Sync {
    /// Called once for each object, without any lock held, on the thread that left last; its id and its
    /// entry are free when this has returned. Must not wait for a deactivation itself.
    fn deactivated(&self, object: Deactivated);

    /// Called after that, when the id and the entry are free.
    fn freed(&self) {}
}

/// Why an object was not activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The id is active.
    ObjectAlreadyActive,
    /// The servant is active, there.
    ServantAlreadyActive(EntryId),
    /// The id is still being deactivated: [`super::ActiveMap::wait_while_closing`].
    Closing,
    /// There are no more entries.
    Full,
    /// Nothing is activated any more ([`super::ActiveMap::close_for_good`]).
    Gone,
    /// It is none of the ids of the perfect hash.
    NotInTheSet,
    /// References to it were made with another policy of its own.
    OwnPolicyDiffers,
}

impl From<Differs> for Refused {
    fn from(_: Differs) -> Self {
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
