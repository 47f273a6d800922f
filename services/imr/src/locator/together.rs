//! The repository at work with others, which share its servers by etcd.
//!
//! Requests of clients need no etcd while their servers run. Starts, registrations and ends are told by records of etcd alone;
//! repositories do not call one another. A server's start is claimed by its record: the repository whose change is first makes
//! the start, and clients wait at each of them until its outcome is there. When that repository dies, another one claims the start
//! under the same id, which activators execute once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual::{Orb, SystemException, SystemExceptionKind};
use punctual_etcd::{WatchReport, watch_report};
use punctual_exec::thread::{JoinHandle, ThreadSpec};
use punctual_host::store::StoreError;

use super::cluster::{
    ACTIVATOR, Cluster, FAILED, LINK, PROCESS, SERVER, START, Write, encoded, key,
};
use super::draft::Draft;
use super::engine::{Engine, Shared, Stored};
use super::news::News;
use super::server::Claim;
use super::state::State;
use super::storage::{Kept, not_stored};
use super::waiter::Waiter;
use crate::activator::START_VARIABLE;
use crate::implementation_repository::{EnvironmentVariable, StartupOptions};
use crate::kept;

/// Time after the end of a watch before the next one begins.
const PAUSE: Duration = Duration::from_millis(100);

/// Returns the record of how a server is started alone.
fn options_of(record: &kept::Server) -> kept::Server {
    kept::Server {
        options: record.options.clone(),
        ..kept::Server::default()
    }
}

/// Returns the changes in etcd that a change of the store means.
fn writes(change: Kept) -> Result<Vec<Write>, StoreError> {
    let one = |table: &str, name: &str, value: Option<Vec<u8>>| Write {
        key: key(table, name),
        value,
    };
    Ok(match change {
        Kept::Server(name, Some(record)) => {
            let record = encoded(options_of(&record))?;
            vec![one(SERVER, &name, Some(record))]
        }
        Kept::Server(name, None) => {
            let tables = [SERVER, PROCESS, START, FAILED];
            tables.map(|table| one(table, &name, None)).to_vec()
        }
        Kept::Activator(name, record) => {
            vec![one(ACTIVATOR, &name, record.map(encoded).transpose()?)]
        }
        Kept::Link(name, record) => vec![one(LINK, &name, record.map(encoded).transpose()?)],
        Kept::Forgiven(name) => vec![one(FAILED, &name, None)],
        Kept::Process(name, process) => vec![
            one(PROCESS, &name, Some(encoded(process)?)),
            one(START, &name, None),
        ],
    })
}

impl Engine {
    /// Changes records that are made of the state, after those of others that came before them. Called while changes are
    /// locked out; returns whether they were made, or others came first.
    pub(super) fn write(&self, cluster: &Cluster, changes: Vec<Kept>) -> Result<bool, StoreError> {
        let mut all = Vec::new();
        for change in changes {
            all.extend(writes(change)?);
        }
        all.retain(|write| {
            let known = write.key.split_once('/');
            known.is_none_or(|(table, name)| cluster.value(table, name) != write.value)
        });
        cluster.write(&all, &[])
    }

    /// Makes etcd have of a server what this repository knows. Blocks. Without etcd there is nothing to do.
    ///
    /// # Errors
    /// It cannot be reached, or what others write differs again and again.
    pub(super) fn sync(&self, name: &str) -> Result<(), StoreError> {
        let Some(cluster) = self.cluster() else {
            return Ok(());
        };
        let until = Instant::now() + cluster.patience();
        loop {
            let in_order = self.shared().changes.lock();
            let version = cluster.version();
            let draft = self.with(|state| Draft::of(state, cluster, name))?;
            if draft.writes.is_empty() || cluster.write(&draft.writes, &draft.guards)? {
                self.with(|state| draft.made(state, name));
                return Ok(());
            }
            drop(in_order);
            cluster.wait_for_others(version, until)?;
        }
    }

    /// Makes etcd have of a server what this repository knows, for one that is to be told so.
    ///
    /// # Errors
    /// PERSIST_STORE if it cannot be stored.
    pub(super) fn saved(&self, name: &str) -> Result<(), SystemException> {
        let _ = punctual::about_to_block();
        self.sync(name).map_err(|error| not_stored(&error))
    }

    /// Learns from etcd whether another repository makes a start of a server, before what an activator tells of a process that is not known here
    /// is taken: the activator may have been asked and the process have ended before the watch has told the start. Blocks.
    ///
    /// # Errors
    /// PERSIST_STORE if etcd cannot be asked. The activator tells it again.
    pub(super) fn catch_up(&self, name: &str, pid: Option<i32>) -> Result<(), SystemException> {
        let Some(cluster) = self.cluster() else {
            return Ok(());
        };
        let is_known = self.with(|state| {
            let server = state.servers.get(name);
            server.is_some_and(|server| server.has(pid))
        });
        if is_known {
            return Ok(());
        }
        let _ = punctual::about_to_block();
        cluster
            .wait_for(START, name)
            .map_err(|error| not_stored(&error))?;
        // What is in the copy is applied under the lock under which it came there.
        drop(self.shared().changes.lock());
        Ok(())
    }

    /// Claims a start. Returns the options by which an activator is to start the process; `None` if another repository makes the
    /// start, or its process is known already. Blocks.
    ///
    /// # Errors
    /// The reason why that is not known.
    pub(super) fn claimed(
        &self,
        name: &str,
        number: u64,
        options: &StartupOptions,
    ) -> Result<Option<StartupOptions>, String> {
        if self.cluster().is_none() {
            return Ok(Some(options.clone()));
        }
        self.sync(name).map_err(|error| error.to_string())?;
        let id = self.with(|state| {
            let start = state.servers.get(name)?.start.as_ref()?;
            match start.claim {
                Claim::Own(id) if start.number == number && start.pid.is_none() => Some(id),
                _ => None,
            }
        });
        Ok(id.map(|id| {
            let mut options = options.clone();
            options.environment.push(EnvironmentVariable {
                name: START_VARIABLE.to_owned(),
                value: format!("{id:016x}"),
            });
            options
        }))
    }

    /// Reads what the others have, shows that this repository lives, and begins to follow changes.
    ///
    /// # Errors
    /// etcd cannot be reached; a thread cannot be started.
    pub(super) fn join(&self, cluster: &Arc<Cluster>, orb: &Orb) -> Result<(), SystemException> {
        self.with(|state| state.is_shared = true);
        self.read(cluster, orb, false)
            .map_err(|error| unread(&error))?;
        cluster.beat().map_err(|error| unread(&error))?;
        let follow = {
            let (shared, cluster, orb) =
                (Arc::downgrade(self.shared()), cluster.clone(), orb.clone());
            move || follow(&cluster, &orb, || shared.upgrade().map(Self::of))
        };
        let beat = {
            let (shared, cluster) = (Arc::downgrade(self.shared()), cluster.clone());
            move || beat(&cluster, || shared.upgrade().map(Self::of))
        };
        let started = [
            ThreadSpec::named("imr-etcd").start(follow),
            ThreadSpec::named("imr-beats").start(beat),
        ];
        let mut threads = self.shared().threads.lock();
        for thread in started {
            threads.push(thread.map_err(|error| {
                SystemExceptionKind::NoResources.because(format!("no thread for etcd: {error}"))
            })?);
        }
        Ok(())
    }

    /// Reads all records, and applies what differs.
    fn read(&self, cluster: &Cluster, orb: &Orb, is_news: bool) -> Result<(), StoreError> {
        let in_order = self.shared().changes.lock();
        let news = cluster.read()?;
        self.apply(cluster, orb, &news, is_news);
        drop(in_order);
        Ok(())
    }

    /// Applies changes that others have made. Called while changes are locked out.
    fn apply(&self, cluster: &Cluster, orb: &Orb, changes: &[Write], is_news: bool) {
        let mut all: Vec<News> = changes.iter().filter_map(News::of).collect();
        all.sort_by_key(News::order);
        let about = (cluster.own(), orb);
        for news in all {
            self.event(|state, now| state.told(news, about, is_news, now));
        }
    }

    /// Ends the threads that follow etcd, and lets the others know that this repository has ended.
    pub(super) fn leave(&self) {
        let Some(cluster) = self.cluster() else {
            return;
        };
        cluster.end();
        let threads: Vec<JoinHandle<()>> = std::mem::take(&mut *self.shared().threads.lock());
        let has_joined = !threads.is_empty();
        for thread in threads {
            let _has_panicked = thread.join();
        }
        if has_joined {
            cluster.leave();
        }
    }

    fn of(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.0
    }

    fn cluster(&self) -> Option<&Arc<Cluster>> {
        match &self.0.storage {
            Some(Stored::Etcd(cluster)) => Some(cluster),
            Some(Stored::File(_)) | None => None,
        }
    }
}

fn unread(error: &StoreError) -> SystemException {
    SystemExceptionKind::PersistStore.because(format!("the servers cannot be read: {error}"))
}

/// Follows the changes of others until the end.
fn follow(cluster: &Cluster, orb: &Orb, engine: impl Fn() -> Option<Engine>) {
    let (mut member, mut is_lost) = (0, false);
    loop {
        if is_lost {
            let Some(engine) = engine() else { return };
            match engine.read(cluster, orb, true) {
                Ok(()) => is_lost = false,
                Err(error) => tracing::error!("servers cannot be read from etcd: {error}"),
            }
        }
        if !is_lost {
            is_lost = watched(cluster, orb, member, &engine);
            member += 1;
        }
        if cluster.pause(PAUSE) {
            return;
        }
    }
}

/// Watches until the connection ends. Returns whether everything has to be read again.
fn watched(
    cluster: &Cluster,
    orb: &Orb,
    member: usize,
    engine: &impl Fn() -> Option<Engine>,
) -> bool {
    let Some((mut lines, mut seen)) = cluster.watch(member) else {
        return false;
    };
    while let Ok(line) = lines.next() {
        match watch_report(&line, seen) {
            Some(WatchReport::Changes(changes, revision)) => {
                seen = revision;
                let Some(engine) = engine() else { return false };
                let in_order = engine.shared().changes.lock();
                let news = cluster.note(changes, revision);
                engine.apply(cluster, orb, &news, true);
                drop(in_order);
            }
            Some(WatchReport::Lost(why)) => {
                tracing::error!("{why}; all servers are read again");
                return true;
            }
            None => return false,
        }
    }
    false
}

/// Shows that this repository lives until the end. When etcd is there again, it gets what it has missed.
fn beat(cluster: &Cluster, engine: impl Fn() -> Option<Engine>) {
    let mut is_away = false;
    while !cluster.pause(cluster.interval()) {
        match cluster.beat() {
            Ok(()) if is_away => {
                tracing::warn!("etcd is reachable again");
                is_away = false;
                let Some(engine) = engine() else { return };
                let names = engine.with(|state: &mut State<Waiter>| {
                    state.servers.keys().cloned().collect::<Vec<_>>()
                });
                for name in names {
                    if let Err(error) = engine.sync(&name) {
                        tracing::warn!("etcd does not know how `{name}` is: {error}");
                        break;
                    }
                }
            }
            Ok(()) => {}
            Err(error) => {
                // The watched member may have lost contact with the others.
                cluster.cut();
                if !is_away {
                    tracing::warn!("changes are refused: {error}");
                }
                is_away = true;
            }
        }
    }
}
