//! Stores that several naming servers change.

use std::sync::Arc;

use super::StoreError;
use super::change::{Change, ContextId, Loading, Target};

/// Fact that a change depends on, as the requesting server has seen it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A name has the given target, or is unbound.
    Bound {
        /// Id of the context of the name.
        context: ContextId,
        /// Component of the name, as `id` or `id NUL kind`.
        key: Box<str>,
        /// Target to which the name is bound; `None` if unbound.
        target: Option<Target>,
    },
    /// The context with this id exists.
    Present(ContextId),
    /// The context with this id has no bindings.
    Empty(ContextId),
}

/// Receiver of the changes made to a shared naming store.
pub trait Follower: Send + Sync {
    /// Applies changes of the store's records in the given order.
    fn changed(&self, changes: Vec<Change>);

    /// Replaces all contents by the records that `load` passes on; earlier reported changes may
    /// have become invalid.
    ///
    /// # Errors
    /// Those of `load`, and an error if its records are incomplete. The previous contents then
    /// stay.
    fn replaced(
        &self,
        load: &mut dyn FnMut(&mut dyn Loading) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;
}

/// Naming store that several servers can change at the same time.
pub trait SharedStore {
    /// Reports all changes after the contents that [`Store::load`](super::Store::load) has passed
    /// on to `follower`, until the store is dropped. Called once.
    ///
    /// # Errors
    /// The system cannot start a thread.
    fn follow(&self, follower: Arc<dyn Follower>) -> Result<(), StoreError>;

    /// Stores changes, all or nothing, if all facts are true; returns `true` if they are. By the
    /// time that it returns, the follower has received these changes, or those that have made a
    /// fact false.
    ///
    /// # Errors
    /// [`StoreError::Away`]: nothing was changed. [`StoreError::Unknown`]: the changes may have
    /// been made.
    fn commit_if(&self, facts: &[Fact], changes: &[Change]) -> Result<bool, StoreError>;

    /// Returns the maximum number of facts, and of changes, in one commit.
    fn most(&self) -> usize;

    /// Returns when the follower has received all changes that any server had acknowledged before
    /// this call.
    ///
    /// # Errors
    /// [`StoreError::Away`].
    fn catch_up(&self) -> Result<(), StoreError>;

    /// Checks that names may be resolved from the follower's contents: they are recent enough, or
    /// stale reads are permitted.
    ///
    /// # Errors
    /// The contents are too old, as the store cannot be reached.
    fn check_current(&self) -> Result<(), StoreError>;

    /// Checks that the store has answered recently.
    ///
    /// # Errors
    /// The store has not answered.
    fn check_reached(&self) -> Result<(), StoreError>;
}
