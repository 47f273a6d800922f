//! Following the changes of all servers: the watch, the beats, and how far both have come.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::api::{Told, told};
use super::{Shared, identified};
use crate::store::{Follower, StoreError};

/// How long the watch waits after it has failed.
const PAUSE: Duration = Duration::from_millis(100);

/// How far what etcd has is known here.
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
    /// Whether what has been told is not what etcd has any more.
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

    /// Whether what has been told was all not too long ago.
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

    fn take_lost(&self) -> bool {
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

    /// Has both threads end.
    pub(super) fn end(&self) {
        self.state.lock().has_ended = true;
        self.cut();
        self.changed.notify_all();
    }

    /// Has the watch begin anew, by another endpoint.
    fn cut(&self) {
        if let Some(watch) = self.state.lock().watch.take() {
            // Where it is closed already, there is nothing to end.
            let _ = watch.shutdown(std::net::Shutdown::Both);
        }
    }

    fn watches_by(&self, connection: Option<TcpStream>) -> bool {
        let mut state = self.state.lock();
        state.watch = connection;
        !state.has_ended
    }

    fn has_ended(&self) -> bool {
        self.state.lock().has_ended
    }

    /// Waits; whether the end has come.
    fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.state.lock();
        while !state.has_ended && !self.changed.wait_until(&mut state, until).timed_out() {}
        state.has_ended
    }
}

impl Shared {
    /// The thread that beats.
    pub(super) fn beat(&self) {
        let interval = self.options.staleness / 3;
        let mut is_away = false;
        loop {
            let beaten = self.catch_up(&self.beats);
            match &beaten {
                Err(error) => {
                    // The member that the watch is at may have lost the others.
                    self.progress.cut();
                    if !is_away {
                        tracing::warn!("etcd is away: {error}");
                    }
                }
                Ok(()) if is_away => tracing::warn!("etcd is there again"),
                Ok(()) => {}
            }
            is_away = beaten.is_err();
            if self.progress.pause(interval) {
                return;
            }
        }
    }

    /// The thread that watches.
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

    /// Watches until the connection ends; whether all is to be read anew.
    fn watch_one(&self, member: usize, follower: &dyn Follower) -> bool {
        let mut seen = self.progress.revision();
        let Ok(mut lines) = self.client.watch(member, &self.layout.all(), seen + 1) else {
            return false;
        };
        if !self.progress.watches_by(lines.closer()) {
            return false;
        }
        while let Ok(line) = lines.next() {
            match told(&line, seen) {
                Some(Told::Changes(records, revision)) => {
                    self.tell(records, follower);
                    seen = revision;
                    self.progress.come_to(revision);
                }
                Some(Told::Lost(why)) => {
                    tracing::error!("{why}; all names are read anew");
                    return true;
                }
                None => return false,
            }
        }
        false
    }

    fn tell(&self, records: Vec<(Vec<u8>, Option<Vec<u8>>)>, follower: &dyn Follower) {
        let mut changes = Vec::with_capacity(records.len());
        for (key, value) in records {
            match self.layout.change(&key, value.as_deref()) {
                Ok(Some(change)) => changes.push(change),
                Ok(None) => {}
                Err(()) => {
                    let key = String::from_utf8_lossy(&key);
                    tracing::warn!("`{key}` in etcd is no record, and is ignored");
                }
            }
        }
        if !changes.is_empty() {
            follower.changed(changes);
        }
    }

    /// Reads all records, as the changes to them were missed. The store has to be the same one.
    fn read_anew(&self, follower: &dyn Follower) -> Result<(), StoreError> {
        if identified(&self.client, &self.layout, None)? != self.identity {
            return Err(StoreError::Foreign("another store is there now".into()));
        }
        let mut revision = 0;
        follower.replaced(&mut |loading| {
            revision = self.load(loading)?;
            Ok(())
        })?;
        self.progress.come_to(revision);
        Ok(())
    }
}
