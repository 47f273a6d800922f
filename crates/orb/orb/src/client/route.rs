//! A call's way through the profiles of a reference and of the references it is forwarded to.
//!
//! Each forward opens another list of endpoints, which takes the place of the profile that was
//! forwarded: its endpoints are tried in turn until one succeeds, is itself forwarded, or all have
//! failed; then the call goes on with the profile behind the forwarded one (Schmidt et al. 2001, §3.3.5 and
//! §4.7, figure 12). Lists nest to a configurable depth, which also ends loops. The way that led to
//! success is remembered ([`Path`]) and tried first by the next call; when it fails, the call begins
//! once more from the reference itself, since an object may be back where it was.

use super::failure::{Failure, exhausted, must_rebind, too_many_forwards};
use super::path::Path;
use super::preference::chosen;
use super::remote::Callee;
use super::target::Target;
use crate::exception::SystemException;
use crate::fixed_context::CallPolicies;
use crate::lane::{Back, Binding, Endpoint, ServedBack, ServesBack, Wanted, chosen};
use crate::policy::{Effective, Rebind};
use crate::priority::Priority;
use punctual_exec::Deadline;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Forwards that one call follows in all, for each level that may nest.
const FORWARDS_A_LEVEL: u32 = 16;

/// One list of endpoints, and which of them is tried now.
#[derive(Debug)]
struct Level {
    target: Arc<Target>,
    endpoints: Vec<Arc<Endpoint>>,
    at: usize,
}

/// One call's way. The object that is called is handed to each of its functions, so that it borrows nothing.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) effective: Arc<Effective>,
    two_way: bool,
    /// Whether the reference may only be called where it was called before ([`Rebind`]).
    is_held: bool,
    /// The remembered path that the call follows as long as `levels` is empty.
    path: Option<Arc<Path>>,
    levels: Vec<Level>,
    failures: Vec<Failure>,
    restarted: bool,
    forwards: u32,
    /// Whether the way holds for this call alone, as an interceptor has forwarded it.
    is_for_one_call: bool,
    /// How long connections may yet be set up.
    reach: Option<Duration>,
    /// Endpoints that may yet be tried.
    tries: usize,
}

impl Route {
    /// By the remembered path, if there is one; takes no lock then, and allocates nothing.
    pub(super) fn new(callee: &Callee<'_>, effective: Arc<Effective>, two_way: bool) -> Self {
        let config = callee.broker().config();
        let path = callee.path_under(&effective, two_way);
        Self {
            reach: config.timeouts.reach,
            tries: config.budgets.endpoints,
            is_held: path.is_some() && effective.rebind != Rebind::Transparent,
            path,
            effective,
            two_way,
            levels: Vec::new(),
            failures: Vec::new(),
            restarted: false,
            forwards: 0,
            is_for_one_call: false,
        }
    }

    /// May lead elsewhere than where it led before, whatever the policies say.
    pub(super) fn bound_anew(mut self) -> Self {
        self.is_held = false;
        self
    }

    /// Whether it may lead only where it led before.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// A connection to the endpoint that is to be tried now, or to the first behind it that can be
    /// reached. Blocks for a connection's set-up.
    ///
    /// # Errors
    /// When there is none left: TRANSIENT, or what the only endpoint failed with.
    pub(super) fn bind(
        &mut self,
        callee: &Callee<'_>,
        deadline: Deadline,
    ) -> Result<Binding, SystemException> {
        if self.levels.is_empty() {
            let mux = self.effective.mux;
            let path = self.path.as_ref();
            let warm = path.and_then(|path| path.bound.binding(mux, deadline));
            if let Some(binding) = warm.filter(|warm| self.suits(warm)) {
                return Ok(self.bound(binding));
            }
            if self.is_held && self.effective.rebind == Rebind::NoReconnect {
                return Err(must_rebind("the connection has ended"));
            }
        }
        let broker = callee.broker();
        broker.check_not_over()?;
        self.spread_out(callee);
        loop {
            let Some(level) = self.levels.last() else {
                if self.restart(callee) {
                    continue;
                }
                return Err(exhausted(&mut self.failures, deadline));
            };
            let Some(endpoint) = level.endpoints.get(level.at).cloned() else {
                self.leave_level();
                continue;
            };
            if let Some(setting) = self.has_tried_enough() {
                self.failures.push(Failure::NoMore(setting));
                return Err(exhausted(&mut self.failures, deadline));
            }
            if let Some(connection) = level.target.way_back(&endpoint) {
                return Ok(self.bound(Binding::shared(connection, endpoint)));
            }
            let (is_private, band) = self.exclusiveness(callee, &endpoint);
            let wanted = Wanted {
                private_to: is_private.then(|| callee.object.number()),
                band: band.clone(),
                back: self.served_back(callee),
                properties: self.effective.properties(endpoint.pair.link.name()),
                mux: self.effective.mux,
                wait: self.effective.wait,
            };
            // Each has a term of its own: one that does not answer takes none of the others'.
            let term = self.effective.connect.or(broker.config().timeouts.connect);
            let term = Deadline::after_maybe(term);
            let until = deadline
                .earlier(term)
                .earlier(Deadline::after_maybe(self.reach));
            let began = Instant::now();
            let bound = callee.lane.bind(&endpoint, wanted, until);
            let address = &endpoint.address;
            let bound = bound.map_err(|error| Failure::Link(address.clone(), error));
            if let Ok(binding) = &bound
                && is_private
            {
                callee.object.owns(&binding.connection);
            }
            let bound = bound.and_then(|binding| match &band {
                Some(band) => self.bind_to_band(callee, binding, band, until),
                None => Ok(binding),
            });
            self.reach = self.reach.map(|left| left.saturating_sub(began.elapsed()));
            match bound {
                Ok(binding) => return Ok(self.bound(binding)),
                Err(failure) => {
                    self.failures.push(failure);
                    if self.is_held {
                        return Err(exhausted(&mut self.failures, deadline));
                    }
                    self.tries -= 1;
                    if let Some(level) = self.levels.last_mut() {
                        level.at += 1;
                    }
                }
            }
        }
    }

    /// Whether calls go to an endpoint by a connection of the reference's own, and the band of it, if it has one.
    fn exclusiveness(
        &self,
        callee: &Callee<'_>,
        endpoint: &Endpoint,
    ) -> (bool, Option<RangeInclusive<Priority>>) {
        let Some(known) = &callee.broker().priorities else {
            return (false, None);
        };
        let policies = CallPolicies(&self.effective);
        // Where policies allow none there are no endpoints.
        let destination = known.destination(policies, callee.lane.priority()).ok();
        let band = destination.and_then(|it| it.band_to(endpoint.qualities.priority));
        (known.is_private(policies), band)
    }

    /// How the server's calls are served that come by the connection, if they are to be.
    fn served_back(&self, callee: &Callee<'_>) -> Option<Arc<dyn ServesBack>> {
        let by = callee
            .broker()
            .back
            .get()
            .filter(|_| self.effective.bidirectional)?;
        Some(Arc::new(ServedBack {
            by: by.clone().downcast::<Back>().ok()?,
            lane: callee.lane.clone(),
        }))
    }

    /// The setting by which no more endpoints are tried.
    fn has_tried_enough(&self) -> Option<&'static str> {
        if self.tries == 0 {
            return Some("limits.endpoints");
        }
        let is_over = self.reach.is_some_and(|left| left.is_zero());
        is_over.then_some("timeouts.reach_ms")
    }

    /// One-ways keep their thread where they have left.
    fn bound(&self, binding: Binding) -> Binding {
        if !self.two_way {
            chosen::pin(&binding.connection);
        }
        binding
    }

    fn suits(&self, warm: &Binding) -> bool {
        !self.two_way || warm.connection.wire.abilities.two_way
    }

    /// The reference that the endpoint tried now belongs to.
    pub(super) fn target<'t>(&'t self, callee: &Callee<'t>) -> &'t Arc<Target> {
        let followed = self.path.as_ref().and_then(|path| path.levels.last());
        match (self.levels.last(), followed) {
            (Some(level), _) => &level.target,
            (None, Some((target, _))) => target,
            (None, None) => callee.object.original(),
        }
    }

    /// Finds out where the call goes first, where no path says it.
    pub(super) fn begins(&mut self, callee: &Callee<'_>) {
        if self.path.is_none() {
            self.spread_out(callee);
        }
    }

    /// Which of the profiles of [`Route::target`] is tried now.
    pub(super) fn profile(&self) -> usize {
        let followed = self.path.as_ref().and_then(|path| path.levels.last());
        let endpoint = match (self.levels.last(), followed) {
            (Some(level), _) => level.endpoints.get(level.at),
            (None, Some((_, endpoint))) => endpoint.as_ref(),
            (None, None) => None,
        };
        endpoint.map_or(0, |endpoint| endpoint.profile)
    }

    /// Whether a forward led to the endpoint tried now.
    pub(super) fn is_forwarded(&self) -> bool {
        if self.levels.is_empty() {
            self.path.as_ref().is_some_and(|path| path.levels.len() > 1)
        } else {
            self.levels.len() > 1
        }
    }

    /// The server has sent the call elsewhere.
    ///
    /// # Errors
    /// TRANSIENT when forwards nest too deep, as they do in a loop.
    pub(super) fn forward(
        &mut self,
        callee: &Callee<'_>,
        to: Target,
        permanently: bool,
    ) -> Result<(), SystemException> {
        self.spread_out(callee);
        let limit = callee.broker().config().max_forwards;
        self.forwards += 1;
        let depth = u32::try_from(self.levels.len()).unwrap_or(u32::MAX);
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

    /// An interceptor has sent the call elsewhere: this one, and no other.
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

    /// Goes on behind the profile tried now, which failed; `false` when that was the last, and there is
    /// no way to begin anew.
    pub(super) fn go_on(&mut self, callee: &Callee<'_>, failure: SystemException) -> bool {
        self.spread_out(callee);
        self.failures.push(Failure::Raised(failure));
        if self.is_held {
            return false;
        }
        if let Some(level) = self.levels.last_mut() {
            level.skip_profile();
        }
        while self.levels.last().is_some_and(|level| level.is_done()) {
            self.leave_level();
        }
        !self.levels.is_empty() || self.restart(callee)
    }

    /// The failure to report when the call does not go on.
    pub(super) fn give_up(&mut self, deadline: Deadline) -> SystemException {
        exhausted(&mut self.failures, deadline)
    }

    /// Begins anew from the reference itself, once, if the call had not begun there, at its first
    /// endpoint.
    pub(super) fn restart(&mut self, callee: &Callee<'_>) -> bool {
        let elsewhere =
            self.is_forwarded() || self.path.as_ref().is_some_and(|path| path.began_late);
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

    /// Remembers the way that the call has gone.
    pub(super) fn remember(&self, callee: &Callee<'_>, binding: &Binding) {
        if self.levels.is_empty() || self.is_for_one_call {
            return;
        }
        let broker = callee.broker();
        // Where some endpoints carry one-ways only, each kind of call keeps to a way of its own.
        let one_way_only = self.levels.iter().any(|level| {
            let all = level.target.endpoints(broker);
            all.is_ok_and(|all| {
                all.iter()
                    .any(|one| !one.pair.messaging.abilities().two_way)
            })
        });
        let levels = self.levels.iter();
        let levels =
            levels.map(|level| (level.target.clone(), level.endpoints.get(level.at).cloned()));
        let object = callee.object;
        let began_late = self.levels.len() > 1
            || self.levels.first().is_some_and(|level| level.at > 0)
            || !Arc::ptr_eq(&object.base(), object.original());
        let effective = self.effective.clone();
        let levels = levels.collect();
        let path = Path::new(callee.broker(), effective, binding, levels, began_late);
        let path = Arc::new(path);
        if !one_way_only {
            callee.remember(!self.two_way, path.clone());
        }
        callee.remember(self.two_way, path);
    }

    /// Makes levels of the path that was followed so far, or of the reference itself.
    fn spread_out(&mut self, callee: &Callee<'_>) {
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

    /// Tries the endpoints of `target` from now on, first the one given. If it has none that can be used,
    /// that is its failure.
    fn enter(&mut self, callee: &Callee<'_>, target: Arc<Target>, first: Option<&Arc<Endpoint>>) {
        let endpoints = chosen(&target, callee.lane, &self.effective, self.two_way);
        let endpoints = endpoints.unwrap_or_else(|exception| {
            self.failures.push(Failure::Raised(exception.into()));
            Vec::new()
        });
        let at = first
            .and_then(|first| endpoints.iter().position(|one| one.is_same(first)))
            .unwrap_or(0);
        self.levels.push(Level {
            target,
            endpoints,
            at,
        });
    }

    /// All endpoints of the innermost list have failed: on behind the profile that was forwarded.
    fn leave_level(&mut self) {
        self.levels.pop();
        if let Some(outer) = self.levels.last_mut() {
            outer.skip_profile();
        }
    }
}

impl Level {
    fn is_done(&self) -> bool {
        self.at >= self.endpoints.len()
    }

    /// On to the next endpoint that is not of the profile tried now.
    fn skip_profile(&mut self) {
        let Some(failed) = self.endpoints.get(self.at).map(|one| one.profile) else {
            return;
        };
        let behind = self.endpoints.iter().skip(self.at);
        self.at += behind.take_while(|one| one.profile == failed).count();
    }
}
