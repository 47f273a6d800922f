//! Groups in memory: what is stored of them, what is known of their members while the service runs, and what is due when.
//!
//! A stored part is replaced as a whole, once it is durable. What is not stored begins anew with the service: leases, loads,
//! alerts, monitors.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual::asynchronous::PendingReply;
use punctual::{Any, ObjectRef};
use punctual_groups::Members;
use punctual_groups_client::cos_load_balancing::{LoadAlert, LoadList, LoadMonitor};
use punctual_groups_client::portable_group::GenericFactory;

use crate::history::{ChangeKind, History};
use crate::limits::Limits;
use crate::log::Stored;
use crate::names::Key;
use crate::properties::{Properties, Settings};
use crate::revisions::Revisions;

/// Stored part of a group.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) type_id: String,
    /// True if clients are led to members by a strategy; false if the group is one of replicas.
    pub(crate) is_balanced: bool,
    /// Properties of the group's own.
    pub(crate) own: Properties,
    /// Settings by these, and by those of its type and of all types, when it was last changed.
    pub(crate) settings: Settings,
    pub(crate) version: u32,
    pub(crate) primary: Option<Key>,
    pub(crate) next_token: u64,
    /// While there is no primary: the longest lease of those that were primary since there was one. They may serve as long.
    pub(crate) former_lease: Option<Duration>,
    pub(crate) members: BTreeMap<Key, Member>,
}

/// Stored part of a member.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) reference: ObjectRef,
    pub(crate) token: u64,
    pub(crate) lease: Option<Duration>,
    pub(crate) is_draining: bool,
    pub(crate) creation: Option<Creation>,
}

/// Factory and number of a member, so that it can be deleted.
#[derive(Clone, Debug)]
pub(crate) struct Creation {
    pub(crate) id: Any,
    pub(crate) by: GenericFactory,
}

/// Data about a member that are not stored.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) token: u64,
    /// End of its lease; `None` without one.
    pub(crate) until: Option<Instant>,
    /// Time at which the end of its lease is due to be looked at.
    pub(crate) looked_at: Option<Instant>,
    /// Number of the last state or update that it has tried to store.
    pub(crate) stored: u64,
    /// Number of the last one of these that was stored.
    pub(crate) kept: u64,
    /// As long as it is primary: place of what it has given last as a checkpoint, if its next update follows that.
    pub(crate) taken: Option<u64>,
    /// True if it gives no updates.
    pub(crate) has_no_updates: bool,
    /// As long as it is not primary: place up to which it has what is stored, if that is known.
    pub(crate) has: Option<u64>,
    pub(crate) chosen: u64,
    pub(crate) load: Option<f32>,
    pub(crate) is_dead: bool,
    /// True if it may still take a state that it was given.
    pub(crate) is_unsure: bool,
    /// True if it has not taken the last state that it was given.
    pub(crate) takes_no_state: bool,
}

/// Group that is to have a primary, and has none.
#[derive(Clone, Debug)]
pub(crate) struct Vacancy {
    /// Time from which on there can be another one: the former primary's lease has ended by then.
    pub(crate) after: Instant,
    pub(crate) preferred: Option<Key>,
    pub(crate) is_electing: bool,
}

/// Event that is due at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// A member's lease may end, unless it was renewed.
    Lease(u64, Key, u64),
    /// A group may get a primary.
    Vacancy(u64),
    /// The primary of a group is asked for its state.
    Checkpoint(u64),
    /// Monitors are asked for loads.
    Monitors,
}

impl Due {
    /// Returns whether it is due for members of a group, or for a group without a primary.
    fn is_of(&self, group: u64) -> bool {
        match self {
            Self::Lease(id, ..) | Self::Vacancy(id) => *id == group,
            Self::Checkpoint(_) | Self::Monitors => false,
        }
    }
}

/// Alert of a location.
#[derive(Clone, Debug)]
pub(crate) struct Alert {
    pub(crate) object: LoadAlert,
    pub(crate) is_enabled: bool,
}

/// Numbers since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) forwards: u64,
    pub(crate) refusals: u64,
    pub(crate) failovers: u64,
    pub(crate) deaths: u64,
    pub(crate) states: u64,
    pub(crate) updates: u64,
    pub(crate) renewals: u64,
}

/// Groups of a service.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) groups: BTreeMap<u64, Arc<Group>>,
    pub(crate) next: u64,
    /// Properties of all types.
    pub(crate) defaults: Properties,
    /// Properties of types, with the numbers of their records.
    pub(crate) types: BTreeMap<String, (u64, Properties)>,
    /// States for the next primaries, with the updates since.
    pub(crate) states: HashMap<u64, Stored>,
    /// Length of all states and updates.
    pub(crate) state_bytes: usize,
    pub(crate) live: HashMap<u64, HashMap<Key, Live>>,
    pub(crate) vacancies: BTreeMap<u64, Vacancy>,
    /// Times until which former primaries of groups may serve.
    pub(crate) served_until: HashMap<u64, Instant>,
    /// Members that are to be primary next.
    pub(crate) preferred: HashMap<u64, Key>,
    /// Requests that wait for a primary.
    pub(crate) waiting: HashMap<u64, Vec<PendingReply>>,
    pub(crate) loads: HashMap<Key, LoadList>,
    pub(crate) monitors: BTreeMap<Key, LoadMonitor>,
    /// Monitors that have been asked, and have not answered.
    pub(crate) asked: HashSet<Key>,
    pub(crate) alerts: BTreeMap<Key, Alert>,
    /// Groups whose backups are to get the state.
    pub(crate) dirty: HashSet<u64>,
    /// Groups whose primaries are being asked for a checkpoint.
    pub(crate) taking: HashSet<u64>,
    /// Members that are being given a state.
    pub(crate) transfers: HashSet<(u64, Key)>,
    /// Groups whose own strategy has failed, until when it is not asked.
    pub(crate) bypassed: HashMap<u64, Instant>,
    /// Groups with a checkpoint that is due or being taken.
    pub(crate) checkpoints: HashSet<u64>,
    pub(crate) due: BTreeSet<(Instant, Due)>,
    pub(crate) counts: Counts,
    pub(crate) history: History,
    pub(crate) revisions: Revisions,
    pub(crate) is_ending: bool,
}

impl State {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            groups: BTreeMap::new(),
            next: 1,
            defaults: Properties::default(),
            types: BTreeMap::new(),
            states: HashMap::new(),
            state_bytes: 0,
            live: HashMap::new(),
            vacancies: BTreeMap::new(),
            served_until: HashMap::new(),
            preferred: HashMap::new(),
            waiting: HashMap::new(),
            loads: HashMap::new(),
            monitors: BTreeMap::new(),
            asked: HashSet::new(),
            alerts: BTreeMap::new(),
            dirty: HashSet::new(),
            taking: HashSet::new(),
            transfers: HashSet::new(),
            bypassed: HashMap::new(),
            checkpoints: HashSet::new(),
            due: BTreeSet::new(),
            counts: Counts::default(),
            history: History::default(),
            revisions: Revisions::default(),
            is_ending: false,
        }
    }

    /// Returns what follows from the properties of a group with these of its own.
    pub(crate) fn settings(&self, type_id: &str, own: &Properties) -> Settings {
        let of_type = self.types.get(type_id).map(|(_, properties)| properties);
        Properties::settings(
            [Some(&self.defaults), of_type, Some(own)]
                .into_iter()
                .flatten(),
        )
    }

    /// Puts a stored group in place of the former one, and notes what is due for it.
    pub(crate) fn put(&mut self, id: u64, group: Arc<Group>, now: Instant) {
        let former = self.groups.get(&id).cloned();
        if let Some(former) = &former {
            self.note_changes(id, former, &group);
        }
        let mut live = self.live.remove(&id).unwrap_or_default();
        self.note_served(id, former.as_deref(), &group, &live, now);
        self.note_vacancy(id, &group, now);
        live.retain(|key, one| {
            let member = group.members.get(key);
            let stays = member.is_some_and(|member| member.token == one.token);
            if let Some(at) = one.looked_at.filter(|_| !stays) {
                // Not before its time: members may come and go faster than leases end.
                self.due
                    .remove(&(at, Due::Lease(id, key.clone(), one.token)));
            }
            stays
        });
        for (key, member) in &group.members {
            if !live.contains_key(key) {
                let until = member.lease.map(|lease| now + lease);
                live.insert(
                    key.clone(),
                    Live {
                        token: member.token,
                        until,
                        looked_at: until,
                        stored: 0,
                        kept: 0,
                        taken: None,
                        has_no_updates: false,
                        has: None,
                        chosen: 0,
                        load: None,
                        is_dead: false,
                        is_unsure: false,
                        takes_no_state: false,
                    },
                );
                if let Some(until) = until {
                    let due = Due::Lease(id, key.clone(), member.token);
                    self.due.insert((until, due));
                }
            }
        }
        let primary = group.primary.as_ref();
        for (key, one) in &mut live {
            match primary == Some(key) {
                true => one.has = None,
                false => one.taken = None,
            }
        }
        self.live.insert(id, live);
        if let Some(interval) = group.settings.checkpoint
            && group.settings.style.is_passive()
            && !group.is_balanced
            && self.checkpoints.insert(id)
        {
            self.due.insert((now + interval, Due::Checkpoint(id)));
        }
        self.groups.insert(id, group);
        self.revisions.touch(id);
    }

    /// Notes until when a primary may serve that is none any more: it may not know that yet.
    fn note_served(
        &mut self,
        id: u64,
        former: Option<&Group>,
        group: &Group,
        live: &HashMap<Key, Live>,
        now: Instant,
    ) {
        let until = match former {
            Some(former) => {
                let served = former.primary.as_ref().and_then(|key| live.get(key));
                served
                    .filter(|_| former.primary != group.primary)
                    .and_then(|served| served.until)
            }
            // After a start of the service, the former primary is not known.
            None => {
                let leases = group.members.values().filter_map(|one| one.lease);
                let longest = leases.chain(group.former_lease).max();
                longest
                    .filter(|_| group.primary.is_none())
                    .map(|lease| now + lease)
            }
        };
        let served = self.served_until.get(&id).copied();
        match served.max(until).filter(|until| *until > now) {
            Some(until) => self.served_until.insert(id, until),
            None => self.served_until.remove(&id),
        };
    }

    fn note_vacancy(&mut self, id: u64, group: &Group, now: Instant) {
        if group.primary.is_some() || !group.has_primary() {
            self.vacancies.remove(&id);
            return;
        }
        let served = self.served_until.get(&id).copied();
        let after = served.map_or(now, |until| until.max(now));
        let preferred = self.preferred.remove(&id);
        let vacancy = self.vacancies.entry(id).or_insert(Vacancy {
            after,
            preferred: None,
            is_electing: false,
        });
        vacancy.after = vacancy.after.max(after);
        vacancy.preferred = preferred.or_else(|| vacancy.preferred.take());
        self.due.insert((vacancy.after, Due::Vacancy(id)));
    }

    /// Removes all that is known of a group; returns the requests that wait for it.
    pub(crate) fn remove(&mut self, id: u64) -> Vec<PendingReply> {
        self.groups.remove(&id);
        self.live.remove(&id);
        self.vacancies.remove(&id);
        self.served_until.remove(&id);
        self.preferred.remove(&id);
        self.bypassed.remove(&id);
        self.due.retain(|(_, due)| !due.is_of(id));
        self.set_stored(id, None);
        self.dirty.remove(&id);
        self.history.forget(id);
        self.revisions.remove(id);
        self.waiting.remove(&id).unwrap_or_default()
    }

    /// Sets or removes the state of a group and its updates.
    pub(crate) fn set_stored(&mut self, id: u64, stored: Option<Stored>) {
        self.state_bytes += stored.as_ref().map_or(0, Stored::bytes);
        let former = match stored {
            Some(stored) => self.states.insert(id, stored),
            None => self.states.remove(&id),
        };
        self.state_bytes -= former.map_or(0, |former| former.bytes());
    }

    /// Adds an update to the log of a group that has a state.
    pub(crate) fn add_update(&mut self, id: u64, update: Arc<[u8]>) {
        if let Some(stored) = self.states.get_mut(&id) {
            self.state_bytes += update.len();
            stored.add(update);
        }
    }

    /// Returns whether a state of a group, of so many bytes, is within the limits. It takes the place of the one before, and of
    /// the updates since.
    pub(crate) fn has_room(&self, id: u64, bytes: usize) -> bool {
        let former = self.states.get(&id).map_or(0, Stored::bytes);
        let all = (self.state_bytes - former).saturating_add(bytes);
        bytes <= self.limits.state_bytes && all <= self.limits.all_state_bytes
    }

    /// Returns whether a group has a state, and its log has room for an update of so many bytes.
    pub(crate) fn has_room_for_update(&self, id: u64, bytes: usize) -> bool {
        self.states.get(&id).is_some_and(|stored| {
            let log = stored.update_bytes().saturating_add(bytes);
            let all = self.state_bytes.saturating_add(bytes);
            stored.updates().len() < self.limits.updates
                && log <= self.limits.update_bytes
                && all <= self.limits.all_state_bytes
        })
    }

    /// Removes the loads of locations that have neither a member nor a monitor.
    pub(crate) fn forget_loads(&mut self) {
        let groups = self.groups.values();
        let there: HashSet<&Key> = groups.flat_map(|group| group.members.keys()).collect();
        let monitors = &self.monitors;
        self.loads
            .retain(|key, _| there.contains(key) || monitors.contains_key(key));
    }

    /// Returns the groups that have a member at a location.
    pub(crate) fn at(&self, key: &str) -> Vec<u64> {
        let groups = self.groups.iter();
        let groups = groups.filter(|(_, group)| group.members.contains_key(key));
        groups.map(|(id, _)| *id).collect()
    }

    /// Notes the differences between two states of a group.
    fn note_changes(&mut self, id: u64, former: &Group, group: &Group) {
        let mut note = |key: &Key, kind| self.history.note(id, key, kind);
        if let Some(primary) = former.primary.as_ref()
            && group.primary.as_ref() != Some(primary)
        {
            note(primary, ChangeKind::WasPrimary);
        }
        for key in former.members.keys() {
            if !group.members.contains_key(key) {
                note(key, ChangeKind::Left);
            }
        }
        for (key, member) in &group.members {
            match former.members.get(key) {
                None => note(key, ChangeKind::Joined),
                Some(before) if before.token != member.token => {
                    note(key, ChangeKind::JoinedAgain);
                }
                Some(_) => {}
            }
        }
        if let Some(primary) = group.primary.as_ref()
            && former.primary.as_ref() != Some(primary)
        {
            note(primary, ChangeKind::BecamePrimary);
        }
    }

    /// Notes that a member has died.
    pub(crate) fn note_death(&mut self, id: u64, key: &Key) {
        self.counts.deaths += 1;
        self.history.note(id, key, ChangeKind::Died);
    }

    pub(crate) fn live_mut(&mut self, id: u64, key: &str) -> Option<&mut Live> {
        self.live.get_mut(&id)?.get_mut(key)
    }

    /// Returns whether a member's lease, if it has one, has not ended, and it is not known to be dead.
    pub(crate) fn lives(&self, id: u64, key: &str, now: Instant) -> bool {
        let live = self.live.get(&id).and_then(|live| live.get(key));
        live.is_some_and(|live| !live.is_dead && live.until.is_none_or(|until| now < until))
    }

    /// Returns whether a passive group has no primary that lives.
    pub(crate) fn is_vacant(&self, id: u64) -> bool {
        let now = Instant::now();
        let lives = |key: &Key| self.lives(id, key, now);
        let group = self.groups.get(&id);
        group.is_some_and(|group| group.is_passive() && !group.primary.as_ref().is_some_and(lives))
    }

    /// Returns the members of a group that clients may be led to: if possible, those that do not shed load.
    pub(crate) fn eligible<'g>(&self, id: u64, group: &'g Group, now: Instant) -> Eligible<'g> {
        let live = self.live.get(&id);
        let mut ruled_out = HashSet::new();
        let mut shedding = HashSet::new();
        for (key, member) in &group.members {
            let load = live
                .and_then(|live| live.get(key))
                .and_then(|live| live.load);
            let is_full = load.is_some_and(|load| group.settings.strategy.rejects(load));
            if member.is_draining || is_full || !self.lives(id, key, now) {
                ruled_out.insert(key.clone());
            } else if self.alerts.get(key).is_some_and(|alert| alert.is_enabled) {
                shedding.insert(key.clone());
            }
        }
        if ruled_out.len() + shedding.len() < group.members.len() {
            ruled_out.extend(shedding);
        }
        Eligible { group, ruled_out }
    }
}

impl Group {
    /// Notes the lease of the primary that the group had before a change, if it has none now.
    pub(crate) fn note_former(&mut self, former: &Self) {
        if self.primary.is_some() {
            self.former_lease = None;
            return;
        }
        let primary = former.primary.as_ref();
        let lease = primary.and_then(|key| former.members.get(key)?.lease);
        self.former_lease = self.former_lease.max(lease);
    }

    /// Returns whether one member serves, and the others wait.
    pub(crate) fn is_passive(&self) -> bool {
        !self.is_balanced && self.settings.style.is_passive()
    }

    /// Returns whether one member is primary, and stores the group's state.
    pub(crate) fn has_primary(&self) -> bool {
        !self.is_balanced && self.settings.style.has_primary()
    }
}

/// Members of a group that clients may be led to.
#[derive(Debug)]
pub(crate) struct Eligible<'g> {
    group: &'g Group,
    ruled_out: HashSet<Key>,
}

impl Members for Eligible<'_> {
    type Member = Member;

    fn from<'m>(&'m self, key: &str) -> impl Iterator<Item = (&'m str, &'m Member)> {
        let from = (std::ops::Bound::Included(key), std::ops::Bound::Unbounded);
        let members = self.group.members.range::<str, _>(from);
        let members = members.filter(|(key, _)| !self.ruled_out.contains(*key));
        members.map(|(key, member)| (&**key, member))
    }

    fn has(&self, key: &str) -> bool {
        self.group.members.contains_key(key)
    }

    fn count(&self) -> usize {
        self.group.members.len()
    }
}
