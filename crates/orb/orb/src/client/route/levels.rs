//! Stack of lists of endpoints that a call may try: the list of the original reference, and one for
//! each forward that was followed.

use crate::client::target::Target;
use crate::lane::Endpoint;
use std::sync::Arc;

/// Lists of the endpoints that one call may try, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Levels(Vec<Level>);

/// One list of endpoints, and the index of the endpoint that is currently tried.
#[derive(Debug)]
struct Level {
    target: Arc<Target>,
    endpoints: Vec<Arc<Endpoint>>,
    at: usize,
}

impl Levels {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the endpoints of the reference to which the call was forwarded, as the innermost list.
    /// The endpoint `first` is tried first, if it is in the list.
    pub(super) fn push(
        &mut self,
        target: Arc<Target>,
        endpoints: Vec<Arc<Endpoint>>,
        first: Option<&Arc<Endpoint>>,
    ) {
        let at = first.and_then(|first| endpoints.iter().position(|one| one.is_same(first)));
        self.0.push(Level {
            target,
            endpoints,
            at: at.unwrap_or(0),
        });
    }

    /// Removes the list of endpoints that was added last.
    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    /// Removes the list of a target that leads to the same profiles as `to`, and those that it was forwarded to. Returns that
    /// target, if there is one.
    pub(super) fn return_to(&mut self, to: &Target) -> Option<Arc<Target>> {
        let profiles = &to.ior().profiles;
        let mut targets = self.0.iter().map(|level| &level.target);
        let at = targets.position(|target| target.ior().profiles == *profiles)?;
        let level = self.0.drain(at..).next();
        level.map(|level| level.target)
    }

    /// Returns the target whose list of endpoints was added last.
    pub(super) fn target(&self) -> Option<&Arc<Target>> {
        self.0.last().map(|level| &level.target)
    }

    /// Returns the endpoint that the call currently tries.
    pub(super) fn endpoint(&self) -> Option<&Arc<Endpoint>> {
        self.0.last()?.current()
    }

    /// Moves on to the next endpoint of the innermost list.
    pub(super) fn next_endpoint(&mut self) {
        if let Some(level) = self.0.last_mut() {
            level.at += 1;
        }
    }

    /// Moves on to the next profile after the one that is currently tried.
    pub(super) fn skip_profile(&mut self) {
        if let Some(level) = self.0.last_mut() {
            level.skip_profile();
        }
    }

    /// Removes the innermost lists whose endpoints have all failed. The call then continues in the
    /// list below, at the profile after the one that forwarded it.
    pub(super) fn leave_exhausted(&mut self) {
        while self.0.last().is_some_and(|level| level.current().is_none()) {
            self.pop();
            self.skip_profile();
        }
    }

    /// Returns whether the endpoint that is currently tried is not the first one of the outermost
    /// list.
    pub(super) fn is_past_first(&self) -> bool {
        self.depth() > 1 || self.0.first().is_some_and(|level| level.at > 0)
    }

    /// Returns the target of each list with its current endpoint, the outermost first.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Arc<Target>, Option<&Arc<Endpoint>>)> {
        self.0.iter().map(|level| (&level.target, level.current()))
    }
}

impl Level {
    /// Returns the endpoint that is currently tried; `None` if all have failed.
    fn current(&self) -> Option<&Arc<Endpoint>> {
        self.endpoints.get(self.at)
    }

    /// Moves on to the next endpoint that belongs to another profile.
    fn skip_profile(&mut self) {
        let Some(failed) = self.current().map(|one| one.profile) else {
            return;
        };
        let behind = self.endpoints.iter().skip(self.at);
        self.at += behind.take_while(|one| one.profile == failed).count();
    }
}
