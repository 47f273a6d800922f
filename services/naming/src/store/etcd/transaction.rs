//! Conversion of facts and changes to the comparisons and operations of etcd transactions.

use punctual_etcd::{delete, delete_all, put, when_empty, when_equal, when_present};
use serde_json::Value;

use super::layout::{Layout, hex};
use crate::store::change::{Change, Target};
use crate::store::record::encoded;
use crate::store::shared::Fact;

/// Returns the comparison by which etcd checks a fact.
pub(super) fn comparison(layout: &Layout, fact: &Fact) -> Value {
    match fact {
        Fact::Bound {
            context,
            key,
            target: Some(target),
        } => when_equal(&layout.binding(*context, key), &encoded(target)),
        Fact::Bound { context, key, .. } => when_present(&layout.binding(*context, key), false),
        Fact::Present(context) => when_present(&layout.context(*context), true),
        Fact::Empty(context) => when_empty(&layout.bindings_of(*context)),
    }
}

/// Returns the operations of a change in a transaction; `lease` is for the key of a temporary
/// binding.
pub(super) fn write(layout: &Layout, change: &Change, lease: i64) -> Vec<Value> {
    let one = match change {
        Change::Create { context, home } => {
            put(&layout.context(*context), hex(*home).as_bytes(), 0)
        }
        Change::Destroy(context) => {
            let bindings = delete_all(&layout.bindings_of(*context));
            return vec![delete(&layout.context(*context)), bindings];
        }
        Change::Bind {
            context,
            key,
            target,
        } => put(&layout.binding(*context, key), &encoded(target), lease),
        Change::Unbind { context, key } => delete(&layout.binding(*context, key)),
    };
    vec![one]
}

/// Returns the time to live, in whole seconds, of the binding that a change makes, if it is a temporary one.
pub(super) fn seconds(change: &Change) -> Option<u32> {
    match change {
        Change::Bind {
            target: Target::Temporary { ttl, .. },
            ..
        } => Some(ttl.millis().div_ceil(1_000)),
        _ => None,
    }
}
