//! Models of the active object map: every order of the steps of a few threads, and every value that
//! a weakly ordered load may see, up to a number of preemptions (`LOOM_MAX_PREEMPTIONS`, 2 unless
//! it is set; loom).
//!
//! The code itself is modelled, whole, with loom's atomics and locks in place of its own (`sync`),
//! and segments that begin with two slots. Each test prints how many executions were explored:
//! `cargo test -p punctual-poa --features punctual-models/loom --test models --release -- --nocapture`.
//!
//! The shortcuts of the de-layered strategy have no model: their contents are never trusted.
#![allow(missing_docs, dead_code, unreachable_pub, clippy::unwrap_used)]

#[path = "../../src/object_map/by_servant.rs"]
mod by_servant;
mod deactivating;
#[path = "../../src/object_map/deactivation.rs"]
mod deactivation;
#[path = "../../src/object_map/entry.rs"]
mod entry;
mod finding;
#[path = "../../src/object_map/index/mod.rs"]
mod index;
#[path = "../../src/object_map/link.rs"]
mod link;
#[path = "../../src/object_map/lookup.rs"]
mod lookup;
#[path = "../../src/object_map/lookup_compared.rs"]
mod lookup_compared;
#[path = "../../src/object_map/map.rs"]
mod map;
#[path = "../../src/object_map/name.rs"]
mod name;
#[path = "../../src/own_policies.rs"]
mod own_policies;
mod owning;
#[path = "../../src/object_map/pinned.rs"]
mod pinned;
#[path = "../../src/object_map/slot.rs"]
#[allow(unsafe_code)]
mod slot;
#[path = "../../src/object_map/slots.rs"]
mod slots;
mod sync;
mod waiting;

/// Stand-in for the crate's module of this name, which the modelled code imports.
mod servant {
    pub(crate) use punctual_poa::{Identity, Servant};
}

use by_servant::Servants;
use entry::{Deactivated, Ids, OnDeactivated};
use index::Strategy;
use map::ActiveMap;
use pinned::Pinned;
use punctual_models::{explore, loom};
use punctual_orb::{DispatchError, Dispatched, ServerCall};
use servant::Servant;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Nothing;

impl punctual_poa::Servant for Nothing {
    fn repository_ids(&self) -> &'static [&'static str] {
        &[]
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        Err(call.bad_operation())
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

fn servant() -> Arc<dyn Servant> {
    Arc::new(Nothing)
}

/// Counter of deactivated objects. It is not one of loom's atomics, so that it adds no ordering to
/// the model.
#[derive(Clone, Default)]
struct Gone(Arc<AtomicUsize>);

impl OnDeactivated for Gone {
    fn deactivated(&self, object: Deactivated) {
        drop(object);
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Gone {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn map_of(strategy: Strategy, ids: Ids) -> (loom::sync::Arc<ActiveMap>, Gone) {
    let gone = Gone::default();
    let leave = Box::new(gone.clone());
    let map = ActiveMap::new(&strategy, ids, Servants::NotIndexed, leave).unwrap();
    (loom::sync::Arc::new(map), gone)
}

fn by_entry() -> (loom::sync::Arc<ActiveMap>, Gone) {
    map_of(Strategy::Active, Ids::System)
}

fn by_id() -> (loom::sync::Arc<ActiveMap>, Gone) {
    map_of(Strategy::DynamicHash, Ids::User)
}
