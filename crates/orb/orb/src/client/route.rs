//! Route of a call: through the profiles of its reference, and of the references that it is forwarded to.
//!
//! 1. A call first follows the path that led an earlier call to success ([`Path`]).
//! 2. Otherwise the route is a list of endpoints, tried in turn until one can be reached ([`bind`]).
//! 3. A forward adds a nested list in the place of the profile that was forwarded ([`levels`]). When all of it has failed,
//!    the call goes on with the profile behind that one (Schmidt et al. 2001, §3.3.5 and §4.7, figure 12). Lists nest to a
//!    configurable depth, which also ends loops.
//! 4. When a remembered path or all lists fail, the call begins once more at the reference itself, since an object may be
//!    back where it was.
//! 5. The path of a call that succeeded is remembered.

mod allowance;
mod bind;
mod levels;

use allowance::Allowance;
use levels::Levels;

use super::failure::{Failure, exhausted, too_many_forwards};
use super::path::Path;
use super::preference::chosen;
use super::remote::Callee;
use super::target::Target;
use crate::exception::SystemException;
use crate::lane::{Binding, Endpoint};
use crate::policy::{Effective, Rebind};
use punctual_exec::Deadline;
use std::sync::Arc;

/// Forwards that one call follows in all, for each level that may nest.
const FORWARDS_A_LEVEL: u32 = 16;

/// Route of one call. The called object is passed to each of its functions, so that it borrows nothing.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) effective: Arc<Effective>,
    two_way: bool,
    /// True if the reference may only be called where it was called before ([`Rebind`]).
    is_held: bool,
    /// The remembered path that the call follows as long as `levels` is empty.
    path: Option<Arc<Path>>,
    levels: Levels,
    failures: Vec<Failure>,
    restarted: bool,
    forwards: u32,
    /// True if the route holds for this call alone, as an interceptor has forwarded it.
    is_for_one_call: bool,
    allowance: Allowance,
}

impl Route {
    /// Returns the route by the remembered path, if there is one; takes no lock then, and allocates nothing.
    pub(super) fn new(callee: &Callee<'_>, effective: Arc<Effective>, two_way: bool) -> Self {
        let path = callee.path_under(&effective, two_way);
        Self {
            allowance: Allowance::new(callee.broker().config()),
            is_held: path.is_some() && effective.rebind != Rebind::Transparent,
            path,
            effective,
            two_way,
            levels: Levels::default(),
            failures: Vec::new(),
            restarted: false,
            forwards: 0,
            is_for_one_call: false,
        }
    }

    /// Returns a route that may lead elsewhere than the last call's, regardless of the policies.
    pub(super) fn bound_anew(mut self) -> Self {
        self.is_held = false;
        self
    }

    /// Returns whether it may lead only where the last call's led.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Finds the endpoint to which the call goes first, if there is no path.
    pub(super) fn begin(&mut self, callee: &Callee<'_>) {
        if self.path.is_none() {
            self.expand(callee);
        }
    }

    /// Returns the reference that the endpoint tried now belongs to.
    pub(super) fn target<'t>(&'t self, callee: &Callee<'t>) -> &'t Arc<Target> {
        let followed = || self.path.as_ref()?.levels.last().map(|(target, _)| target);
        let target = self.levels.target().or_else(followed);
        target.unwrap_or_else(|| callee.object.original())
    }

    /// Returns the index of the profile of [`Route::target`] that is tried now.
    pub(super) fn profile(&self) -> usize {
        let endpoint = if self.levels.is_empty() {
            let followed = self.path.as_ref().and_then(|path| path.levels.last());
            followed.and_then(|(_, endpoint)| endpoint.as_ref())
        } else {
            self.levels.endpoint()
        };
        endpoint.map_or(0, |endpoint| endpoint.profile)
    }

    /// Returns whether a forward led to the endpoint tried now.
    pub(super) fn is_forwarded(&self) -> bool {
        if self.levels.is_empty() {
            self.path.as_ref().is_some_and(|path| path.levels.len() > 1)
        } else {
            self.levels.depth() > 1
        }
    }

    /// Follows a forward of the server.
    ///
    /// # Errors
    /// TRANSIENT when forwards nest too deep, as they do in a loop.
    pub(super) fn forward(
        &mut self,
        callee: &Callee<'_>,
        to: Target,
        permanently: bool,
    ) -> Result<(), SystemException> {
        self.expand(callee);
        let limit = callee.broker().config().max_forwards;
        self.forwards += 1;
        let depth = u32::try_from(self.levels.depth()).unwrap_or(u32::MAX);
        if depth > limit || self.forwards > limit.saturating_mul(FORWARDS_A_LEVEL) {
            return Err(too_many_forwards(limit, self.target(callee), to.ior()));
        }
        let target = Arc::new(to);
        if permanently {
            self.levels.pop();
            if self.levels.is_empty() {
                callee.object.move_to(target.clone());
            }
        }
        self.enter(callee, target, None);
        Ok(())
    }

    /// Follows a forward of an interceptor, which holds for this call and no other.
    ///
    /// # Errors
    /// As of [`Route::forward`].
    pub(super) fn forward_once(
        &mut self,
        callee: &Callee<'_>,
        to: Target,
    ) -> Result<(), SystemException> {
        self.is_for_one_call = true;
        self.forward(callee, to, false)
    }

    /// Goes on behind the profile tried now, which failed; `false` when that was the last, and the call may not begin again.
    pub(super) fn go_on(&mut self, callee: &Callee<'_>, failure: SystemException) -> bool {
        self.expand(callee);
        self.failures.push(Failure::Raised(failure));
        if self.is_held {
            return false;
        }
        self.levels.skip_profile();
        self.levels.leave_exhausted();
        !self.levels.is_empty() || self.restart(callee)
    }

    /// Returns the failure to report when the call does not go on.
    pub(super) fn failure(&mut self, deadline: Deadline) -> SystemException {
        exhausted(&mut self.failures, deadline)
    }

    /// Begins again at the original reference, once, if the call has been anywhere else: behind a forward of its own or of
    /// an earlier call, a permanent one included, or at another endpoint than the first (CORBA 3.3 part 2, §9.6).
    pub(super) fn restart(&mut self, callee: &Callee<'_>) -> bool {
        let began_late = self.path.as_ref().is_some_and(|path| path.began_late);
        let has_moved = !Arc::ptr_eq(&callee.object.base(), callee.object.original());
        let elsewhere = self.forwards > 0 || self.is_forwarded() || began_late || has_moved;
        if self.restarted || !elsewhere || self.is_held {
            return false;
        }
        self.restarted = true;
        self.path = None;
        self.levels.clear();
        callee.object.forget();
        self.enter(callee, callee.object.base(), None);
        true
    }

    /// Remembers the path of the call, which has succeeded.
    pub(super) fn remember(&self, callee: &Callee<'_>, binding: &Binding) {
        if self.levels.is_empty() || self.is_for_one_call {
            return;
        }
        let object = callee.object;
        let steps = self.levels.steps();
        let steps = steps.map(|(target, endpoint)| (target.clone(), endpoint.cloned()));
        let began_late =
            self.levels.is_past_first() || !Arc::ptr_eq(&object.base(), object.original());
        let (effective, steps) = (self.effective.clone(), steps.collect());
        let path = Path::new(callee.broker(), effective, binding, steps, began_late);
        let path = Arc::new(path);
        if !self.meets_one_way_endpoints(callee) {
            callee.remember(!self.two_way, path.clone());
        }
        callee.remember(self.two_way, path);
    }

    /// Returns whether some endpoints on the route carry one-ways only. Each kind of call keeps to a path of its own then.
    fn meets_one_way_endpoints(&self, callee: &Callee<'_>) -> bool {
        let broker = callee.broker();
        let is_one_way = |one: &Arc<Endpoint>| !one.pair.messaging.abilities().two_way;
        self.levels.steps().any(|(target, _)| {
            let all = target.endpoints(broker);
            all.is_ok_and(|all| all.iter().any(is_one_way))
        })
    }

    /// Makes lists of the path that was followed so far, or of the reference itself.
    fn expand(&mut self, callee: &Callee<'_>) {
        if !self.levels.is_empty() {
            return;
        }
        match self.path.clone() {
            Some(path) => {
                for (target, endpoint) in &path.levels {
                    self.enter(callee, target.clone(), endpoint.as_ref());
                }
            }
            None => self.enter(callee, callee.object.base(), None),
        }
    }

    /// Tries the endpoints of `target` from now on, the given one first. If it has no usable
    /// endpoint, that is its failure.
    fn enter(&mut self, callee: &Callee<'_>, target: Arc<Target>, first: Option<&Arc<Endpoint>>) {
        let endpoints = chosen(&target, callee.lane, &self.effective, self.two_way);
        let endpoints = endpoints.unwrap_or_else(|exception| {
            self.failures.push(Failure::Raised(exception.into()));
            Vec::new()
        });
        self.levels.push(target, endpoints, first);
    }
}
