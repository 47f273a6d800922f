//! State that the references to one remote object share: its location, and the paths that calls
//! have taken.
//!
//! Paths are kept separately for each lane and each set of thread policies, so that lanes, and
//! threads with different policies, can share a reference without replacing each other's paths.

use super::path::Path;
use super::target::Target;
use crate::broker::Broker;
use crate::lane::{ClientConnection, Lane};
use crate::policy::{Effective, PolicySet};
use crate::profile::Origin;
use arc_swap::{ArcSwap, ArcSwapOption};
use parking_lot::Mutex;
use punctual_cdr::Environment;
use punctual_ior::Ior;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Maximum number of pairs of lane and thread policies whose paths a reference remembers; a further
/// pair replaces an earlier one.
const MOST_PATHS: usize = 64;

/// State shared by a reference and its clones.
pub(crate) struct RemoteObject {
    /// Number of the object reference, unique within the process.
    number: u64,
    /// Version of the paths; incremented when a path changes that threads may have cached.
    version: AtomicU64,
    original: Arc<Target>,
    /// The target of the original reference, if an interceptor has forwarded that call.
    called_as: Option<Arc<Target>>,
    /// The object's new target, after a server has said that it has moved permanently
    /// (LOCATION_FORWARD_PERM).
    moved: ArcSwapOption<Target>,
    policies: PolicySet,
    /// Known paths to the object, the newest first.
    paths: ArcSwap<Vec<Arc<KnownPaths>>>,
    /// Connections used only by calls of this object. They are closed when the object is dropped.
    private: Mutex<Vec<Weak<ClientConnection>>>,
    /// Connections on which calls are buffered that have not completed, and to which therefore no
    /// remembered path leads.
    buffered: Mutex<Vec<Weak<ClientConnection>>>,
}

/// Paths of one lane's calls under one set of policies.
struct KnownPaths {
    /// Number of the lane that makes the calls.
    lane: u64,
    effective: Arc<Effective>,
    /// Path of the last successful two-way call.
    two_way: ArcSwapOption<Path>,
    /// Path of the last one-way that succeeded; it may use a protocol that carries one-ways only.
    one_way: ArcSwapOption<Path>,
}

impl KnownPaths {
    /// Returns whether the paths apply to calls of the calling thread on that lane.
    fn holds(&self, lane: &Lane) -> bool {
        self.lane == lane.number() && self.effective.holds(&lane.broker().policies)
    }

    fn path(&self, two_way: bool) -> &ArcSwapOption<Path> {
        if two_way {
            &self.two_way
        } else {
            &self.one_way
        }
    }
}

impl RemoteObject {
    pub(crate) fn new(original: Arc<Target>, policies: PolicySet) -> Self {
        // Relaxed: only uniqueness matters.
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            version: AtomicU64::new(0),
            original,
            called_as: None,
            moved: ArcSwapOption::empty(),
            policies,
            paths: ArcSwap::default(),
            private: Mutex::default(),
            buffered: Mutex::default(),
        }
    }

    /// Returns the policies set on this object reference.
    pub(crate) fn policies(&self) -> &PolicySet {
        &self.policies
    }

    /// Returns the target that the reference was made with.
    pub(crate) fn original(&self) -> &Arc<Target> {
        &self.original
    }

    /// Returns the object as a new reference, without remembered paths.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.original.clone(), self.policies.clone())
    }

    /// Returns the object to which a call is forwarded, with the policies of this reference.
    pub(crate) fn forwarded(&self, to: Ior) -> Self {
        let to = Arc::new(Target::new(to, Origin::ThisHost));
        let mut object = Self::new(to, self.policies.clone());
        object.called_as = Some(self.called_as().clone());
        object
    }

    /// Returns the target of the reference that the caller used, before any forward by an
    /// interceptor.
    pub(crate) fn called_as(&self) -> &Arc<Target> {
        self.called_as.as_ref().unwrap_or(&self.original)
    }

    /// Returns the target at which calls start: the original one, or that of a permanent move.
    pub(crate) fn base(&self) -> Arc<Target> {
        let moved = self.moved.load_full();
        moved.unwrap_or_else(|| self.original.clone())
    }

    /// Records that the object has moved permanently to `target`.
    pub(crate) fn move_to(&self, target: Arc<Target>) {
        self.moved.store(Some(target));
    }

    /// Returns the reference's number, unique within the process.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Records a connection used only by calls of this object; it is closed when the object is
    /// dropped.
    pub(super) fn owns(&self, connection: &Arc<ClientConnection>) {
        let mut private = self.private.lock();
        private.retain(|one| one.strong_count() > 0);
        if !private
            .iter()
            .any(|one| one.as_ptr() == Arc::as_ptr(connection))
        {
            private.push(Arc::downgrade(connection));
        }
    }

    /// Records that a call of this object is buffered on this connection.
    pub(super) fn record_buffered_on(&self, connection: &Arc<ClientConnection>) {
        let mut buffered = self.buffered.lock();
        buffered.retain(|one| one.strong_count() > 0);
        let is_there = |one: &Weak<_>| one.as_ptr() == Arc::as_ptr(connection);
        if !buffered.iter().any(is_there) {
            buffered.push(Arc::downgrade(connection));
        }
    }

    /// Removes and returns the connections on which calls were buffered since this function was
    /// last called.
    pub(crate) fn take_buffered_on(&self) -> Vec<Arc<ClientConnection>> {
        let buffered = std::mem::take(&mut *self.buffered.lock());
        buffered.iter().filter_map(Weak::upgrade).collect()
    }

    /// Returns a pair that identifies this object and the current version of its paths.
    #[inline]
    pub(super) fn version(&self) -> (u64, u64) {
        // Acquire pairs with the Release in `paths_have_changed`.
        let version = self.version.load(Ordering::Acquire);
        (self.number, version)
    }

    fn paths_have_changed(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Returns the policies in effect for calls by the calling thread over this lane. If they have
    /// been computed before, takes no lock and does not allocate.
    pub(crate) fn effective(&self, lane: &Lane) -> Arc<Effective> {
        let paths = self.paths.load();
        if let Some(known) = paths.iter().find(|known| known.holds(lane)) {
            return known.effective.clone();
        }
        let policies = &lane.broker().policies;
        let known = paths.iter().find(|known| known.effective.holds(policies));
        let effective = known.map(|known| known.effective.clone());
        drop(paths);
        let effective = effective.unwrap_or_else(|| {
            let published = || self.original.published_policies(lane.broker());
            Arc::new(Effective::of(policies, &self.policies, published))
        });
        let known = Arc::new(KnownPaths {
            lane: lane.number(),
            effective: effective.clone(),
            two_way: ArcSwapOption::empty(),
            one_way: ArcSwapOption::empty(),
        });
        self.paths.rcu(|paths| {
            // Entries under outdated policies of the ORB are dropped.
            let current = paths
                .iter()
                .filter(|known| known.effective.is_of_now(policies));
            let kept = current.take(MOST_PATHS - 1).cloned();
            std::iter::once(known.clone())
                .chain(kept)
                .collect::<Vec<_>>()
        });
        effective
    }

    /// Forgets the remembered paths, and where the object has moved.
    pub(super) fn forget(&self) {
        for known in self.paths.load().iter() {
            known.two_way.store(None);
            known.one_way.store(None);
        }
        self.moved.store(None);
        self.paths_have_changed();
    }
}

impl Drop for RemoteObject {
    /// Closes the object's private connections, as no calls use them any more.
    fn drop(&mut self) {
        for connection in self.private.get_mut().iter().filter_map(Weak::upgrade) {
            connection.leave_pool();
        }
    }
}

impl fmt::Debug for RemoteObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteObject")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// Object to be called, with the context of the call.
#[derive(Clone, Copy)]
pub(crate) struct Callee<'a> {
    pub(crate) object: &'a RemoteObject,
    /// Lane over which the call is made.
    pub(crate) lane: &'a Arc<Lane>,
    /// Environment in which received values are created: the ORB.
    pub(crate) environment: &'a dyn Environment,
    /// Environment in which values received from other hosts are created.
    pub(crate) environment_elsewhere: &'a dyn Environment,
    /// Time-out set on the object reference itself.
    pub(crate) timeout: Option<Duration>,
}

impl<'a> Callee<'a> {
    #[inline]
    pub(super) fn broker(&self) -> &'a Broker {
        self.lane.broker()
    }

    /// Returns the environment for values received from this origin (this host or another).
    #[inline]
    pub(super) fn environment_of(&self, origin: Origin) -> &'a dyn Environment {
        if origin == Origin::Elsewhere {
            crate::cold::cold_path();
            return self.environment_elsewhere;
        }
        self.environment
    }

    /// Returns the policies in effect for calls by the calling thread.
    pub(crate) fn effective(&self) -> Arc<Effective> {
        self.object.effective(self.lane)
    }

    /// Returns the time-out of a call under these policies.
    #[inline]
    pub(crate) fn timeout_under(&self, effective: &Effective) -> Option<Duration> {
        self.timeout.or(effective.roundtrip)
    }

    /// Returns the path that calls currently take, if an earlier call has succeeded.
    pub(crate) fn path(&self, two_way: bool) -> Option<Arc<Path>> {
        let paths = self.object.paths.load();
        let known = paths.iter().find(|known| known.holds(self.lane))?;
        known.path(two_way).load_full()
    }

    /// Returns the remembered path of calls under these policies.
    pub(super) fn path_under(&self, effective: &Effective, two_way: bool) -> Option<Arc<Path>> {
        let paths = self.object.paths.load();
        let known = self.known_under(&paths, effective)?;
        known.path(two_way).load_full()
    }

    /// Records the path of a successful call for later calls.
    pub(super) fn remember(&self, two_way: bool, path: Arc<Path>) {
        let paths = self.object.paths.load();
        if let Some(known) = self.known_under(&paths, &path.effective)
            && known.path(two_way).swap(Some(path.clone())).is_some()
        {
            self.object.paths_have_changed();
        }
    }

    fn known_under<'w>(
        &self,
        paths: &'w [Arc<KnownPaths>],
        effective: &Effective,
    ) -> Option<&'w Arc<KnownPaths>> {
        let (lane, stamp) = (self.lane.number(), effective.stamp);
        let mut paths = paths.iter();
        paths.find(|known| known.lane == lane && known.effective.stamp == stamp)
    }
}

impl fmt::Debug for Callee<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object.fmt(f)
    }
}
