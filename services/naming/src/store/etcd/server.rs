//! Store in etcd, as a naming server uses it.

use std::sync::Arc;

use punctual_etcd::{Failure, Leases, revision};
use punctual_exec::thread::ThreadSpec;
use serde_json::{Value, json};

use super::cluster::{Cluster, unreachable};
use super::options::EtcdOptions;
use super::transaction::{comparison, seconds, write};
use crate::store::StoreError;
use crate::store::change::{Change, Loading};
use crate::store::contract::Store;
use crate::store::shared::{Fact, Follower, SharedStore};

/// Maximum number of comparisons and of changes in a transaction. etcd accepts 128
/// (`--max-txn-ops`).
const MOST: usize = 120;

type Result<T> = std::result::Result<T, StoreError>;

/// Naming store in an etcd cluster.
#[derive(Debug)]
pub struct EtcdStore {
    shared: Arc<Cluster>,
}

impl EtcdStore {
    /// Connects to a cluster, and creates an empty store below the prefix if there is none.
    ///
    /// # Errors
    /// No member answers, or there is other data below the prefix.
    pub fn connect(options: EtcdOptions) -> Result<Self> {
        let cluster = Cluster::connect(options)?;
        Ok(Self {
            shared: Arc::new(cluster),
        })
    }
}

impl Store for EtcdStore {
    fn identity(&self) -> u64 {
        self.shared.identity
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        Some(self)
    }

    fn load(&self, loading: &mut dyn Loading) -> Result<()> {
        let revision = self.shared.load(loading)?;
        self.shared.progress.record_revision(revision);
        Ok(())
    }

    fn commit(&self, changes: &[Change]) -> Result<()> {
        self.commit_if(&[], changes).map(drop)
    }
}

impl SharedStore for EtcdStore {
    fn follow(&self, follower: Arc<dyn Follower>) -> Result<()> {
        let start = |name: &'static str, work: Box<dyn FnOnce() + Send>| {
            // The thread ends by itself after the store was dropped, perhaps by that thread.
            let started = ThreadSpec::named(name).start(work);
            started.map(drop).map_err(StoreError::io)
        };
        let (watching, beating) = (self.shared.clone(), self.shared.clone());
        start("etcd-watch", Box::new(move || watching.watch(&*follower)))?;
        start("etcd-beat", Box::new(move || beating.beat()))?;
        Ok(())
    }

    fn commit_if(&self, facts: &[Fact], changes: &[Change]) -> Result<bool> {
        // If etcd is known to be unreachable, no caller waits for a time-out.
        self.shared.progress.check()?;
        let layout = &self.shared.layout;
        let mut compare: Vec<Value> = facts.iter().map(|fact| comparison(layout, fact)).collect();
        // Nothing is written into another store that has replaced this one.
        compare.push(self.shared.identity_condition());
        let times = changes.iter().filter_map(seconds);
        let leases = Leases::granted(&self.shared.client, times).map_err(unreachable)?;
        let success: Vec<Value> = changes
            .iter()
            .flat_map(|change| {
                write(
                    layout,
                    change,
                    seconds(change).map_or(0, |time| leases.of(time)),
                )
            })
            .collect();
        // Its event shows that the watch has reported all earlier changes.
        let failure = [self.shared.beat_put()];
        let transaction = json!({ "compare": compare, "success": success, "failure": failure });
        let before = self.shared.progress.revision();
        let reply = self.shared.client.call("/v3/kv/txn", &transaction);
        let reply = reply.map_err(|failure| match failure {
            Failure::Undone(why) => StoreError::Away(why),
            Failure::Unknown(why) => StoreError::Unknown(why),
        })?;
        let is_done = reply["succeeded"].as_bool() == Some(true);
        if !is_done {
            leases.revoke(&self.shared.client);
        }
        let made = revision(&reply);
        let checked = self.shared.progress.check_revision(made, before);
        checked.map_err(|error| StoreError::Unknown(error.to_string()))?;
        let has_come = self
            .shared
            .progress
            .wait_for(made, self.shared.options.patience);
        match (is_done, has_come) {
            // The commit is done; this server only learns of it late.
            (true, _) => Ok(true),
            (false, true) => Ok(false),
            (false, false) => Err(StoreError::Away("the watch lags behind".into())),
        }
    }

    fn most(&self) -> usize {
        MOST
    }

    fn catch_up(&self) -> Result<()> {
        self.shared.progress.check()?;
        self.shared.catch_up(&self.shared.client)
    }

    fn check_current(&self) -> Result<()> {
        match self.shared.options.reads_stale {
            true => Ok(()),
            false => self.check_reached(),
        }
    }

    fn check_reached(&self) -> Result<()> {
        self.shared.progress.check()
    }
}

impl Drop for EtcdStore {
    fn drop(&mut self) {
        self.shared.progress.end();
    }
}
