//! Route of a call: through the profiles of its reference, and of the references that it is forwarded to.
//!
//! 1. A call first follows the path on which an earlier call succeeded ([`Path`]).
//! 2. Otherwise the route is a list of endpoints, tried in turn until one can be reached ([`bind`]).
//! 3. A forward adds a nested list in place of the forwarding profile ([`levels`]). When all endpoints of that list
//!    have failed, the call continues with the profile after the forwarding one (Schmidt et al. 2001, §3.3.5 and §4.7,
//!    figure 12). Lists nest to a configurable depth, which also ends loops.
//! 4. When a remembered path or all lists fail, the call starts once more at the original reference, since the object
//!    may have moved back.
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
use punctual_ior::FtGroup;
use std::sync::Arc;

/// Number of forwards that one call follows in total, for each permitted level of nesting.
const FORWARDS_A_LEVEL: u32 = 16;

/// Route of one call. The called object is passed to each of its functions, so that it borrows nothing.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) effective: Arc<Effective>,
    two_way: bool,
    /// True if the call may go only to the endpoint where the reference is already bound
    /// ([`Rebind`]).
    is_held: bool,
    /// The remembered path that the call follows as long as `levels` is empty.
    path: Option<Arc<Path>>,
    levels: Levels,
    failures: Vec<Failure>,
    restarted: bool,
    forwards: u32,
    /// True if the route is not remembered for later calls, as an interceptor has forwarded this
    /// call.
    is_for_one_call: bool,
    allowance: Allowance,
}

impl Route {
    /// Returns the route by the remembered path, if there is one; in that case it takes no lock and does not
    /// allocate.
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

    /// Returns a route on which the call may be bound to another endpoint than the last call,
    /// regardless of the Rebind policy.
    pub(super) fn bound_anew(mut self) -> Self {
        self.is_held = false;
        self
    }

    /// Returns whether the call may go only to the endpoint to which the reference is already
    /// bound.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Finds the first endpoint to try, unless there is a remembered path.
    pub(super) fn begin(&mut self, callee: &Callee<'_>) {
        if self.path.is_none() {
            self.expand(callee);
        }
    }

    /// Returns the target (original or forwarded) whose endpoint is currently tried.
    pub(super) fn target<'t>(&'t self, callee: &Callee<'t>) -> &'t Arc<Target> {
        let followed = || self.path.as_ref()?.levels.last().map(|(target, _)| target);
        let target = self.levels.target().or_else(followed);
        target.unwrap_or_else(|| callee.object.original())
    }

    /// Returns the index, within [`Route::target`], of the profile that is currently tried.
    pub(super) fn profile(&self) -> usize {
        let endpoint = if self.levels.is_empty() {
            let followed = self.path.as_ref().and_then(|path| path.levels.last());
            followed.and_then(|(_, endpoint)| endpoint.as_ref())
        } else {
            self.levels.endpoint()
        };
        endpoint.map_or(0, |endpoint| endpoint.profile)
    }

    /// Returns whether a forward led to the endpoint that is currently tried.
    pub(super) fn is_forwarded(&self) -> bool {
        if self.levels.is_empty() {
            self.path.as_ref().is_some_and(|path| path.levels.len() > 1)
        } else {
            self.levels.depth() > 1
        }
    }

    /// Returns the version of the group that the call has reached: that of the innermost reference of one. `None` if there
    /// is no group, or the ORB does not call groups.
    pub(super) fn group_version(&self, callee: &Callee<'_>) -> Option<u32> {
        self.stated_group(callee).map(|group| group.version)
    }

    fn stated_group(&self, callee: &Callee<'_>) -> Option<FtGroup> {
        callee.broker().groups()?;
        let group = |target: &Arc<Target>| target.stated().group.clone();
        let followed = || {
            let mut path = self.path.iter().flat_map(|path| path.levels.iter().rev());
            path.find_map(|(target, _)| group(target))
        };
        let mut levels: Vec<&Arc<Target>> = self.levels.steps().map(|(target, _)| target).collect();
        levels.reverse();
        let entered = levels.into_iter().find_map(group);
        entered
            .or_else(followed)
            .or_else(|| group(&callee.object.base()))
    }

    /// Returns whether a forward leads to a newer version of the group that the call has reached: it then replaces the
    /// reference (CORBA 3.0, §23.2.6).
    pub(super) fn is_newer_group(&self, callee: &Callee<'_>, to: &Target) -> bool {
        let Some(reached) = self.stated_group(callee) else {
            return false;
        };
        let newer =
            |group: &FtGroup| group.is_same_group(&reached) && group.version > reached.version;
        to.stated().group.as_ref().is_some_and(newer)
    }

    /// Begins again at the first member of a group, all of whose members have failed.
    pub(super) fn begin_again(&mut self, callee: &Callee<'_>) {
        self.allowance = Allowance::new(callee.broker().config());
        self.failures.clear();
        self.restarted = false;
        self.path = None;
        self.levels.clear();
        self.enter(callee, callee.object.base(), None);
    }

    /// Follows a server's forward.
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
        // A member of a group that leads its clients back to the group: the path that earlier calls have followed does not grow.
        if self.forwards == 1
            && self.path.is_some()
            && !permanently
            && let Some(target) = self.levels.return_to(&to)
        {
            self.enter(callee, target, None);
            return Ok(());
        }
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

    /// Follows an interceptor's forward, which applies to this call only.
    ///
    /// # Errors
    /// Those of [`Route::forward`].
    pub(super) fn forward_once(
        &mut self,
        callee: &Callee<'_>,
        to: Target,
    ) -> Result<(), SystemException> {
        self.is_for_one_call = true;
        self.forward(callee, to, false)
    }

    /// Records the failure of the profile that is currently tried and moves on to the next one. Returns `false` if
    /// there is none left and the call may not start again.
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

    /// Returns the failure to report when no further attempt is made.
    pub(super) fn failure(&mut self, deadline: Deadline) -> SystemException {
        exhausted(&mut self.failures, deadline)
    }

    /// Starts again at the original reference, once, if the call has tried any endpoint that is not the first of the
    /// original reference: after a forward of this call or of an earlier one, permanent forwards included, or at a
    /// later endpoint (CORBA 3.3 part 2, §9.6). Returns whether it starts again.
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

    /// Returns whether some endpoints on the route carry one-ways only, in which case two-way calls and one-ways need
    /// separate paths.
    fn meets_one_way_endpoints(&self, callee: &Callee<'_>) -> bool {
        let broker = callee.broker();
        let is_one_way = |one: &Arc<Endpoint>| !one.pair.messaging.abilities().two_way;
        self.levels.steps().any(|(target, _)| {
            let all = target.endpoints(broker);
            all.is_ok_and(|all| all.iter().any(is_one_way))
        })
    }

    /// Fills the lists of endpoints from the path that was followed so far, or from the reference
    /// itself.
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

    /// Adds the endpoints of `target`, to which the call was forwarded, before those of the earlier
    /// targets; `first` is tried first. If `target` has no usable endpoint, records that failure.
    fn enter(&mut self, callee: &Callee<'_>, target: Arc<Target>, first: Option<&Arc<Endpoint>>) {
        let endpoints = chosen(&target, callee.lane, &self.effective, self.two_way);
        let mut endpoints = endpoints.unwrap_or_else(|exception| {
            self.failures.push(Failure::Raised(exception.into()));
            Vec::new()
        });
        if callee.broker().groups().is_some() {
            // A stable sort, so that the order is otherwise that of the policies.
            endpoints.sort_by_key(|one| !target.stated().is_primary(one.profile));
        }
        self.levels.push(target, endpoints, first);
    }
}
