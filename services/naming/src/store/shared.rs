//! Stores that several naming servers change.

use std::sync::Arc;

use super::StoreError;
use super::change::{Change, ContextId, Loading, Target};

/// Fact that a change rests upon, as the server that asks for it has seen it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A name is bound so, or not bound.
    Bound {
        /// In which context.
        context: ContextId,
        /// The component.
        key: Box<str>,
        /// To what.
        target: Option<Target>,
    },
    /// A context is there.
    Present(ContextId),
    /// A context has no bindings.
    Empty(ContextId),
}

/// Receiver of a store's changes.
pub trait Follower: Send + Sync {
    /// Records have changed, in this order.
    fn changed(&self, changes: Vec<Change>);

    /// The store has all that `load` hands over and nothing else; what was told before may not be so.
    ///
    /// # Errors
    /// Those of `load`, and where what it has is not whole. What was known before stays.
    fn replaced(
        &self,
        load: &mut dyn FnMut(&mut dyn Loading) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;
}

/// A store that others change, too.
pub trait SharedStore {
    /// Tells `follower` of all changes that come after what [`Store::load`](super::Store::load) has handed over, until
    /// the store is dropped. Called once.
    ///
    /// # Errors
    /// The system has no thread for it.
    fn follow(&self, follower: Arc<dyn Follower>) -> Result<(), StoreError>;

    /// Keeps changes, all or nothing, if all facts are so; whether they are. When it returns, the follower has been told
    /// of these changes, or of those because of which the facts are not so.
    ///
    /// # Errors
    /// [`StoreError::Away`]: nothing was done. [`StoreError::Unknown`]: it may have been done.
    fn commit_if(&self, facts: &[Fact], changes: &[Change]) -> Result<bool, StoreError>;

    /// Returns how many facts, and how many changes, one commit may have.
    fn most(&self) -> usize;

    /// Returns when the follower has been told of all that any server had acknowledged before this was called.
    ///
    /// # Errors
    /// [`StoreError::Away`].
    fn catch_up(&self) -> Result<(), StoreError>;

    /// Checks that names may be read from what the follower knows: it lacks only the latest changes, or more is permitted.
    ///
    /// # Errors
    /// It may not, as the store cannot be reached.
    fn check_current(&self) -> Result<(), StoreError>;

    /// Checks that the store has answered not long ago.
    ///
    /// # Errors
    /// It has not.
    fn check_reached(&self) -> Result<(), StoreError>;
}
