//! The service at work: groups with their lock, the store, the clock, and calls to members and others.
//!
//! A change is made to a copy of a group, is stored, and then takes the group's place: what was acknowledged is durable. Changes
//! follow one another. Calls to members, factories, strategies, monitors and alerts are made without locks, and in bounded time.

mod adopt;
mod balance;
mod failover;
mod follow;
mod giving;
mod groups;
mod make;
mod records;
mod restoring;
mod states;
mod watch;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use punctual::poa::{
    IdAssignmentPolicy, IdUniquenessPolicy, LifespanPolicy, PoaPolicy, RequestProcessingPolicy,
    ServantManager, ServantRetentionPolicy,
};
use punctual::{
    ObjectId, ObjectRef, Orb, Poa, SystemException, SystemExceptionKind, about_to_block,
};
use punctual_events::Workers;
use punctual_exec::thread::{JoinHandle, ThreadSpec};
use punctual_groups::{Checking, Groups};
use punctual_groups_client::cos_load_balancing::LoadManager;
use punctual_host::metrics::{Exposition, Timed};
use punctual_host::store::StoreError;
use punctual_ior::{FtGroup, Ior};

pub(crate) use groups::Of;
pub(crate) use states::Numbered;

use crate::faults::Notifier;
use crate::refusal::{Refusal, Refused};
use crate::shared::EtcdRecords;
use crate::state::{Counts, Due, Group, State};
use crate::storage::{Contents, Kept, Storage};

/// Handle to the groups of a service. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Engine(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    /// Itself, for the thread that asks members.
    this: Weak<Shared>,
    state: Mutex<State>,
    /// Notified when a group has changed.
    changed: Condvar,
    /// Notified when the next due time may have changed.
    ticks: Condvar,
    /// Store of the groups, unless they are in memory.
    storage: OnceLock<Storage>,
    /// Right to write records that several servers share, if they do.
    right: OnceLock<Arc<EtcdRecords>>,
    /// Held while a change is stored and then applied, so that both happen in one order.
    changes: Mutex<()>,
    /// Contents of the store, until the groups are served.
    stored: Mutex<Contents>,
    domain: OnceLock<String>,
    knowledge: Groups<u64>,
    /// Number of the next request that a member serves once. The first one is random: members outlive this service.
    numbers: AtomicU64,
    checking: Checking,
    /// Threads that call members and others.
    callers: OnceLock<Workers>,
    /// Threads of elections, which calls to others do not hold up.
    electors: OnceLock<Workers>,
    served: OnceLock<Served>,
    balancing: OnceLock<LoadManager>,
    pub(crate) notifier: Notifier,
    clock: Mutex<Option<JoinHandle<()>>>,
    times: Timed,
}

#[derive(Debug)]
struct Served {
    orb: Orb,
    /// Adapter of the groups' own objects.
    poa: Poa,
}

/// Name of the adapter of the groups' own objects.
const ADAPTER: &str = "object-groups";

/// Maximum number of threads that call members and others.
const CALLERS: usize = 16;

/// Maximum number of threads of elections.
const ELECTORS: usize = 8;

/// Pause before what could not be stored is tried again.
const AGAIN: Duration = Duration::from_secs(1);

impl Engine {
    /// Returns an engine without groups.
    pub(crate) fn new() -> Self {
        Self(Arc::new_cyclic(|this| Shared {
            this: this.clone(),
            state: Mutex::new(State::new(crate::limits::Limits::default())),
            changed: Condvar::new(),
            ticks: Condvar::new(),
            storage: OnceLock::new(),
            right: OnceLock::new(),
            changes: Mutex::new(()),
            domain: OnceLock::new(),
            stored: Mutex::default(),
            knowledge: Groups::default(),
            numbers: AtomicU64::new(getrandom::u64().unwrap_or_default()),
            checking: Checking::default(),
            callers: OnceLock::new(),
            electors: OnceLock::new(),
            served: OnceLock::new(),
            balancing: OnceLock::new(),
            notifier: Notifier::default(),
            clock: Mutex::new(None),
            times: Timed::default(),
        }))
    }

    /// Takes the groups of a store, and the store if they are not to be in memory. Called once, before they are served.
    pub(crate) fn attach(&self, storage: Option<Storage>, mut stored: Contents) {
        self.with(|state| state.next = stored.next);
        self.0
            .domain
            .get_or_init(|| std::mem::take(&mut stored.domain));
        if let Some(storage) = storage {
            self.0.storage.get_or_init(|| storage);
        }
        *self.0.stored.lock() = stored;
    }

    /// Takes the right that this process has to have while it grants leases.
    pub(crate) fn set_right(&self, right: Arc<EtcdRecords>) {
        self.0.right.get_or_init(|| right);
    }

    /// Checks that this process may grant leases: no other one does.
    pub(crate) fn check_right(&self) -> Result<(), SystemException> {
        match self.0.right.get().is_none_or(|right| right.has_right()) {
            true => Ok(()),
            false => {
                Err(SystemExceptionKind::Transient
                    .because("this server has lost the right to serve"))
            }
        }
    }

    /// Calls `with` under the lock of the groups.
    pub(crate) fn with<R>(&self, with: impl FnOnce(&mut State) -> R) -> R {
        with(&mut self.0.state.lock())
    }

    pub(crate) fn notifier(&self) -> &Notifier {
        &self.0.notifier
    }

    pub(crate) fn domain(&self) -> &str {
        self.0.domain.get().map_or("", String::as_str)
    }

    /// Returns the number of groups, before they are served as well.
    pub(crate) fn known(&self) -> usize {
        let stored = self.0.stored.lock().groups.len();
        stored + self.with(|state| state.groups.len())
    }

    pub(crate) fn counts(&self) -> Counts {
        self.with(|state| state.counts)
    }

    fn served(&self) -> Result<&Served, SystemException> {
        let served = self.0.served.get();
        served
            .ok_or_else(|| SystemExceptionKind::Transient.because("the service is not served yet"))
    }

    /// Begins to serve: takes what the store had, and starts the clock.
    ///
    /// # Errors
    /// The adapter or a thread cannot be made.
    pub(crate) fn serve(&self, parent: &Poa, interval: Duration) -> Result<(), SystemException> {
        let policies = [
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
            PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple),
            PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain),
            PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager),
        ];
        let poa = parent.create_poa(ADAPTER, Some(parent.manager()), &policies)?;
        let locator = Arc::new(crate::forward::Locator(self.clone()));
        poa.set_servant_manager(ServantManager::Locator(locator))?;
        let orb = parent.orb().clone();
        self.0.served.get_or_init(|| Served { orb, poa });
        let no_thread = |error: &dyn std::fmt::Display| {
            SystemExceptionKind::NoResources.because(format!("no thread can be started: {error}"))
        };
        for (pool, name, most) in [
            (&self.0.callers, "group-calls", CALLERS),
            (&self.0.electors, "group-elects", ELECTORS),
        ] {
            let workers = Workers::new(name, most).map_err(|error| no_thread(&error))?;
            pool.get_or_init(|| workers);
        }
        self.0.notifier.serve().map_err(|error| no_thread(&error))?;
        let stored = std::mem::take(&mut *self.0.stored.lock());
        self.restore(stored);
        let shared = Arc::downgrade(&self.0);
        let clock = ThreadSpec::named("group-clock").start(move || {
            while let Some(shared) = shared.upgrade() {
                if !Self(shared).tick() {
                    return;
                }
            }
        });
        *self.0.clock.lock() = Some(clock.map_err(|error| no_thread(&error))?);
        let checked = Arc::downgrade(&self.0);
        let begun = self.0.checking.begin("group-checks", checked, interval);
        begun.map_err(|error| no_thread(&error))
    }

    /// Makes the reference of the load manager known, for strategies of users.
    pub(crate) fn set_balancing(&self, manager: LoadManager) {
        self.0.balancing.get_or_init(|| manager);
    }

    /// Runs a call to a member or another object on a thread of its own.
    pub(crate) fn call(&self, call: impl FnOnce(&Self) + Send + 'static) {
        let engine = self.clone();
        if let Some(callers) = self.0.callers.get() {
            callers.run(move || call(&engine));
        }
    }

    fn elect_soon(&self, call: impl FnOnce(&Self) + Send + 'static) {
        let engine = self.clone();
        if let Some(electors) = self.0.electors.get() {
            electors.run(move || call(&engine));
        }
    }

    /// Waits for what is due next, and does it. Returns whether there may be more.
    fn tick(&self) -> bool {
        let due = {
            let mut state = self.0.state.lock();
            if state.is_ending {
                return false;
            }
            match state.due.first().map(|(at, _)| *at) {
                Some(at) => {
                    self.0.ticks.wait_until(&mut state, at);
                }
                None => self.0.ticks.wait(&mut state),
            }
            let now = Instant::now();
            let mut due = Vec::new();
            while let Some((at, _)) = state.due.first()
                && *at <= now
            {
                due.extend(state.due.pop_first().map(|(_, due)| due));
            }
            due.retain(|due| is_due(&mut state, due, now));
            due
        };
        for due in due {
            match due {
                Due::Lease(id, key, token) => {
                    self.elect_soon(move |engine| engine.expire(id, &key, token));
                }
                Due::Vacancy(id) => self.elect_soon(move |engine| engine.elect(id)),
                Due::Checkpoint(id) => self.call(move |engine| engine.checkpoint(id)),
                Due::Monitors => self.ask_monitors(),
            }
        }
        true
    }

    /// Adds what is due at a time.
    pub(crate) fn due_at(&self, at: Instant, due: Due) {
        self.with(|state| state.due.insert((at, due)));
        self.0.ticks.notify_all();
    }

    /// Returns a group.
    ///
    /// # Errors
    /// ObjectGroupNotFound.
    pub(crate) fn group(&self, id: u64) -> Refused<Arc<Group>> {
        let found = self.with(|state| state.groups.get(&id).cloned());
        found.ok_or_else(Refusal::no_group)
    }

    /// Returns the id of the group that a reference is of.
    ///
    /// # Errors
    /// ObjectGroupNotFound.
    pub(crate) fn id_of(&self, object: Option<&ObjectRef>) -> Refused<u64> {
        let object = object.ok_or_else(Refusal::no_group)?;
        let stated = object.ior().group();
        let stated = stated.filter(|group| group.domain == self.domain());
        let id = match stated {
            Some(group) => Some(group.id),
            None => {
                let id = self.served()?.poa.reference_to_id(object).ok();
                id.and_then(|id| <[u8; 8]>::try_from(id.as_bytes()).ok())
                    .map(u64::from_be_bytes)
            }
        };
        let id = id.ok_or_else(Refusal::no_group)?;
        self.group(id)?;
        Ok(id)
    }

    /// Returns the reference of a group's own object.
    pub(crate) fn forwarder(&self, id: u64, type_id: &str) -> Result<ObjectRef, SystemException> {
        let object_id = ObjectId::from(&id.to_be_bytes()[..]);
        Ok(self
            .served()?
            .poa
            .create_object_with_id(&object_id, type_id)?)
    }

    /// Returns the reference of a group that clients get: of a balanced one its own object, which forwards to members; of
    /// replicas an object group reference with the profiles of those that serve, and behind them of the group's own object.
    pub(crate) fn reference(&self, id: u64, group: &Group) -> Result<ObjectRef, SystemException> {
        let served = self.served()?;
        let own = self.forwarder(id, &group.type_id)?;
        if group.is_balanced {
            return Ok(own);
        }
        let stated = FtGroup {
            domain: self.domain().to_owned(),
            id,
            version: group.version,
        };
        let mut members: Vec<Ior> = match group.is_passive() {
            // Members that wait are not in it: a client that does not know of groups would call them.
            true => {
                let primary = group.primary.as_ref();
                let primary = primary.and_then(|key| group.members.get(key));
                primary
                    .iter()
                    .map(|member| member.reference.ior().clone())
                    .collect()
            }
            false => {
                let members = group.members.values().filter(|member| !member.is_draining);
                let members = members.map(|member| member.reference.ior().clone());
                members.take(FtGroup::MOST_MEMBERS - 1).collect()
            }
        };
        // All members of an active group serve alike.
        let primary = (group.is_passive() && !members.is_empty()).then_some(0);
        members.push(own.ior().clone());
        let whole = Ior::of_group(&group.type_id, &stated, &members, primary);
        let whole =
            whole.map_err(|error| SystemExceptionKind::Internal.because(error.to_string()))?;
        served.orb.string_to_object(&whole.to_string())
    }

    /// Changes a group: stores what `edit` makes of it, and puts it in the group's place. Blocks.
    ///
    /// # Errors
    /// Those of `edit`; PERSIST_STORE. Then nothing has changed.
    pub(crate) fn change<R>(
        &self,
        id: u64,
        edit: impl FnOnce(&mut Group) -> Refused<R>,
    ) -> Refused<(R, Arc<Group>)> {
        let _ = about_to_block();
        let in_order = self.0.changes.lock();
        let former = self.group(id)?;
        let mut draft = Group::clone(&*former);
        let outcome = edit(&mut draft)?;
        draft.note_former(&former);
        draft.settings = self.with(|state| state.settings(&draft.type_id, &draft.own));
        self.store(vec![Kept::Group(id, Some(records::group(&draft)?))])?;
        let group = Arc::new(draft);
        self.with(|state| state.put(id, group.clone(), Instant::now()));
        drop(in_order);
        self.wake();
        Ok((outcome, group))
    }

    /// Lets those go on that wait for a change.
    fn wake(&self) {
        self.0.changed.notify_all();
        self.0.ticks.notify_all();
    }

    fn store(&self, changes: Vec<Kept>) -> Result<(), StoreError> {
        self.0.times.count(|| match self.0.storage.get() {
            Some(storage) => storage.change(changes),
            None => Ok(()),
        })
    }

    /// Returns unused pages of the store's file to the file system.
    pub(crate) fn compact(&self) -> Result<bool, StoreError> {
        let storage = self.0.storage.get();
        storage.map_or(Ok(false), |storage| storage.file().compact())
    }

    /// Answers all requests that wait for a primary.
    pub(crate) fn end_waiting(&self) {
        let waiting = self.with(|state| {
            state.is_ending = true;
            std::mem::take(&mut state.waiting)
        });
        self.wake();
        for pending in waiting.into_values().flatten() {
            crate::forward::refuse(pending);
        }
    }

    /// Ends the threads, after the ORB's shutdown.
    pub(crate) fn stop(&self) {
        self.with(|state| state.is_ending = true);
        self.wake();
        for workers in [&self.0.callers, &self.0.electors] {
            if let Some(workers) = workers.get() {
                workers.end();
            }
        }
        self.0.notifier.end();
        let clock = self.0.clock.lock().take();
        if let Some(clock) = clock {
            let _has_panicked = clock.join();
        }
    }

    pub(crate) fn write_metrics(&self, out: &mut Exposition) {
        out.timed("change", "Changes, until they are durable.", &self.0.times);
        let (counts, groups, members, vacant, waiting, due) = self.with(|state| {
            let members: usize = state.groups.values().map(|group| group.members.len()).sum();
            let waiting: usize = state.waiting.values().map(Vec::len).sum();
            (
                state.counts,
                state.groups.len(),
                members,
                state.vacancies.len(),
                waiting,
                state.due.len(),
            )
        });
        for (name, help, count) in [
            (
                "forwards_total",
                "Requests that were led to a member.",
                counts.forwards,
            ),
            (
                "refusals_total",
                "Requests that were refused.",
                counts.refusals,
            ),
            (
                "failovers_total",
                "Members that became primary.",
                counts.failovers,
            ),
            (
                "deaths_total",
                "Members whose lease ended, or that did not answer.",
                counts.deaths,
            ),
            ("states_total", "States that were stored.", counts.states),
            ("updates_total", "Updates that were stored.", counts.updates),
            (
                "renewals_total",
                "Leases that were renewed.",
                counts.renewals,
            ),
            (
                "faults_lost_total",
                "Faults that a slow consumer has lost.",
                self.0.notifier.lost(),
            ),
        ] {
            out.counter(name, help, count);
        }
        for (name, help, value) in [
            ("groups", "Object groups.", groups),
            ("members", "Members of all groups.", members),
            ("vacant", "Passive groups without a primary.", vacant),
            ("waiting", "Requests that wait for a primary.", waiting),
            (
                "due",
                "Leases, elections, checkpoints and questions to come.",
                due,
            ),
            (
                "fault_consumers",
                "Consumers of faults.",
                self.0.notifier.consumers(),
            ),
        ] {
            out.gauge(name, help, value as u64);
        }
        if let Some(storage) = self.0.storage.get() {
            storage.write_metrics(out);
        }
    }
}

/// Returns whether what was due still is; if it is later, it is noted again.
fn is_due(state: &mut State, due: &Due, now: Instant) -> bool {
    match due {
        Due::Lease(id, key, token) => {
            let Some(live) = state.live_mut(*id, key) else {
                return false;
            };
            if live.token != *token || live.is_dead {
                return false;
            }
            let until = live.until;
            live.looked_at = until.filter(|until| *until > now);
            match (until, live.looked_at) {
                (_, Some(later)) => {
                    state.due.insert((later, due.clone()));
                    false
                }
                (Some(_), None) => {
                    // From now on it cannot be renewed.
                    live.is_dead = true;
                    true
                }
                (None, None) => false,
            }
        }
        Due::Vacancy(id) => {
            let Some(vacancy) = state.vacancies.get_mut(id) else {
                return false;
            };
            if vacancy.after > now {
                let after = vacancy.after;
                state.due.insert((after, due.clone()));
                return false;
            }
            !std::mem::replace(&mut vacancy.is_electing, true)
        }
        Due::Checkpoint(_) | Due::Monitors => true,
    }
}
