//! Threads that follow the changes of all servers: one watches etcd, the other writes heartbeats to
//! it.

use std::time::Duration;

use punctual_etcd::{Changed, WatchReport, watch_report};

use super::cluster::Cluster;
use crate::store::StoreError;
use crate::store::shared::Follower;

/// Time to wait after the watch on etcd has failed before it is started again.
const PAUSE: Duration = Duration::from_millis(100);

impl Cluster {
    /// Writes heartbeats to etcd until the store is dropped; called by a thread of its own.
    pub(super) fn beat(&self) {
        let interval = self.options.staleness / 3;
        let mut is_away = false;
        loop {
            let beaten = self.catch_up(&self.beats);
            match &beaten {
                Err(error) => {
                    // The watched member may have lost contact with the others.
                    self.progress.cut();
                    if !is_away {
                        tracing::warn!("etcd is unreachable: {error}");
                    }
                }
                Ok(()) if is_away => tracing::warn!("etcd is reachable again"),
                Ok(()) => {}
            }
            is_away = beaten.is_err();
            if self.progress.pause(interval) {
                return;
            }
        }
    }

    /// Watches etcd for changes until the store is dropped; called by a thread of its own.
    pub(super) fn watch(&self, follower: &dyn Follower) {
        let mut member = 0;
        let mut is_lost = false;
        while !self.progress.has_ended() {
            is_lost |= self.progress.take_lost();
            if is_lost {
                match self.read_anew(follower) {
                    Ok(()) => is_lost = false,
                    Err(error) => tracing::error!("names cannot be read from etcd: {error}"),
                }
            }
            if !is_lost {
                is_lost = self.watch_one(member, follower);
                member += 1;
            }
            if self.progress.pause(PAUSE) {
                return;
            }
        }
    }

    /// Watches until the connection ends; returns `true` if everything must be read again.
    fn watch_one(&self, member: usize, follower: &dyn Follower) -> bool {
        let mut seen = self.progress.revision();
        let Ok(mut lines) = self.client.watch(member, &self.layout.all(), seen + 1) else {
            return false;
        };
        if !self.progress.watches_by(lines.closer()) {
            return false;
        }
        while let Ok(line) = lines.next() {
            match watch_report(&line, seen) {
                Some(WatchReport::Changes(records, revision)) => {
                    self.tell(records, follower);
                    seen = revision;
                    self.progress.record_revision(revision);
                }
                Some(WatchReport::Lost(why)) => {
                    tracing::error!("{why}; all names are read again");
                    return true;
                }
                None => return false,
            }
        }
        false
    }

    fn tell(&self, records: Vec<Changed>, follower: &dyn Follower) {
        let mut changes = Vec::with_capacity(records.len());
        for Changed { key, value, .. } in records {
            match self.layout.change(&key, value.as_deref()) {
                Ok(Some(change)) => changes.push(change),
                Ok(None) => {}
                Err(()) => {
                    let key = String::from_utf8_lossy(&key);
                    tracing::warn!("undecodable record `{key}` in etcd is ignored");
                }
            }
        }
        if !changes.is_empty() {
            follower.changed(changes);
        }
    }

    /// Reads all records again, because changes were missed. The store must be the same one as
    /// before.
    fn read_anew(&self, follower: &dyn Follower) -> Result<(), StoreError> {
        self.check_same()?;
        let mut revision = 0;
        follower.replaced(&mut |loading| {
            revision = self.load(loading)?;
            Ok(())
        })?;
        self.progress.record_revision(revision);
        Ok(())
    }
}
