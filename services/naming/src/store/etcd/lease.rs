//! Bindings that etcd removes by itself, when nobody has renewed them in time: their keys have a lease.
//!
//! No lease is ever kept alive. Who renews a binding puts its key anew, with a lease of its own; the one that it had
//! before ends with no key. So the bindings of one commit that live equally long share a lease, and a server that took
//! a binding may end without harm.

use serde_json::{Value, json};

use super::api::{Client, number};
use super::{Result, away};
use crate::store::{Change, StoreError, Target};

/// The leases of one commit.
#[derive(Debug, Default)]
pub(super) struct Leases(Vec<(u32, i64)>);

impl Leases {
    /// Has etcd grant a lease for each time to live that changes have.
    pub(super) fn granted(client: &Client, changes: &[Change]) -> Result<Self> {
        let mut leases = Self::default();
        for change in changes {
            let Some(seconds) = seconds(change) else {
                continue;
            };
            if leases.of(seconds) == 0 {
                let grant = json!({ "TTL": seconds.to_string(), "ID": "0" });
                let reply: Result<Value> = client.call("/v3/lease/grant", &grant).map_err(away);
                match reply.map(|reply| number(&reply["ID"])) {
                    Ok(id) if id != 0 => leases.0.push((seconds, id)),
                    refused => {
                        leases.revoke(client);
                        let broken = || StoreError::Away("etcd grants no lease".into());
                        return Err(refused.err().unwrap_or_else(broken));
                    }
                }
            }
        }
        Ok(leases)
    }

    /// The lease that a change's key has; 0 for none.
    pub(super) fn of_change(&self, change: &Change) -> i64 {
        seconds(change).map_or(0, |seconds| self.of(seconds))
    }

    fn of(&self, seconds: u32) -> i64 {
        let found = self.0.iter().find(|(granted, _)| *granted == seconds);
        found.map_or(0, |(_, id)| *id)
    }

    /// Ends leases that no key has.
    pub(super) fn revoke(&self, client: &Client) {
        for (_, id) in &self.0 {
            // Else it ends by its time.
            let _ = client.call("/v3/lease/revoke", &json!({ "ID": id.to_string() }));
        }
    }
}

/// How long the binding that a change makes lives, in whole seconds, if it is a temporary one.
fn seconds(change: &Change) -> Option<u32> {
    match change {
        Change::Bind {
            target: Target::Temporary { ttl, .. },
            ..
        } => Some(ttl.millis().div_ceil(1_000)),
        _ => None,
    }
}
