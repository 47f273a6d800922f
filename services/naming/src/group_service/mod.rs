//! The group service that has the groups of names, if one is set: then a group's name leads to a group of that
//! service, whose number follows from the number of the group's context, and the members are there only.
//!
//! The tree has copies of the members, as bindings of the group's context that are not in the store: so names are resolved as
//! without a group service, without a call, and also while it cannot be reached. A server that has begun meanwhile has no
//! copies, and no members.

mod calls;
mod copies;

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use punctual::{ObjectRef, Orb, SystemException};

use crate::store::ContextId;

pub(crate) use calls::GroupCalls;
pub(crate) use copies::Copies;

/// Group service, and the copies of its groups.
#[derive(Debug)]
pub(crate) struct GroupService {
    pub(crate) calls: Arc<GroupCalls>,
    pub(crate) copies: Copies,
    /// Held while groups are made or removed, so that none is made again that is being removed.
    pub(crate) making: Mutex<()>,
    /// Contexts of groups that have moved with all members, which the store has still.
    pub(crate) moved: Mutex<BTreeSet<ContextId>>,
    /// Contexts of groups whose names are unbound, and which the group service is to remove.
    pub(crate) unbound: Mutex<BTreeSet<ContextId>>,
}

impl GroupService {
    /// Returns the group service that an ORB calls by this reference, each time within so long. It is not called yet.
    ///
    /// # Errors
    /// The text is no reference.
    pub(crate) fn at(
        orb: &Orb,
        reference: &str,
        within: std::time::Duration,
    ) -> Result<Self, SystemException> {
        let object: ObjectRef = orb.string_to_object(reference)?;
        Ok(Self {
            calls: Arc::new(GroupCalls::new(orb, &object.with_timeout(within))),
            copies: Copies::default(),
            making: Mutex::new(()),
            moved: Mutex::default(),
            unbound: Mutex::default(),
        })
    }

    /// Notes that a group's name is unbound.
    pub(crate) fn name_is_unbound(&self, context: ContextId) {
        self.copies.forget(context);
        self.moved.lock().remove(&context);
        self.unbound.lock().insert(context);
    }
}

/// First of the numbers of groups that the group service leaves to others (`PunctualGroups::Administration::adopt_group`).
const FIRST_CHOSEN: u64 = 1 << 63;

/// Returns the number of the group of a context, which is random, as are its lower 63 bits.
pub(crate) const fn group_of(context: ContextId) -> u64 {
    context | FIRST_CHOSEN
}
