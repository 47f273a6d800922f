//! An object that is called, as its references remember it: where it is, and which ways calls have gone.
//!
//! Ways belong to the policies they were found under: threads whose policies differ share a reference without
//! undoing each other's.

use super::path::Path;
use super::target::Target;
use crate::broker::Broker;
use crate::lane::Lane;
use crate::policy::{Effective, PolicySet};
use arc_swap::{ArcSwap, ArcSwapOption};
use punctual_cdr::Environment;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Policies of threads that a reference remembers the ways of, at once. One more forgets another's.
const MOST_WAYS: usize = 16;

/// What a reference and its clones share.
pub(crate) struct RemoteObject {
    /// No other has it.
    number: u64,
    /// Changes when a way does that threads may have taken note of.
    version: AtomicU64,
    original: Arc<Target>,
    /// Where the object has moved for good, as a server has said (LOCATION_FORWARD_PERM).
    moved: ArcSwapOption<Target>,
    policies: PolicySet,
    /// The newest first.
    ways: ArcSwap<Vec<Arc<Way>>>,
}

/// The ways of calls under the same policies.
struct Way {
    effective: Arc<Effective>,
    /// Where the last call succeeded.
    two_way: ArcSwapOption<Path>,
    /// The same of one-ways, which may prefer a protocol that carries no others.
    one_way: ArcSwapOption<Path>,
}

impl Way {
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
        // Relaxed: a number, and no more.
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            version: AtomicU64::new(0),
            original,
            moved: ArcSwapOption::empty(),
            policies,
            ways: ArcSwap::default(),
        }
    }

    /// The reference's own policies.
    pub(crate) fn policies(&self) -> &PolicySet {
        &self.policies
    }

    /// The goal that it was made with.
    pub(crate) fn original(&self) -> &Arc<Target> {
        &self.original
    }

    /// Where calls begin.
    pub(crate) fn base(&self) -> Arc<Target> {
        let moved = self.moved.load_full();
        moved.unwrap_or_else(|| self.original.clone())
    }

    /// The object has moved for good.
    pub(crate) fn move_to(&self, target: Arc<Target>) {
        self.moved.store(Some(target));
    }

    /// Tells this object's references and their ways as they are now from all others.
    #[inline]
    pub(super) fn version(&self) -> (u64, u64) {
        // Acquire pairs with the Release in `ways_have_changed`.
        let version = self.version.load(Ordering::Acquire);
        (self.number, version)
    }

    fn ways_have_changed(&self) {
        self.version.fetch_add(1, Ordering::Release);
    }

    /// What holds for calls by the calling thread. Where it has been found out before, this takes no lock and
    /// allocates nothing.
    pub(crate) fn effective(&self, broker: &Broker) -> Arc<Effective> {
        let ways = self.ways.load();
        if let Some(way) = ways
            .iter()
            .find(|way| way.effective.holds(&broker.policies))
        {
            return way.effective.clone();
        }
        drop(ways);
        let effective = Arc::new(Effective::of(&broker.policies, &self.policies, || {
            self.original.published_policies(broker)
        }));
        let way = Arc::new(Way {
            effective: effective.clone(),
            two_way: ArcSwapOption::empty(),
            one_way: ArcSwapOption::empty(),
        });
        self.ways.rcu(|ways| {
            // Policies of the ORB that hold no more are nobody's.
            let current = ways
                .iter()
                .filter(|way| way.effective.is_of_now(&broker.policies));
            let kept = current.take(MOST_WAYS - 1).cloned();
            std::iter::once(way.clone()).chain(kept).collect::<Vec<_>>()
        });
        effective
    }

    /// The way under these policies.
    pub(super) fn path(&self, effective: &Effective, two_way: bool) -> Option<Arc<Path>> {
        let ways = self.ways.load();
        let way = ways
            .iter()
            .find(|way| way.effective.stamp == effective.stamp)?;
        way.path(two_way).load_full()
    }

    /// The way that holds for the calling thread, if it is known.
    pub(super) fn path_now(&self, broker: &Broker, two_way: bool) -> Option<Arc<Path>> {
        let ways = self.ways.load();
        let way = ways
            .iter()
            .find(|way| way.effective.holds(&broker.policies))?;
        way.path(two_way).load_full()
    }

    /// Remembers the way of a call that succeeded.
    pub(super) fn remember(&self, two_way: bool, path: Arc<Path>) {
        let ways = self.ways.load();
        let mut ways = ways.iter();
        let stamp = path.effective.stamp;
        if let Some(way) = ways.find(|way| way.effective.stamp == stamp)
            && way.path(two_way).swap(Some(path)).is_some()
        {
            self.ways_have_changed();
        }
    }

    /// Forgets where calls succeeded, and where the object has moved.
    pub(super) fn forget(&self) {
        for way in self.ways.load().iter() {
            way.two_way.store(None);
            way.one_way.store(None);
        }
        self.moved.store(None);
        self.ways_have_changed();
    }
}

impl fmt::Debug for RemoteObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteObject")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// An object, and what a call of it is made with.
#[derive(Clone, Copy)]
pub(crate) struct Callee<'a> {
    pub(crate) object: &'a RemoteObject,
    /// Which lane calls.
    pub(crate) lane: &'a Arc<Lane>,
    /// What values that are read need to come alive: the ORB.
    pub(crate) environment: &'a dyn Environment,
    /// The reference's own time-out.
    pub(crate) timeout: Option<Duration>,
}

impl<'a> Callee<'a> {
    #[inline]
    pub(super) fn broker(&self) -> &'a Broker {
        self.lane.broker()
    }

    /// What holds for calls by the calling thread.
    pub(crate) fn effective(&self) -> Arc<Effective> {
        self.object.effective(self.broker())
    }

    /// How long a call may take, where these policies hold.
    #[inline]
    pub(crate) fn timeout_under(&self, effective: &Effective) -> Option<Duration> {
        self.timeout.or(effective.roundtrip)
    }

    /// The way that calls go now, if one has succeeded.
    pub(crate) fn path(&self, two_way: bool) -> Option<Arc<Path>> {
        self.object.path_now(self.broker(), two_way)
    }
}

impl fmt::Debug for Callee<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object.fmt(f)
    }
}
