//! Shared code of the tests: a service that is served, members in this process, and names.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use punctual::fault_tolerance::{Answered, FaultTolerance, RequestDurationPolicy, RequestId};
use punctual::policy::Collocation;
use punctual::{
    Any, Interface, ListenEndpoint, ObjectRef, Orb, RootPoa, Servant, SetOverride, SystemException,
    SystemExceptionKind,
};
use punctual_groups_client::ft::{
    CheckpointableGetStateError, CheckpointableServant, CheckpointableSetStateError, InvalidState,
    InvalidUpdate, PullMonitorableServant, State, UpdateableGetUpdateError, UpdateableServant,
    UpdateableSetUpdateError,
};
use punctual_groups_client::portable_group::Property;
use punctual_groups_client::{Guard, MemberOptions, Membership};
use punctual_groups_service::punctual_managers::{Balancing, Replication};
use punctual_groups_service::{GroupService, LOAD_MANAGER, Limits};
use punctual_host::Service;
use punctual_host::metrics::Exposition;
use punctual_naming_client::cos_naming::{Name, NameComponent};
use tempfile::TempDir;

use crate::idl::{Register, RegisterServant};

/// Lease of members that are to outlast a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Lease that a process which has ended does not keep for long.
pub(crate) const SHORT: Duration = Duration::from_millis(100);

/// Type of the members' groups.
pub(crate) const TYPE: &str = "IDL:Register:1.0";

/// A service of groups, until this is dropped.
pub(crate) struct Served {
    _folder: TempDir,
    pub(crate) service: Arc<GroupService>,
    orb: Orb,
    /// ORB of administrators, clients and members.
    pub(crate) client: Orb,
    pub(crate) replication: Replication,
    pub(crate) balancing: Balancing,
}

impl Served {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// Serves groups with other limits.
    pub(crate) fn with(change: impl FnOnce(&mut Limits)) -> Self {
        let service = GroupService::in_memory();
        let mut limits = quick();
        change(&mut limits);
        service.set_limits(limits);
        Self::serve(tempfile::tempdir().unwrap(), service)
    }

    /// Serves groups at a Unix socket and at a port.
    pub(crate) fn serve(folder: TempDir, service: GroupService) -> Self {
        Self::checking(folder, service, Duration::from_millis(20))
    }

    /// Serves groups whose members are not asked whether they live: none counts as dead because the machine is busy.
    pub(crate) fn unchecked() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::checking(
            folder,
            GroupService::in_memory(),
            Duration::from_secs(3_600),
        )
    }

    fn checking(folder: TempDir, service: GroupService, interval: Duration) -> Self {
        let socket = folder.path().join("groups.orb").display().to_string();
        let builder = Orb::builder().configure(|config| {
            config.collocation = Collocation::None;
            config.foreign_local_endpoints = true;
            config.listen = vec![
                ListenEndpoint::new("uiop", &socket),
                ListenEndpoint::iiop("127.0.0.1", 0),
            ];
        });
        let orb = builder.build().unwrap();
        let poa = orb.root_poa().unwrap();
        service.set_check_interval(interval);
        let service = Arc::new(service);
        let object = Service::serve(&*service, &poa).unwrap();
        poa.manager().activate().unwrap();
        let client = client();
        let here = |object: &ObjectRef| {
            let text = orb.object_to_string(object).unwrap();
            client.string_to_object(&text).unwrap()
        };
        let balancing = orb.resolve_initial_references(LOAD_MANAGER).unwrap();
        Self {
            _folder: folder,
            replication: Replication::from_object(here(&object)),
            balancing: Balancing::from_object(here(&balancing)),
            service,
            orb,
            client,
        }
    }

    /// Makes a group by the names of its style or strategy.
    pub(crate) fn group(&self, style: &str, strategy: &str) -> (ObjectRef, u64) {
        let (group, id) = self
            .replication
            .create_group(TYPE, style, strategy)
            .unwrap();
        (group.unwrap(), id)
    }

    /// Activates a servant in the client's ORB.
    pub(crate) fn activate(&self, servant: Arc<dyn Servant>) -> ObjectRef {
        let poa = self.client.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let id = poa.activate_object(servant).unwrap();
        poa.id_to_reference::<ObjectRef>(&id)
            .unwrap()
            .as_object()
            .clone()
    }

    /// Adds a member without a lease.
    pub(crate) fn add(&self, group: &ObjectRef, name: &str) -> Arc<Counter> {
        let counter = Counter::named(name);
        let object = self.activate(punctual::poa::servant_of::<Register, _>(counter.clone()));
        self.replication
            .add_member(Some(group), &at(name), Some(&object))
            .unwrap();
        counter
    }

    /// Adds a member that renews its lease.
    pub(crate) fn join(&self, group: &ObjectRef, name: &str, lease: Duration) -> Joined {
        let guard = Guard::new();
        let counter = Counter::named(name);
        let object =
            self.activate(guard.around(punctual::poa::servant_of::<Register, _>(counter.clone())));
        let options = MemberOptions::with_lease(lease).guard(&guard).passive();
        let membership =
            Membership::begin(&self.replication, group, name, &object, options).unwrap();
        let membership = Arc::new(membership);
        *counter.membership.lock() = Some(membership.clone());
        until(|| membership.has_joined());
        Joined {
            counter,
            membership,
        }
    }

    /// Returns the current reference of a group.
    pub(crate) fn reference(&self, group: &ObjectRef) -> ObjectRef {
        self.replication
            .get_object_group_ref(Some(group))
            .unwrap()
            .unwrap()
    }

    /// Returns the location of a group's primary.
    pub(crate) fn primary(&self, id: u64) -> Option<String> {
        let groups = self.replication.list(0, 100).unwrap();
        let group = groups.into_iter().find(|group| group.id == id).unwrap();
        let primary = group
            .the_members
            .into_iter()
            .find(|member| member.is_primary);
        primary.map(|member| member.the_location[0].id.clone())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.client.shutdown(true);
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

impl Served {
    /// Returns the service's metrics as text.
    pub(crate) fn metrics(&self) -> String {
        let mut out = Exposition::of(<GroupService as Service>::NAME);
        self.service.metrics(&mut out);
        out.into_text()
    }
}

/// A member that renews its lease.
pub(crate) struct Joined {
    pub(crate) counter: Arc<Counter>,
    pub(crate) membership: Arc<Membership>,
}

impl Joined {
    /// Leaves the group.
    pub(crate) fn leave(self) {
        *self.counter.membership.lock() = None;
    }
}

/// A register whose state is a number.
#[derive(Default)]
pub(crate) struct Counter {
    name: String,
    pub(crate) value: AtomicI32,
    pub(crate) calls: AtomicI32,
    pub(crate) states_taken: AtomicI32,
    pub(crate) updates_taken: AtomicI32,
    pub(crate) refuses_states: AtomicBool,
    /// Number of updates that it is to refuse.
    pub(crate) refuses_updates: AtomicI32,
    /// True if it stores updates, and its state only if that is needed.
    pub(crate) stores_updates: AtomicBool,
    /// Number of times that it has made its whole state.
    pub(crate) states_made: AtomicI32,
    /// Sum that it never reaches: an addition that would is refused by NO_IMPLEMENT; 0 for none.
    pub(crate) refuses_at: AtomicI32,
    /// Number of additions that have been tried here.
    pub(crate) tries: AtomicI32,
    /// Time that an addition takes, in milliseconds.
    pub(crate) takes: AtomicU64,
    /// Length of what its state has beside the value.
    pub(crate) ballast: AtomicUsize,
    /// Value that it has returned last, as a state or an update.
    returned: AtomicI32,
    pub(crate) says_it_is_dead: AtomicBool,
    pub(crate) membership: Mutex<Option<Arc<Membership>>>,
    /// Answers to requests that may be repeated. Held while the state changes.
    answered: Mutex<Answered>,
    /// Number at which the process ends when the state is stored, and before the client has its answer.
    pub(crate) dies_at: AtomicI32,
    /// Called while the state is being returned as it was before.
    pub(crate) during_get_state: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl Counter {
    pub(crate) fn named(name: &str) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            answered: Mutex::new(Answered::at_most(1_000)),
            ..Self::default()
        })
    }

    /// Returns the state with a value.
    fn state(&self, value: i32, answered: &Answered) -> Vec<u8> {
        self.states_made.fetch_add(1, Ordering::SeqCst);
        let mut state = value.to_be_bytes().to_vec();
        answered.append_to(&mut state);
        state.resize(state.len() + self.ballast.load(Ordering::SeqCst), 0);
        state
    }

    pub(crate) fn value_now(&self) -> i32 {
        self.value.load(Ordering::SeqCst)
    }
}

impl RegisterServant for Counter {
    fn add(&self) -> Result<i32, SystemException> {
        let mut answered = self.answered.lock();
        let request = RequestId::current();
        let before = request.as_ref().and_then(|request| answered.find(request));
        if let Some(Ok(before)) = before.map(<[u8; 4]>::try_from) {
            return Ok(i32::from_be_bytes(before));
        }
        let before = self.value_now();
        let next = before + 1;
        self.tries.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(self.takes.load(Ordering::SeqCst)));
        if self.refuses_at.load(Ordering::SeqCst) == next {
            return Err(SystemExceptionKind::NoImplement.because("too much"));
        }
        let mut draft = answered.clone();
        if let Some(request) = &request {
            draft.add(request.clone(), next.to_be_bytes().into());
        }
        if let Some(membership) = self.membership.lock().clone() {
            match self.stores_updates.load(Ordering::SeqCst) {
                true => {
                    let mut update = [before.to_be_bytes(), next.to_be_bytes()].concat();
                    draft.append_one_to(request.as_ref(), &mut update);
                    membership.store_update(&update, || self.state(next, &draft))?;
                }
                false => membership.store_state(&self.state(next, &draft))?,
            }
        }
        if self.dies_at.load(Ordering::SeqCst) == next {
            std::process::abort();
        }
        *answered = draft;
        self.value.store(next, Ordering::SeqCst);
        Ok(next)
    }

    fn value(&self) -> Result<i32, SystemException> {
        Ok(self.value_now())
    }

    fn whoami(&self) -> Result<String, SystemException> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Ok(self.name.clone())
    }
}

impl CheckpointableServant for Counter {
    fn get_state(&self) -> Result<State, CheckpointableGetStateError> {
        let value = self.value_now();
        if let Some(during) = &*self.during_get_state.lock() {
            during();
        }
        self.states_made.fetch_add(1, Ordering::SeqCst);
        self.returned.store(value, Ordering::SeqCst);
        let mut state = value.to_be_bytes().to_vec();
        let ballast = self.ballast.load(Ordering::SeqCst);
        if ballast > 0 {
            self.answered.lock().append_to(&mut state);
            state.resize(state.len() + ballast, 0);
        }
        Ok(state)
    }

    fn set_state(&self, s: &[u8]) -> Result<(), CheckpointableSetStateError> {
        let (state, rest) = s.split_first_chunk::<4>().ok_or(InvalidState)?;
        let mut answered = self.answered.lock();
        if !rest.is_empty() {
            answered.replace_from(rest).ok_or(InvalidState)?;
        }
        if self.refuses_states.load(Ordering::SeqCst) {
            return Err(InvalidState.into());
        }
        let value = i32::from_be_bytes(*state);
        self.value.store(value, Ordering::SeqCst);
        self.states_taken.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl PullMonitorableServant for Counter {
    fn is_alive(&self) -> Result<bool, SystemException> {
        Ok(!self.says_it_is_dead.load(Ordering::SeqCst))
    }
}

/// An update has the value before and the value after, so that one that is out of order is refused.
impl UpdateableServant for Counter {
    fn get_update(&self) -> Result<State, UpdateableGetUpdateError> {
        let value = self.value_now();
        let before = self.returned.swap(value, Ordering::SeqCst);
        if before == value {
            return Ok(Vec::new());
        }
        Ok([before.to_be_bytes(), value.to_be_bytes()].concat())
    }

    fn set_update(&self, s: &[u8]) -> Result<(), UpdateableSetUpdateError> {
        let mut answered = self.answered.lock();
        let (before, rest) = s.split_first_chunk::<4>().ok_or(InvalidUpdate)?;
        let (after, rest) = rest.split_first_chunk::<4>().ok_or(InvalidUpdate)?;
        let refuses = self.refuses_updates.load(Ordering::SeqCst);
        if refuses > 0 {
            self.refuses_updates.store(refuses - 1, Ordering::SeqCst);
            return Err(InvalidUpdate.into());
        }
        if i32::from_be_bytes(*before) != self.value_now() {
            return Err(InvalidUpdate.into());
        }
        if !rest.is_empty() {
            answered.add_from(rest).ok_or(InvalidUpdate)?;
        }
        let value = i32::from_be_bytes(*after);
        self.value.store(value, Ordering::SeqCst);
        self.updates_taken.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// Returns limits with short times.
pub(crate) fn quick() -> Limits {
    let mut limits = Limits::default();
    limits.monitor_interval = Duration::from_millis(20);
    limits
}

/// Returns an ORB of clients and members, which sends requests even to objects in this process.
pub(crate) fn client() -> Orb {
    let builder = Orb::builder().configure(|config| {
        config.collocation = Collocation::None;
        config.listen = vec![ListenEndpoint::iiop("127.0.0.1", 0)];
    });
    builder.build().unwrap()
}

/// Returns an ORB of a client that repeats calls to groups, and keeps replies for its members.
pub(crate) fn tolerant() -> Orb {
    let builder = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
    FaultTolerance::extend(builder).unwrap().build().unwrap()
}

/// Returns a client of an ORB of its own ([`tolerant`]), whose calls are repeated while [`LONG`] lasts.
pub(crate) fn tolerant_register(orb: &Orb, reference: &ObjectRef) -> Register {
    let text = orb.object_to_string(reference).unwrap();
    let client = orb.string_to_object(&text).unwrap();
    let duration = RequestDurationPolicy::policy(LONG);
    let client = client.set_policy_overrides(&[duration], SetOverride::Add);
    register(&client.unwrap())
}

/// Adds one as soon as a member answers; returns the sum.
pub(crate) fn add_at_last(client: &Register) -> i32 {
    loop {
        match client.add() {
            Ok(sum) => return sum,
            Err(error) => {
                let kind = error.kind();
                assert_ne!(kind, SystemExceptionKind::ObjectNotExist, "{error}");
            }
        }
    }
}

/// Returns a location of one component.
pub(crate) fn at(name: &str) -> Name {
    vec![NameComponent {
        id: name.to_owned(),
        kind: String::new(),
    }]
}

/// Returns a property.
pub(crate) fn property(name: &str, val: Any) -> Property {
    Property { nam: at(name), val }
}

/// Returns a group's object as what its members are.
pub(crate) fn register(object: &ObjectRef) -> Register {
    Register::from_object(object.clone())
}

/// Waits for a condition.
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        std::thread::sleep(Duration::from_millis(2));
    }
}
