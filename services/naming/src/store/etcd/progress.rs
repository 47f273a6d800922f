//! Progress of the watch: up to which revision changes are known here, and when that was all of them.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::store::StoreError;

/// Progress of the watch.
#[derive(Debug)]
pub(super) struct Progress {
    state: Mutex<State>,
    changed: Condvar,
    staleness: Duration,
}

#[derive(Debug)]
struct State {
    /// All up to it has been told to the follower.
    revision: i64,
    /// When it was known to be all.
    current: Instant,
    has_ended: bool,
    /// True if etcd has lost some of the changes that were reported.
    is_lost: bool,
    /// The watch's connection, to be shut down when it is to end.
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

    /// All up to a revision has been told.
    pub(super) fn come_to(&self, revision: i64) {
        self.state.lock().revision = revision;
        self.changed.notify_all();
    }

    pub(super) fn revision(&self) -> i64 {
        self.state.lock().revision
    }

    /// All that there was at a time has been told.
    pub(super) fn was_current(&self, at: Instant) {
        let mut state = self.state.lock();
        state.current = state.current.max(at);
    }

    /// Checks that all changes were known not too long ago.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.state.lock().current.elapsed() < self.staleness {
            true => Ok(()),
            false => Err(StoreError::Away("etcd has not answered for a while".into())),
        }
    }

    /// Notes the revision of a change that was just made. Where more has been told than that, etcd has lost some of it,
    /// as one has that was restored from a backup.
    pub(super) fn check_revision(&self, made: i64, before: i64) -> Result<(), StoreError> {
        if made > before {
            return Ok(());
        }
        self.state.lock().is_lost = true;
        self.cut();
        Err(StoreError::Away(format!(
            "etcd has older data: revision {made} after {before}"
        )))
    }

    pub(super) fn take_lost(&self) -> bool {
        std::mem::take(&mut self.state.lock().is_lost)
    }

    /// Waits until all up to a revision has been told; whether that is so.
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

    /// Ends both threads.
    pub(super) fn end(&self) {
        self.state.lock().has_ended = true;
        self.cut();
        self.changed.notify_all();
    }

    /// Ends the watch's connection, so that it begins anew by another endpoint.
    pub(super) fn cut(&self) {
        if let Some(watch) = self.state.lock().watch.take() {
            // Where it is closed already, there is nothing to end.
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

    /// Waits; whether the end has come.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.state.lock();
        while !state.has_ended && !self.changed.wait_until(&mut state, until).timed_out() {}
        state.has_ended
    }
}
