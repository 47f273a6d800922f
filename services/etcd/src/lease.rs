//! Leases: keys that etcd removes by itself, when they have not been put again in time.
//!
//! No lease is ever kept alive. A key is renewed by putting it again with a new lease; its former
//! lease then expires without a key. So the keys of one commit with equal times to live share a
//! lease, and the process that put a key need not continue to run.

use serde_json::{Value, json};

use crate::api::{Client, Failure, number};

/// Leases of one commit, by their times to live in seconds.
#[derive(Debug, Default)]
pub struct Leases(Vec<(u32, i64)>);

impl Leases {
    /// Asks etcd for a lease for each different time to live, in seconds.
    ///
    /// # Errors
    /// etcd does not answer, or grants none. Those granted before are revoked then.
    pub fn granted(client: &Client, times: impl IntoIterator<Item = u32>) -> Result<Self, Failure> {
        let mut leases = Self::default();
        for seconds in times {
            if leases.of(seconds) != 0 {
                continue;
            }
            let grant = json!({ "TTL": seconds.to_string(), "ID": "0" });
            let reply: Result<Value, Failure> = client.call("/v3/lease/grant", &grant);
            match reply.map(|reply| number(&reply["ID"])) {
                Ok(id) if id != 0 => leases.0.push((seconds, id)),
                refused => {
                    leases.revoke(client);
                    let broken = || Failure::Undone("etcd grants no lease".into());
                    return Err(refused.err().unwrap_or_else(broken));
                }
            }
        }
        Ok(leases)
    }

    /// Returns the id of the lease with this time to live; 0 if there is none.
    #[must_use]
    pub fn of(&self, seconds: u32) -> i64 {
        let found = self.0.iter().find(|(granted, _)| *granted == seconds);
        found.map_or(0, |(_, id)| *id)
    }

    /// Revokes the leases. For a commit whose keys were not put.
    pub fn revoke(&self, client: &Client) {
        for (_, id) in &self.0 {
            // A lease that is not revoked ends by its time.
            let _ = client.call("/v3/lease/revoke", &json!({ "ID": id.to_string() }));
        }
    }
}
