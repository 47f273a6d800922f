//! The repository at work: the state with its lock, the store, the clock, and the calls that follow from events.
//!
//! An event is applied under the lock; the actions that follow are made without it. Changes that others rely on are durable
//! before they are applied and acknowledged: registrations of servers, processes and activators. That a process has died is
//! stored as well, but nothing depends on it, as a process from the store is asked before anyone is led to it.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use punctual::{ObjectRef, Orb, SystemException, SystemExceptionKind, about_to_block};
use punctual_exec::thread::{JoinHandle, ThreadSpec};
use punctual_host::metrics::{Exposition, Timed};
use punctual_host::store::StoreError;

use super::callers::{Callers, host_of};
use super::calls::{self, NotStarted};
use super::cluster::Cluster;
use super::outcome::{Action, Answered, By, Place};
use super::server::{Run, Server};
use super::state::{Activator, Counts, State};
use super::storage::{Contents, Kept, Storage, not_stored};
use super::waiter::Waiter;
use crate::activator::Processes;
use crate::implementation_repository::StartupOptions;
use crate::kept;
use crate::limits::Limits;

/// Handle to a repository. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Engine(pub(super) Arc<Shared>);

/// Place where a repository keeps its servers.
#[derive(Debug)]
pub(crate) enum Stored {
    File(Storage),
    /// Several repositories share them.
    Etcd(Arc<Cluster>),
}

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State<Waiter>>,
    /// Notified when the time of the next tick may have changed.
    ticks: Condvar,
    pub(super) storage: Option<Stored>,
    /// Held while a change is stored and then applied, so that both happen in one order.
    pub(super) changes: Mutex<()>,
    /// Contents of the store, until the repository is served.
    stored: Mutex<Contents>,
    callers: Callers,
    /// Thread of the ticks.
    clock: Mutex<Option<JoinHandle<()>>>,
    /// Threads that follow etcd.
    pub(super) threads: Mutex<Vec<JoinHandle<()>>>,
    orb: OnceLock<Orb>,
    /// Processes of the activator in this process, if it has one.
    own: OnceLock<Processes>,
    times: Timed,
}

/// Starter of processes: an activator, or this process.
enum Starter {
    Object(ObjectRef),
    Here(Processes),
}

/// Signal that ends a process at once.
const SIGKILL: i16 = 9;

pub(super) type Actions = Vec<Action<Waiter>>;

impl Engine {
    pub(crate) fn new(storage: Option<Stored>, stored: Contents) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State::new(Limits::default())),
            ticks: Condvar::new(),
            storage,
            changes: Mutex::new(()),
            stored: Mutex::new(stored),
            callers: Callers::new(),
            clock: Mutex::new(None),
            threads: Mutex::default(),
            orb: OnceLock::new(),
            own: OnceLock::new(),
            times: Timed::default(),
        }))
    }

    /// Calls `with` under the lock of the state.
    pub(crate) fn with<R>(&self, with: impl FnOnce(&mut State<Waiter>) -> R) -> R {
        with(&mut self.0.state.lock())
    }

    /// Applies an event, and makes the actions that follow from it.
    pub(crate) fn event(&self, event: impl FnOnce(&mut State<Waiter>, Instant) -> Actions) {
        let actions = self.with(|state| event(state, Instant::now()));
        self.0.ticks.notify_all();
        self.perform(actions);
    }

    fn perform(&self, actions: Actions) {
        let Some(orb) = self.0.orb.get() else { return };
        for action in actions {
            match action {
                Action::Answer(waiter, outcome) => waiter.answer(orb, outcome),
                call => {
                    let engine = self.clone();
                    let host = self.host_called(&call);
                    self.0.callers.run(host, move || engine.call(call));
                }
            }
        }
    }

    /// Returns the host that an action calls; empty for this process.
    fn host_called(&self, action: &Action<Waiter>) -> String {
        let activator = match action {
            Action::Answer(..) | Action::Store { .. } => return String::new(),
            Action::Ping { object, .. } => return host_of(object),
            Action::Start { activator, .. }
            | Action::Look { activator, .. }
            | Action::Kill { activator, .. } => activator,
        };
        match self.activator(activator) {
            Ok(Starter::Object(object)) => host_of(&object),
            Ok(Starter::Here(_)) | Err(_) => String::new(),
        }
    }

    /// Begins the call of an action.
    fn call(&self, action: Action<Waiter>) {
        match action {
            Action::Answer(..) => {}
            Action::Store { name } => {
                if let Err(error) = self.sync(&name) {
                    tracing::warn!("etcd does not know how `{name}` is: {error}");
                }
            }
            Action::Start {
                number,
                name,
                activator,
                options,
            } => self.start(number, name, &activator, &options),
            Action::Ping {
                number,
                name,
                object,
            } => {
                let engine = self.clone();
                let time = self.with(|state| state.limits.ping);
                calls::ping(&object, time, move |answered| {
                    engine.event(|state, now| state.pinged(&name, number, answered, now));
                });
            }
            Action::Look {
                name,
                activator,
                pid,
            } => {
                let (engine, named) = (self.clone(), name.clone());
                self.kill(&name, &activator, pid, 0, move |found| {
                    if found != Ok(true) {
                        let is_certain = found.is_ok();
                        engine.event(|state, now| state.gone(&named, pid, is_certain, now));
                    }
                });
            }
            Action::Kill {
                name,
                activator,
                pid,
            } => self.kill(&name, &activator, pid, SIGKILL, |_| {}),
        }
    }

    fn start(&self, number: u64, name: String, activator: &str, options: &StartupOptions) {
        let options = match self.claimed(&name, number, options) {
            Ok(Some(options)) => options,
            Ok(None) => return,
            Err(why) => {
                self.event(|state, now| state.start_refused(&name, number, &why, now));
                return;
            }
        };
        tracing::info!("`{name}` is started by the activator `{activator}`");
        let engine = self.clone();
        let named = name.clone();
        let failed = move |why: NotStarted| {
            engine.event(|state, now| match why {
                NotStarted::Refused(why) => state.start_failed(&name, number, &why, now),
                NotStarted::NotAskedFor(why) => state.start_not_asked_for(&name, number, &why, now),
            });
        };
        match self.activator(activator) {
            Ok(Starter::Here(processes)) => {
                let started = |pid| self.spawned(&named, pid);
                if let Err(why) = processes.start(&named, &options, started) {
                    failed(NotStarted::Refused(why.to_string()));
                }
            }
            Ok(Starter::Object(object)) => calls::start(&object, &named, &options, failed),
            Err(why) => failed(NotStarted::NotAskedFor(why)),
        }
    }

    /// Takes a process that an activator has started for a server.
    pub(super) fn spawned(&self, name: &str, pid: i32) {
        self.event(|state, now| {
            state.spawned(name, pid, now);
            Vec::new()
        });
    }

    /// Sends a signal to a process of a server; `then` gets whether the process exists, or why that is not known.
    pub(super) fn kill(
        &self,
        name: &str,
        activator: &str,
        pid: i32,
        signal: i16,
        then: impl FnOnce(Result<bool, String>) + Send + 'static,
    ) {
        match self.activator(activator) {
            Ok(Starter::Here(processes)) => then(Ok(processes.kill(name, pid, i32::from(signal)))),
            Ok(Starter::Object(object)) => calls::kill(&object, (name, pid, signal), then),
            Err(why) => then(Err(why)),
        }
    }

    /// Returns what starts processes under the name of an activator.
    fn activator(&self, wanted: &str) -> Result<Starter, String> {
        let found = self.with(|state| state.activator(wanted).cloned());
        let own = self.0.own.get();
        match (found, own) {
            (
                Some(Activator {
                    object: Some(object),
                    ..
                }),
                _,
            ) => Ok(Starter::Object(object)),
            (Some(_), Some(processes)) => Ok(Starter::Here(processes.clone())),
            _ => Err(format!("there is no activator `{wanted}`")),
        }
    }

    /// Queues the question whether a server lives.
    pub(super) fn ping(&self, object: ObjectRef, then: impl FnOnce(Answered) + Send + 'static) {
        let time = self.with(|state| state.limits.ping);
        let call = {
            let object = object.clone();
            move || calls::ping(&object, time, then)
        };
        self.0.callers.run(host_of(&object), call);
    }

    /// Queues the call that asks a server's process to end.
    pub(super) fn end_server(&self, object: ObjectRef) {
        let host = host_of(&object);
        self.0.callers.run(host, move || calls::end_server(&object));
    }

    /// Stores changes, which are made of the state, applies it, and makes the actions that follow. Blocks.
    ///
    /// # Errors
    /// INTERNAL if it cannot be stored. Then nothing has changed.
    pub(super) fn change(
        &self,
        changes: impl Fn(&State<Waiter>) -> Vec<Kept>,
        apply: impl FnOnce(&mut State<Waiter>, Instant) -> Actions,
    ) -> Result<(), SystemException> {
        let _ = about_to_block();
        let in_order = self.0.times.count(|| match &self.0.storage {
            Some(Stored::File(storage)) => {
                let in_order = self.0.changes.lock();
                storage.change(self.with(|state| changes(state)))?;
                Ok(in_order)
            }
            Some(Stored::Etcd(cluster)) => {
                let until = Instant::now() + cluster.patience();
                loop {
                    let in_order = self.0.changes.lock();
                    let version = cluster.version();
                    if self.write(cluster, self.with(|state| changes(state)))? {
                        return Ok(in_order);
                    }
                    drop(in_order);
                    cluster.wait_for_others(version, until)?;
                }
            }
            None => {
                let in_order = self.0.changes.lock();
                let _not_kept = self.with(|state| changes(state));
                Ok(in_order)
            }
        });
        let in_order = in_order.map_err(|error: StoreError| not_stored(&error))?;
        let actions = self.with(|state| apply(state, Instant::now()));
        drop(in_order);
        self.0.ticks.notify_all();
        self.perform(actions);
        Ok(())
    }

    /// Stores that a server's process has ended, if it can be stored.
    pub(super) fn store_end(&self, name: &str) {
        let _ = about_to_block();
        let _in_order = self.0.changes.lock();
        let record = self.with(|state| state.servers.get(name).map(record));
        if let (Some(record), Some(Stored::File(storage))) = (record, &self.0.storage) {
            let _is_logged = storage.change(vec![Kept::Server(name.to_owned(), Some(record))]);
        }
    }

    /// Begins to serve: takes what the store had, and starts the clock.
    ///
    /// # Errors
    /// NO_RESOURCES if the thread cannot be started.
    pub(super) fn serve(&self, orb: &Orb) -> Result<(), SystemException> {
        self.0.orb.get_or_init(|| orb.clone());
        let stored = std::mem::take(&mut *self.0.stored.lock());
        self.with(|state| restore(state, orb, stored));
        if let Some(Stored::Etcd(cluster)) = &self.0.storage {
            self.join(cluster, orb)?;
        }
        let shared = Arc::downgrade(&self.0);
        let clock = ThreadSpec::named("imr-clock").start(move || {
            while let Some(shared) = shared.upgrade() {
                let engine = Self(shared);
                if !engine.tick() {
                    return;
                }
            }
        });
        let clock = clock.map_err(|error| {
            SystemExceptionKind::NoResources.because(format!("no thread for the clock: {error}"))
        })?;
        *self.0.clock.lock() = Some(clock);
        Ok(())
    }

    /// Waits for the time of the next tick or a change of it, and makes the tick. Returns whether there may be another one.
    fn tick(&self) -> bool {
        let is_over = || self.0.orb.get().is_none_or(Orb::is_shut_down);
        let actions = {
            let mut state = self.0.state.lock();
            // Checked under the lock under which `stop` notifies.
            if is_over() {
                return false;
            }
            match state.next_tick() {
                Some(next) => {
                    self.0.ticks.wait_until(&mut state, next);
                }
                None => self.0.ticks.wait(&mut state),
            }
            state.tick(Instant::now())
        };
        self.perform(actions);
        !is_over()
    }

    /// Makes the activator in this process known.
    pub(crate) fn set_own_activator(&self, name: String, processes: Processes) {
        let activator = Activator {
            token: 0,
            object: None,
            is_stored: false,
        };
        self.with(|state| state.activators.insert(name, activator));
        self.0.own.get_or_init(|| processes);
    }

    /// Lets the activator in this process begin, if there is one: it takes over the processes that go on, and starts the servers that
    /// are to run whenever it does.
    pub(super) fn start_own(&self, locator: &ObjectRef) {
        let own = self.with(|state| {
            let mut own = state
                .activators
                .iter()
                .filter(|(_, one)| one.object.is_none());
            own.next().map(|(name, _)| name.clone())
        });
        let (Some(name), Some(processes)) = (own, self.0.own.get()) else {
            return;
        };
        processes.set_repository(&name, text_of(locator));
        processes.take_over(|server, pid| {
            self.with(|state| state.goes_on(server, pid, &name, Instant::now()));
        });
        self.start_with(&name);
    }

    /// Returns the number of servers, before it is served as well.
    pub(super) fn known(&self) -> usize {
        let stored = self.0.stored.lock().servers.len();
        stored + self.with(|state| state.servers.len())
    }

    /// Starts the servers that are to run whenever their activator does.
    pub(crate) fn start_with(&self, activator: &str) {
        for name in self.with(|state| state.started_with(activator)) {
            self.event(|state, now| state.requested(&name, Waiter::Nothing, By::Operator, now));
        }
    }

    /// Returns unused pages of the store's file to the file system.
    pub(super) fn compact(&self) -> Result<bool, StoreError> {
        match &self.0.storage {
            Some(Stored::File(storage)) => storage.file().compact(),
            Some(Stored::Etcd(_)) | None => Ok(false),
        }
    }

    /// Answers all waiters, and lets none wait from then on.
    pub(crate) fn end_waiting(&self) {
        self.event(|state, _| {
            // With no room, those who come later are answered at once.
            state.limits.waiting = 0;
            state.end_waiting()
        });
    }

    /// Ends the threads, after the ORB's shutdown, so that the store is free.
    pub(crate) fn stop(&self) {
        self.0.callers.end();
        self.leave();
        self.with(|_| self.0.ticks.notify_all());
        let clock = self.0.clock.lock().take();
        if let Some(clock) = clock {
            let _has_panicked = clock.join();
        }
        if let Some(processes) = self.0.own.get() {
            processes.stop();
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.with(|state| state.counts)
    }

    pub(crate) fn write_metrics(&self, out: &mut Exposition) {
        out.timed("change", "Changes, until they are durable.", &self.0.times);
        let (counts, servers, running, waiting) = self.with(|state| {
            let servers = state.servers.values();
            let running = servers.clone().filter(|one| one.run.is_some()).count();
            let waiting: usize = servers.map(Server::waiting).sum();
            (state.counts, state.servers.len(), running, waiting)
        });
        for (name, help, count) in [
            (
                "forwards_total",
                "Clients that were led to a server.",
                counts.forwards,
            ),
            (
                "refusals_total",
                "Clients that were refused.",
                counts.refusals,
            ),
            (
                "starts_total",
                "Processes that were started.",
                counts.starts,
            ),
            (
                "failed_starts_total",
                "Starts that have failed.",
                counts.failed_starts,
            ),
            ("deaths_total", "Processes that have ended.", counts.deaths),
            (
                "pings_total",
                "Questions whether a server lives.",
                counts.pings,
            ),
        ] {
            out.counter(name, help, count);
        }
        out.gauge("servers", "Servers that are registered.", servers as u64);
        out.gauge(
            "running",
            "Servers with a registered process.",
            running as u64,
        );
        out.gauge("waiting", "Clients that wait for a server.", waiting as u64);
        if let Some(Stored::File(storage)) = &self.0.storage {
            storage.write_metrics(out);
        }
    }
}

/// Returns the record of a server.
pub(super) fn record(server: &Server<Waiter>) -> kept::Server {
    let mut record = kept::Server {
        options: server.options.clone(),
        ..kept::Server::default()
    };
    if let Some(run) = &server.run {
        set_run(&mut record, &run.place, run.pid);
    }
    record
}

/// Writes a running process into a server's record.
pub(super) fn set_run(record: &mut kept::Server, place: &Place, pid: Option<i32>) {
    record.partial_ior.clone_from(&place.partial);
    record.pid = pid.unwrap_or_default();
    let text = place.object.as_ref().map(text_of);
    record.server_object = text.unwrap_or_default();
}

/// Returns a reference as text; empty if it has parts that are too long.
pub(super) fn text_of(object: &ObjectRef) -> String {
    object.orb().object_to_string(object).unwrap_or_default()
}

/// Makes the contents of a store the state. Nothing is known of the processes but where they were.
fn restore(state: &mut State<Waiter>, orb: &Orb, stored: Contents) {
    let object = |text: &str| match text {
        "" => None,
        text => orb.string_to_object(text).ok(),
    };
    for (name, kept) in stored.activators {
        if let Some(reference) = object(&kept.reference) {
            let activator = Activator {
                token: kept.token,
                object: Some(reference),
                is_stored: true,
            };
            state.activators.insert(name, activator);
        }
    }
    for (name, kept) in stored.servers {
        let mut server = Server::new(kept.options);
        let place = Place {
            partial: kept.partial_ior,
            object: object(&kept.server_object),
        };
        if place.object.is_some() || !place.partial.is_empty() {
            server.run = Some(Run {
                number: 0,
                place,
                pid: Some(kept.pid).filter(|pid| *pid != 0),
                activator: String::new(),
                is_followed: false,
                awaits_pid: false,
                peer: None,
                since: Instant::now(),
                ended: None,
                is_to_end: false,
                is_verified: false,
            });
        }
        state.servers.insert(name, server);
    }
    for (name, leader) in stored.links {
        if let Some(server) = state.servers.get_mut(&name) {
            server.leader = Some(leader);
        }
    }
}
