//! A call's way through the profiles of a reference and of the references it is forwarded to.
//!
//! Each forward opens another list of endpoints, which takes the place of the profile that was
//! forwarded: its endpoints are tried in turn until one succeeds, is itself forwarded, or all have
//! failed; then the call goes on with the profile behind the forwarded one (paper 000, §3.3.5 and
//! §4.7, figure 12). Lists nest to a configurable depth, which also ends loops. The way that led to
//! success is remembered ([`Path`]) and tried first by the next call; when it fails, the call begins
//! once more from the reference itself, since an object may be back where it was.

use super::endpoint_select::{Binding, Bound, Endpoint};
use super::failure::{Failure, exhausted, too_many_forwards};
use super::heads::Heads;
use super::mux::ClientConnection;
use crate::exception::{SystemException, SystemExceptionKind};
use crate::lane::Wanted;
use crate::orb::Orb;
use crate::policy::{ClientProtocols, Effective, Mux, Otherwise, Transfer, invalid};
use crate::reference::{ObjectRef, Target};
use punctual_exec::Deadline;
use punctual_ior::Ior;
use std::sync::Arc;

/// Forwards that one call follows in all, for each level that may nest.
const FORWARDS_A_LEVEL: u32 = 16;

/// The way to where a reference's last call succeeded.
#[derive(Debug)]
pub(crate) struct Path {
    /// The policies it was found under.
    pub(super) effective: Arc<Effective>,
    /// The heads of the requests that have gone it.
    pub(super) heads: Heads,
    /// Whether large arguments are lent, where the connection does that.
    pub(super) lends: bool,
    /// Whether calls with a reply, and one-ways, may go the short way ([`super::quick`]).
    quick: (bool, bool),
    /// Whether it does not begin at the reference's first endpoint, so that beginning anew is worth it.
    began_late: bool,
    /// Each list's reference, and the endpoint that was forwarded or succeeded.
    levels: Vec<(Arc<Target>, Option<Arc<Endpoint>>)>,
    bound: Bound,
}

impl Path {
    /// The connection that it led to, if that is still there.
    pub(crate) fn connection(&self) -> Option<Arc<ClientConnection>> {
        self.bound.connection()
    }

    /// Whether calls of this kind may go the short way.
    #[inline]
    pub(super) fn is_quick(&self, two_way: bool) -> bool {
        if two_way { self.quick.0 } else { self.quick.1 }
    }

    /// Where it leads.
    #[inline]
    pub(super) fn endpoint(&self) -> &Endpoint {
        self.bound.endpoint()
    }
}

/// A connection by which calls through a reference go now.
pub(crate) fn connection(object: &ObjectRef) -> Result<Arc<ClientConnection>, SystemException> {
    let effective = object.effective();
    let deadline = Deadline::after_maybe(object.timeout_under(&effective));
    let bound = |two_way| {
        let mut route = Route::new(object, effective.clone(), two_way);
        let binding = route.bind(deadline)?;
        route.remember(&binding);
        Ok(binding.connection)
    };
    // Where there are protocols for one-ways only, those.
    bound(true).or_else(|exception: SystemException| match exception.kind() {
        SystemExceptionKind::InvPolicy => bound(false),
        _ => Err(exception),
    })
}

/// One list of endpoints, and which of them is tried now.
#[derive(Debug)]
struct Level {
    target: Arc<Target>,
    endpoints: Vec<Arc<Endpoint>>,
    at: usize,
}

/// One call's way.
#[derive(Debug)]
pub(super) struct Route<'a> {
    object: &'a ObjectRef,
    pub(super) effective: Arc<Effective>,
    two_way: bool,
    /// The remembered path that the call follows as long as `levels` is empty.
    path: Option<Arc<Path>>,
    levels: Vec<Level>,
    failures: Vec<Failure>,
    restarted: bool,
    forwards: u32,
}

impl<'a> Route<'a> {
    /// By the remembered path, if there is one; takes no lock then, and allocates nothing.
    pub(super) fn new(object: &'a ObjectRef, effective: Arc<Effective>, two_way: bool) -> Self {
        let path = object.path(two_way);
        Self {
            path: path.filter(|path| path.effective.stamp == effective.stamp),
            object,
            effective,
            two_way,
            levels: Vec::new(),
            failures: Vec::new(),
            restarted: false,
            forwards: 0,
        }
    }

    /// A connection to the endpoint that is to be tried now, or to the first behind it that can be
    /// reached. Blocks for a connection's set-up.
    ///
    /// # Errors
    /// When there is none left: TRANSIENT, or what the only endpoint failed with.
    pub(super) fn bind(&mut self, deadline: Deadline) -> Result<Binding, SystemException> {
        if self.levels.is_empty() {
            let mux = self.effective.mux;
            let path = self.path.as_ref();
            let warm = path.and_then(|path| path.bound.binding(mux, deadline));
            if let Some(binding) = warm.filter(|warm| self.suits(warm)) {
                return Ok(binding);
            }
        }
        let orb = self.object.orb();
        orb.check_not_over()?;
        self.spread_out();
        loop {
            let Some(level) = self.levels.last_mut() else {
                if self.restart() {
                    continue;
                }
                return Err(exhausted(&mut self.failures, deadline));
            };
            let Some(endpoint) = level.endpoints.get(level.at).cloned() else {
                self.leave_level();
                continue;
            };
            let wanted = Wanted {
                properties: self.effective.properties(endpoint.pair.link.name()),
                mux: self.effective.mux,
                wait: self.effective.wait,
            };
            // Each has a term of its own: one that does not answer takes none of the others'.
            let term = Deadline::after_maybe(orb.config().timeouts.connect);
            match orb
                .lane()
                .bind(orb, &endpoint, wanted, deadline.earlier(term))
            {
                Ok(binding) => return Ok(binding),
                Err(error) => {
                    let address = endpoint.address.clone();
                    self.failures.push(Failure::Link(address, error));
                    level.at += 1;
                }
            }
        }
    }

    fn suits(&self, warm: &Binding) -> bool {
        !self.two_way || warm.connection.abilities.two_way
    }

    /// The reference that the endpoint tried now belongs to.
    pub(super) fn target(&self) -> &Arc<Target> {
        let followed = self.path.as_ref().and_then(|path| path.levels.last());
        match (self.levels.last(), followed) {
            (Some(level), _) => &level.target,
            (None, Some((target, _))) => target,
            (None, None) => self.object.original(),
        }
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
    pub(super) fn forward(&mut self, to: Ior, permanently: bool) -> Result<(), SystemException> {
        self.spread_out();
        let limit = self.object.orb().config().max_forwards;
        self.forwards += 1;
        let depth = u32::try_from(self.levels.len()).unwrap_or(u32::MAX);
        if depth > limit || self.forwards > limit.saturating_mul(FORWARDS_A_LEVEL) {
            return Err(too_many_forwards(limit, self.target(), &to));
        }
        let target = Arc::new(Target::new(to));
        if permanently {
            self.levels.pop();
            if self.levels.is_empty() {
                self.object.move_to(target.clone());
            }
        }
        self.enter(target, None);
        Ok(())
    }

    /// Goes on behind the profile tried now, which failed; `false` when that was the last, and there is
    /// no way to begin anew.
    pub(super) fn go_on(&mut self, failure: SystemException) -> bool {
        self.spread_out();
        self.failures.push(Failure::Raised(failure));
        if let Some(level) = self.levels.last_mut() {
            level.skip_profile();
        }
        while self.levels.last().is_some_and(|level| level.is_done()) {
            self.leave_level();
        }
        !self.levels.is_empty() || self.restart()
    }

    /// The failure to report when the call does not go on.
    pub(super) fn give_up(mut self, deadline: Deadline) -> SystemException {
        exhausted(&mut self.failures, deadline)
    }

    /// Begins anew from the reference itself, once, if the call had not begun there, at its first
    /// endpoint.
    pub(super) fn restart(&mut self) -> bool {
        let elsewhere =
            self.is_forwarded() || self.path.as_ref().is_some_and(|path| path.began_late);
        if self.restarted || !elsewhere {
            return false;
        }
        self.restarted = true;
        self.path = None;
        self.levels.clear();
        self.object.forget();
        self.enter(self.object.base(), None);
        true
    }

    /// Remembers the way that the call has gone.
    pub(super) fn remember(&self, binding: &Binding) {
        if self.levels.is_empty() {
            return;
        }
        let orb = self.object.orb();
        // Where some endpoints carry one-ways only, each kind of call keeps to a way of its own.
        let one_way_only = self.levels.iter().any(|level| {
            let all = level.target.endpoints(orb);
            all.is_ok_and(|all| {
                all.iter()
                    .any(|one| !one.pair.messaging.abilities().two_way)
            })
        });
        let shares = self.effective.mux == Mux::Shared;
        let levels = self.levels.iter();
        let path = Arc::new(Path {
            heads: Heads::default(),
            lends: self.effective.transfer == Transfer::Lend
                && binding.connection.link().lender().is_some(),
            quick: (
                shares && binding.connection.abilities.two_way,
                shares && (self.effective.buffering.is_none() || binding.connection.sends_as_is()),
            ),
            effective: self.effective.clone(),
            levels: levels
                .map(|level| (level.target.clone(), level.endpoints.get(level.at).cloned()))
                .collect(),
            began_late: self.levels.len() > 1
                || self.levels.first().is_some_and(|level| level.at > 0)
                || !Arc::ptr_eq(&self.object.base(), self.object.original()),
            bound: binding.to_bound(),
        });
        if !one_way_only {
            self.object.remember(!self.two_way, path.clone());
        }
        self.object.remember(self.two_way, path);
    }

    /// Makes levels of the path that was followed so far, or of the reference itself.
    fn spread_out(&mut self) {
        if !self.levels.is_empty() {
            return;
        }
        match self.path.clone() {
            Some(path) => {
                for (target, endpoint) in &path.levels {
                    self.enter(target.clone(), endpoint.as_ref());
                }
            }
            None => self.enter(self.object.base(), None),
        }
    }

    /// Tries the endpoints of `target` from now on, first the one given. If it has none that can be used,
    /// that is its failure.
    fn enter(&mut self, target: Arc<Target>, first: Option<&Arc<Endpoint>>) {
        let endpoints = chosen(&target, self.object.orb(), &self.effective, self.two_way);
        let endpoints = endpoints.unwrap_or_else(|exception| {
            self.failures.push(Failure::Raised(exception));
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

/// The endpoints of a reference that policies allow, in the order that they prefer.
fn chosen(
    target: &Target,
    orb: &Orb,
    effective: &Effective,
    two_way: bool,
) -> Result<Vec<Arc<Endpoint>>, SystemException> {
    effective.check()?;
    let all = target.endpoints(orb)?;
    let able: Vec<Arc<Endpoint>> = all
        .iter()
        .filter(|endpoint| !two_way || endpoint.pair.messaging.abilities().two_way)
        .cloned()
        .collect();
    if able.is_empty() {
        return Err(invalid(format!(
            "the reference has only protocols for one-ways ({})",
            names(&all)
        )));
    }
    let Some(wish) = &effective.protocols else {
        return Ok(able);
    };
    let ordered = by_preference(&able, wish);
    if ordered.is_empty() {
        return Err(unmet(&all, &able, wish));
    }
    Ok(ordered)
}

/// Why no endpoint that is able to carry the call is of a protocol that policies prefer.
fn unmet(all: &[Arc<Endpoint>], able: &[Arc<Endpoint>], wish: &ClientProtocols) -> SystemException {
    let (preferred, able) = (wish.preferred.join(", "), names(able));
    let for_one_ways = by_preference(all, wish);
    if for_one_ways.is_empty() {
        return invalid(format!(
            "the reference has none of the protocols that policies prefer ({preferred}): it has {able}"
        ));
    }
    invalid(format!(
        "of the protocols that policies prefer ({preferred}) the reference has {}, for one-ways only; \
         a call with a reply could go by {able}",
        names(&for_one_ways)
    ))
}

fn by_preference(able: &[Arc<Endpoint>], wish: &ClientProtocols) -> Vec<Arc<Endpoint>> {
    let is = |endpoint: &Endpoint, name: &str| {
        *endpoint.pair.name == *name || name.strip_prefix("giop+") == Some(&endpoint.pair.name)
    };
    let mut ordered: Vec<Arc<Endpoint>> = Vec::with_capacity(able.len());
    for name in &wish.preferred {
        ordered.extend(able.iter().filter(|one| is(one, name)).cloned());
    }
    if wish.otherwise == Otherwise::Choose {
        let others = able
            .iter()
            .filter(|one| !wish.preferred.iter().any(|name| is(one, name)));
        ordered.extend(others.cloned());
    }
    ordered
}

fn names(endpoints: &[Arc<Endpoint>]) -> String {
    let mut names: Vec<&str> = endpoints.iter().map(|one| &*one.pair.name).collect();
    names.dedup();
    names.join(", ")
}
