//! Progress of the watch on etcd: the revision up to which changes have been reported, and the time
//! at which the local copy of the names was last known to be complete.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::store::StoreError;

/// Progress of the watch on etcd, which the store shares with its threads.
#[derive(Debug)]
pub(super) struct Progress {
    state: Mutex<State>,
    changed: Condvar,
    staleness: Duration,
}

#[derive(Debug)]
struct State {
    /// Revision up to which all changes have been reported to the follower.
    revision: i64,
    /// Latest time at which the reported changes were known to be complete.
    current: Instant,
    has_ended: bool,
    /// True if etcd has lost changes that it had reported.
    is_lost: bool,
    /// Connection to etcd over which the changes are reported. Shutting it down ends the watch.
    watch: Option<TcpStream>,
}

impl Progress {
    pub(super) fn new(staleness: Duration) -> Self {
        Self {
            state: Mutex::new(State {
                revision: 0,
                current: Instant::now(),
                has_ended: false,
                is_lost: false,
                watch: None,
            }),
            changed: Condvar::new(),
            staleness,
        }
    }

    /// Records that all changes up to a revision have been reported.
    pub(super) fn record_revision(&self, revision: i64) {
        self.state.lock().revision = revision;
        self.changed.notify_all();
    }

    pub(super) fn revision(&self) -> i64 {
        self.state.lock().revision
    }

    /// Records that all changes made before a time have been reported.
    pub(super) fn record_current(&self, at: Instant) {
        let mut state = self.state.lock();
        state.current = state.current.max(at);
    }

    /// Checks that the reported changes were known to be complete recently enough.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.state.lock().current.elapsed() < self.staleness {
            true => Ok(()),
            false => Err(StoreError::Away("etcd has not answered for a while".into())),
        }
    }

    /// Records the revision of a change just made. If later revisions have been reported, etcd has
    /// lost changes, as after a restoration from a backup.
    pub(super) fn check_revision(&self, made: i64, before: i64) -> Result<(), StoreError> {
        if made > before {
            return Ok(());
        }
        self.state.lock().is_lost = true;
        self.cut();
        Err(StoreError::Away(format!(
            "etcd has lost data: revision {made} after {before}"
        )))
    }

    pub(super) fn take_lost(&self) -> bool {
        std::mem::take(&mut self.state.lock().is_lost)
    }

    /// Waits until all changes up to a revision have been reported; returns `false` if that takes
    /// longer than `patience`.
    pub(super) fn wait_for(&self, revision: i64, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut state = self.state.lock();
        while state.revision < revision && !state.has_ended {
            if self.changed.wait_until(&mut state, until).timed_out() {
                break;
            }
        }
        state.revision >= revision
    }

    /// Ends the thread that watches etcd and the thread that writes heartbeats to it.
    pub(super) fn end(&self) {
        self.state.lock().has_ended = true;
        self.cut();
        self.changed.notify_all();
    }

    /// Ends the watch's connection, so that it continues at another endpoint.
    pub(super) fn cut(&self) {
        if let Some(watch) = self.state.lock().watch.take() {
            // If it is closed already, nothing remains to be done.
            let _ = watch.shutdown(std::net::Shutdown::Both);
        }
    }

    pub(super) fn watches_by(&self, connection: Option<TcpStream>) -> bool {
        let mut state = self.state.lock();
        state.watch = connection;
        !state.has_ended
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state.lock().has_ended
    }

    /// Waits for this time, or until the threads are to end; returns `true` in the latter case.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.state.lock();
        while !state.has_ended && !self.changed.wait_until(&mut state, until).timed_out() {}
        state.has_ended
    }
}
