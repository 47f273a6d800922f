//! Membership in a group: joining, renewing the lease, leaving.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use punctual::fault_tolerance::{FaultTolerance, GroupMember};
use punctual::{
    CompletionStatus, Interface, ObjectRef, SystemException, SystemExceptionKind as Kind,
};
use punctual_exec::thread::{JoinHandle, ThreadSpec};
use punctual_naming_client::cos_naming::Name;
use punctual_naming_client::from_text;

use crate::cos_load_balancing::{CPU, Load, LoadAlert, LoadManager, LoadMonitor};
use crate::guard::Guard;
use crate::portable_group::{
    ObjectGroupId, ObjectGroupManager, ObjectGroupManagerGetMemberRefError,
};
use crate::punctual_groups::{
    Administration, AdministrationRenewError, AdministrationStoreStateError,
    AdministrationStoreUpdateError, Joined,
};

/// Part of a lease by which a member ends it before the service does, as their clocks may run at different rates.
const CLOCKS: u32 = 128;

/// Options of a member: its lease, its guard, the loads that it reports.
pub struct MemberOptions {
    lease: Duration,
    guard: Guard,
    is_passive: bool,
    load: Option<Box<dyn Fn() -> f32 + Send>>,
    pub(crate) monitor: Option<LoadMonitor>,
    pub(crate) alert: Option<LoadAlert>,
}

impl std::fmt::Debug for MemberOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemberOptions")
            .field("lease", &self.lease)
            .field("is_passive", &self.is_passive)
            .finish_non_exhaustive()
    }
}

impl MemberOptions {
    /// Returns the options of a member with a lease, from 30 ms to 24 hours, of which a third passes between two renewals.
    #[must_use]
    pub fn with_lease(lease: Duration) -> Self {
        Self {
            lease,
            guard: Guard::new(),
            is_passive: false,
            load: None,
            monitor: None,
            alert: None,
        }
    }

    /// Sets the guard that stands before the member's servants.
    #[must_use]
    pub fn guard(mut self, guard: &Guard) -> Self {
        self.guard = guard.clone();
        self
    }

    /// Lets requests pass the guard only while the member is primary.
    #[must_use]
    pub fn passive(mut self) -> Self {
        self.is_passive = true;
        self
    }

    /// Reports the load that a function returns with each renewal.
    #[must_use]
    pub fn load(mut self, load: impl Fn() -> f32 + Send + 'static) -> Self {
        self.load = Some(Box::new(load));
        self
    }

    /// Registers a monitor of the member's location.
    #[must_use]
    pub fn monitor(mut self, monitor: LoadMonitor) -> Self {
        self.monitor = Some(monitor);
        self
    }

    /// Registers the alert of the member's location.
    #[must_use]
    pub fn alert(mut self, alert: LoadAlert) -> Self {
        self.alert = Some(alert);
        self
    }
}

/// Reason why the state of a group was not stored.
#[derive(Clone, Debug, PartialEq)]
pub enum StoreError {
    /// This member is not primary: what it has done since its lease ended counts for nothing.
    NotPrimary,
    /// The service refuses it, for this reason.
    Refused(String),
    /// The call has failed.
    System(SystemException),
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotPrimary => f.write_str("this member is not primary"),
            Self::Refused(reason) => write!(f, "the state is refused: {reason}"),
            Self::System(exception) => write!(f, "the state is not stored: {exception}"),
        }
    }
}

impl std::error::Error for StoreError {}

/// Exception for the client of a request whose state was not stored: COMPLETED_NO if that is certain, so that the request may be
/// made again; else COMPLETED_MAYBE, as the next primary may have the state.
impl From<StoreError> for SystemException {
    fn from(error: StoreError) -> Self {
        let completed = match &error {
            StoreError::System(exception) => match exception.completed() {
                CompletionStatus::No => CompletionStatus::No,
                CompletionStatus::Maybe | CompletionStatus::Yes => CompletionStatus::Maybe,
            },
            StoreError::NotPrimary | StoreError::Refused(_) => CompletionStatus::No,
        };
        let kind = match error {
            StoreError::NotPrimary | StoreError::System(_) => Kind::Transient,
            StoreError::Refused(_) => Kind::NoResources,
        };
        SystemException::new(kind, 0, completed).with_detail(error.to_string())
    }
}

/// Membership of an object in a group, which a thread keeps until this is dropped. Then the member leaves; if the process ends
/// otherwise, its lease does.
#[derive(Debug)]
pub struct Membership {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) manager: Administration,
    pub(crate) location: Name,
    guard: Guard,
    lease: Duration,
    /// Time of the last question. Held while the service is asked.
    asked: Mutex<Option<Instant>>,
    /// The membership at present; `None` while the service has not answered.
    joined: Mutex<Option<Joined>>,
    /// Number of the last state or update that was to be stored.
    stored: AtomicU64,
    /// Number of the last one of this membership that was stored.
    kept: AtomicU64,
    /// True if the last attempt to join has failed.
    is_away: AtomicBool,
    /// True from when the member has joined for the first time.
    was_member: AtomicBool,
    /// True while another process is the member at this location.
    is_replaced: AtomicBool,
    is_ended: Mutex<bool>,
    changed: Condvar,
}

/// State of the thread that keeps a membership.
pub(crate) struct Keeping {
    pub(crate) shared: Arc<Shared>,
    group: ObjectRef,
    member: ObjectRef,
    pub(crate) options: MemberOptions,
    pub(crate) checked: Option<Instant>,
}

impl Membership {
    /// Makes an object a member of a group at a location, which is a name as text. `manager` is the service's ReplicationManager
    /// or LoadManager. If the service cannot be reached, now or later, that is tried again.
    ///
    /// # Errors
    /// BAD_PARAM if the location is no name; NO_RESOURCES if no thread can be started.
    pub fn begin(
        manager: &impl Interface,
        group: &ObjectRef,
        location: &str,
        member: &impl Interface,
        options: MemberOptions,
    ) -> Result<Self, SystemException> {
        let invalid = |_| Kind::BadParam.because("the location is no name");
        let patience = options.lease.max(Duration::from_millis(500));
        let manager = manager.as_object().with_timeout(patience);
        options.guard.set_passive(options.is_passive);
        let shared = Arc::new(Shared {
            manager: Administration::from_object(manager),
            location: from_text(location).map_err(invalid)?,
            guard: options.guard.clone(),
            lease: options.lease,
            asked: Mutex::new(None),
            joined: Mutex::new(None),
            stored: AtomicU64::new(0),
            kept: AtomicU64::new(0),
            is_away: AtomicBool::new(false),
            was_member: AtomicBool::new(false),
            is_replaced: AtomicBool::new(false),
            is_ended: Mutex::new(false),
            changed: Condvar::new(),
        });
        let asking = Arc::downgrade(&shared);
        options.guard.set_ask(move |since| {
            if let Some(shared) = asking.upgrade() {
                shared.ask(since);
            }
        });
        let keeping = Keeping {
            shared: shared.clone(),
            group: group.clone(),
            member: member.as_object().clone(),
            options,
            checked: None,
        };
        let thread = ThreadSpec::named("group-member").start(move || keeping.keep());
        let thread = thread.map_err(|error| Kind::NoResources.because(error.to_string()))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Returns whether the member has joined, and its lease has not been lost since.
    #[must_use]
    pub fn has_joined(&self) -> bool {
        self.shared.joined.lock().is_some()
    }

    /// Returns whether another process has become the member at this location after this one had joined. This one stays out as long
    /// as the other is a member.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        self.shared.is_replaced.load(Ordering::Relaxed)
    }

    /// Returns whether the member is primary now.
    #[must_use]
    pub fn is_primary(&self) -> bool {
        self.shared.guard.is_primary()
    }

    /// Returns whether the member is primary now; if it was not when it asked last, the service is asked. Blocks.
    #[must_use]
    pub fn becomes_primary(&self) -> bool {
        self.shared.guard.is_primary_or_becomes_it()
    }

    /// Stores the state of a passive group at the service, so that the next primary has it: what has led to this state may be
    /// acknowledged to clients when this returns. Called on the thread of the request, it is refused if the member was not primary
    /// all the time since the request began: others may have changed the group's state meanwhile. Blocks.
    ///
    /// A servant makes its states one after the other, under one lock, which `set_state` takes, too.
    ///
    /// # Errors
    /// The state was not stored, or may not have been: a client must not be told that its request is done. As a
    /// [`SystemException`], the error says which.
    pub fn store_state(&self, state: &[u8]) -> Result<(), StoreError> {
        self.shared.store(|shared, place| {
            let stored = shared.manager.store_state(
                place.id,
                &shared.location,
                place.token,
                place.number,
                state,
            );
            stored.map_err(|error| match error {
                AdministrationStoreStateError::NotPrimary(_)
                | AdministrationStoreStateError::MemberNotFound(_)
                | AdministrationStoreStateError::ObjectGroupNotFound(_) => StoreError::NotPrimary,
                AdministrationStoreStateError::Refused(why) => StoreError::Refused(why.reason),
                AdministrationStoreStateError::System(exception) => StoreError::System(exception),
            })
        })
    }

    /// Stores what a request changes of the state, as [`store_state`](Self::store_state) stores the whole state: the next primary
    /// gets the last state, and all updates since by `set_update`, in the order in which they were stored. If the service has no
    /// room for the update, or does not know that it follows what is stored last, the whole state is stored, which `state` returns:
    /// as it will be with this update. Blocks.
    ///
    /// # Errors
    /// As of [`store_state`](Self::store_state).
    pub fn store_update(
        &self,
        update: &[u8],
        state: impl FnOnce() -> Vec<u8>,
    ) -> Result<(), StoreError> {
        let stored = self.store_update_or(update, || Ok::<_, StoreError>(state()));
        stored.map(drop)
    }

    /// Stores an update as [`store_update`](Self::store_update) does, where the state may not be available: `state` returns why.
    /// Returns which of the two was stored. Blocks.
    ///
    /// # Errors
    /// As of [`store_state`](Self::store_state), and the error of `state`, after which nothing is stored.
    pub fn store_update_or<E: From<StoreError>>(
        &self,
        update: &[u8],
        state: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Stored, E> {
        let mut is_state_needed = false;
        let stored = self.shared.store(|shared, place| {
            // Relaxed: the servant stores one after the other, under its lock.
            let after = shared.kept.load(Ordering::Relaxed);
            let stored = shared.manager.store_update(
                place.id,
                &shared.location,
                place.token,
                place.number,
                after,
                update,
            );
            stored.map_err(|error| match error {
                AdministrationStoreUpdateError::StateNeeded(why) => {
                    is_state_needed = true;
                    StoreError::Refused(why.reason)
                }
                AdministrationStoreUpdateError::NotPrimary(_)
                | AdministrationStoreUpdateError::MemberNotFound(_)
                | AdministrationStoreUpdateError::ObjectGroupNotFound(_) => StoreError::NotPrimary,
                AdministrationStoreUpdateError::Refused(why) => StoreError::Refused(why.reason),
                AdministrationStoreUpdateError::System(exception) => StoreError::System(exception),
            })
        });
        if is_state_needed {
            self.store_state(&state()?)?;
            return Ok(Stored::State);
        }
        stored?;
        Ok(Stored::Update)
    }
}

/// What was stored of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The whole state, which ends the log of updates.
    State,
    /// An update, at the end of the log.
    Update,
}

/// Membership by which a state or an update is stored, and its number.
struct Place {
    id: ObjectGroupId,
    token: u64,
    number: u64,
}

impl Shared {
    /// Stores a state or an update by `store`, unless the member was not primary all the time since the thread's request began.
    fn store(
        &self,
        store: impl FnOnce(&Self, &Place) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if !self.guard.is_primary_since_request() {
            return Err(StoreError::NotPrimary);
        }
        let (id, token) = {
            let joined = self.joined.lock();
            let joined = joined.as_ref().ok_or(StoreError::NotPrimary)?;
            (joined.id, joined.token)
        };
        // Relaxed: only the order of the numbers matters.
        let number = self.stored.fetch_add(1, Ordering::Relaxed) + 1;
        let place = Place { id, token, number };
        store(self, &place)?;
        self.kept.store(number, Ordering::Relaxed);
        Ok(())
    }
}

impl Shared {
    /// Asks the service what the member is, unless it was asked since a time.
    fn ask(&self, since: Instant) {
        let mut asked = self.asked.lock();
        if asked.is_none_or(|asked| asked < since) && !*self.is_ended.lock() {
            // Without an answer, too: those who wait for this one do not ask again.
            *asked = Some(Instant::now());
            self.renew(&[]);
        }
    }

    /// Renews the lease, and takes the answer.
    fn renew(&self, loads: &[Load]) {
        let (id, token) = match &*self.joined.lock() {
            Some(joined) => (joined.id, joined.token),
            None => return,
        };
        let asked = Instant::now();
        match self.manager.renew(id, &self.location, token, loads) {
            Ok(standing) => self.stand(standing.is_primary, asked),
            Err(AdministrationRenewError::System(exception)) => {
                tracing::debug!("a lease is not renewed: {exception}");
            }
            // The lease has ended.
            Err(error) => {
                tracing::warn!("this member has lost its lease, and joins again: {error}");
                self.guard.set_primary_until(None);
                *self.joined.lock() = None;
            }
        }
    }

    /// Takes what the service says: it holds for one lease from the time of the question.
    fn stand(&self, is_primary: bool, asked: Instant) {
        let until = is_primary.then(|| asked + self.lease - self.lease / CLOCKS);
        self.guard.set_primary_until(until);
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        *self.shared.is_ended.lock() = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}

impl Keeping {
    fn keep(mut self) {
        let interval = self.shared.lease / 3;
        loop {
            let asked = Instant::now();
            let has_joined = self.shared.joined.lock().is_some();
            match has_joined {
                true => self.renew(),
                false => self.join(),
            }
            self.check_registrations();
            if self.has_ended(asked + interval) {
                break;
            }
        }
        self.leave();
    }

    /// Waits until a time, or the end; returns true in the latter case.
    fn has_ended(&self, until: Instant) -> bool {
        let mut is_ended = self.shared.is_ended.lock();
        while !*is_ended
            && !self
                .shared
                .changed
                .wait_until(&mut is_ended, until)
                .timed_out()
        {}
        *is_ended
    }

    fn join(&self) {
        let shared = &self.shared;
        let lease = u32::try_from(shared.lease.as_millis()).unwrap_or(u32::MAX);
        // The membership is there, and its guard's question answered, in one step.
        let _one_at_a_time = shared.asked.lock();
        if shared.was_member.load(Ordering::Relaxed) && !self.may_join_again() {
            return;
        }
        let asked = Instant::now();
        let group = Some(&self.group);
        match shared
            .manager
            .join(group, &shared.location, Some(&self.member), lease)
        {
            Ok(joined) => {
                shared.is_away.store(false, Ordering::Relaxed);
                self.keep_replies(&joined);
                shared.guard.set_forwarder(joined.forwarder.clone());
                // This membership has stored nothing yet.
                shared.kept.store(0, Ordering::Relaxed);
                shared.stand(joined.current.is_primary, asked);
                *shared.joined.lock() = Some(joined);
                shared.was_member.store(true, Ordering::Relaxed);
            }
            // It is tried again soon, for as long as the service is away.
            Err(error) => match shared.is_away.swap(true, Ordering::Relaxed) {
                false => tracing::warn!("this member has not joined its group: {error}"),
                true => tracing::debug!("this member has not joined its group: {error}"),
            },
        }
    }

    /// Returns whether no other process has become the member at this location since this one has lost its lease: of two, the one
    /// that has joined later stays.
    fn may_join_again(&self) -> bool {
        let shared = &self.shared;
        let manager = ObjectGroupManager::from_object(shared.manager.as_object().clone());
        let there = manager.get_member_ref(Some(&self.group), &shared.location);
        let (is_other, may_join) = match there {
            Ok(Some(there)) => {
                let is_other = !there.is_equivalent(&self.member);
                (is_other, !is_other)
            }
            Err(ObjectGroupManagerGetMemberRefError::System(exception)) => {
                tracing::debug!("it is not known whether this member is replaced: {exception}");
                return false;
            }
            // It says whether the group is there when this one joins.
            Ok(None) | Err(_) => (false, true),
        };
        if shared.is_replaced.swap(is_other, Ordering::Relaxed) != is_other && is_other {
            tracing::warn!(
                "another process is the member at this one's location: this one stays out"
            );
        }
        may_join
    }

    /// Has the member's ORB keep replies for repeats, if it has fault tolerance and the group is one of replicas.
    fn keep_replies(&self, joined: &Joined) {
        let Some(tolerance) = FaultTolerance::of(self.member.orb()) else {
            return;
        };
        let group = joined.object_group.as_ref();
        let Some(group) = group.and_then(|group| group.as_object().ior().group()) else {
            return;
        };
        // The service and the guard lead clients to the primary: versions of the reference are not compared here.
        let member = GroupMember::new(&group.domain, group.id);
        if let Err(error) = tolerance.join(&self.member, &member) {
            tracing::warn!("no replies are kept for this member: {error}");
        }
    }

    fn renew(&self) {
        let load = self.options.load.as_ref().map(|load| Load {
            id: CPU,
            value: load(),
        });
        let loads: Vec<Load> = load.into_iter().collect();
        let mut asked = self.shared.asked.lock();
        *asked = Some(Instant::now());
        self.shared.renew(&loads);
        drop(asked);
        if self.shared.joined.lock().is_none() {
            self.join();
        }
    }

    fn leave(&self) {
        let shared = &self.shared;
        // After a question in progress, which could make it primary.
        let _asked = shared.asked.lock();
        // First of all: the next primary may serve as soon as this has left.
        shared.guard.set_primary_until(None);
        let Some(joined) = shared.joined.lock().take() else {
            return;
        };
        if let Some(tolerance) = FaultTolerance::of(self.member.orb()) {
            // An object that is none of this ORB's was no member.
            let _ = tolerance.leave(&self.member);
        }
        let manager = LoadManager::from_object(shared.manager.as_object().clone());
        if self.options.monitor.is_some() {
            let _has_gone = manager.remove_load_monitor(&shared.location);
        }
        if self.options.alert.is_some() {
            let _has_gone = manager.remove_load_alert(&shared.location);
        }
        if let Err(error) = shared
            .manager
            .leave(joined.id, &shared.location, joined.token)
        {
            tracing::warn!("this member stays until its lease ends: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_told_whether_its_request_may_be_made_again() {
        let of = |error: StoreError| SystemException::from(error).completed();
        let raised =
            |completed| StoreError::System(SystemException::new(Kind::CommFailure, 0, completed));
        assert_eq!(of(StoreError::NotPrimary), CompletionStatus::No);
        assert_eq!(of(StoreError::Refused(String::new())), CompletionStatus::No);
        assert_eq!(of(raised(CompletionStatus::No)), CompletionStatus::No);
        for completed in [CompletionStatus::Maybe, CompletionStatus::Yes] {
            assert_eq!(of(raised(completed)), CompletionStatus::Maybe);
        }
    }
}
