//! Pollables, and sets of them (CORBA 3.3 part 1, §17.9: `CORBA::Pollable` and
//! `CORBA::PollableSet`).
//!
//! A set waits for the first of many calls without polling each of them: a call notifies the set
//! when it is to be polled. The set owns its members; to read a result, its member must be removed
//! from the set.

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use parking_lot::{Condvar, Mutex};
use punctual_exec::Deadline;
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

/// Source of a future result: a poller, or a request of the Dynamic Invocation Interface that has
/// been sent (`CORBA::Pollable`).
pub trait Pollable {
    /// Returns whether the result is available. Waits for it up to `timeout` (`Duration::ZERO` does
    /// not wait).
    fn is_ready(&mut self, timeout: Duration) -> bool;

    /// Returns whether the result is available; if not, `waker` is woken when it is time to call
    /// this function again.
    #[doc(hidden)]
    fn look(&mut self, waker: &Waker) -> bool;
}

/// Pollable whose type is restored when it is taken out of its set.
trait Member: Pollable {
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<P: Pollable + 'static> Member for P {
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Key of a member of a set, with the member's type, so that it can be returned with the type with
/// which it was added.
pub struct PollableKey<P> {
    id: PollableId,
    _type: PhantomData<fn() -> P>,
}

/// Untyped key of a pollable in a pollable set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PollableId(u64);

impl<P> PollableKey<P> {
    /// Returns the pollable's untyped key, which [`PollableSet::get_ready_pollable`] returns.
    #[must_use]
    pub fn id(&self) -> PollableId {
        self.id
    }
}

impl<P> Clone for PollableKey<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for PollableKey<P> {}

impl<P> fmt::Debug for PollableKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PollableKey").field(&self.id.0).finish()
    }
}

/// Error of an operation of a pollable set.
#[derive(Clone, PartialEq, thiserror::Error)]
pub enum PollableSetError {
    /// The set of pollables is empty (`PollableSet::NoPossiblePollable`).
    #[error("the set of pollables is empty")]
    NoPossiblePollable,
    /// `PollableSet::UnknownPollable`: the set does not contain the pollable, or no longer does.
    #[error("the pollable is not in the set")]
    UnknownPollable,
    /// TIMEOUT if no member has become ready in time; NO_RESPONSE if none is ready and the time-out
    /// was zero.
    #[error(transparent)]
    System(#[from] SystemException),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for PollableSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<PollableSetError> for SystemException {
    fn from(error: PollableSetError) -> Self {
        match error {
            PollableSetError::System(exception) => exception,
            other => Kind::BadParam.because(other.to_string()),
        }
    }
}

/// Set of calls, to wait for the first that has a result (`CORBA::PollableSet`).
#[derive(Default)]
pub struct PollableSet {
    members: BTreeMap<u64, Box<dyn Member>>,
    next: u64,
    /// Members that were found to be ready, in that order.
    ready: VecDeque<u64>,
    woken: Arc<Woken>,
}

/// Queue of the set's pollables that have been woken and must be polled.
#[derive(Default)]
struct Woken {
    ids: Mutex<VecDeque<u64>>,
    changed: Condvar,
}

/// Waker that marks a pollable of the set for polling.
struct Teller {
    id: u64,
    woken: Arc<Woken>,
}

impl Wake for Teller {
    fn wake(self: Arc<Self>) {
        self.woken.ids.lock().push_back(self.id);
        self.woken.changed.notify_one();
    }
}

impl PollableSet {
    /// Creates an empty set of pollables (`create_pollable_set`).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pollable to the set (`add_pollable`).
    pub fn add_pollable<P: Pollable + 'static>(&mut self, pollable: P) -> PollableKey<P> {
        let id = self.next;
        self.next += 1;
        self.members.insert(id, Box::new(pollable));
        self.woken.ids.lock().push_back(id);
        PollableKey {
            id: PollableId(id),
            _type: PhantomData,
        }
    }

    /// Waits up to `timeout` until one of the pollables is ready, and returns its key. The pollable
    /// stays in the set, and its key is returned again, until it is removed.
    ///
    /// # Errors
    /// [`PollableSetError::NoPossiblePollable`] if the set is empty; TIMEOUT (minor code 1) if none
    /// becomes ready in time, NO_RESPONSE if `timeout` is zero.
    pub fn get_ready_pollable(
        &mut self,
        timeout: Duration,
    ) -> Result<PollableId, PollableSetError> {
        let until = Deadline::after(timeout);
        loop {
            if self.members.is_empty() {
                return Err(PollableSetError::NoPossiblePollable);
            }
            self.look_at_woken();
            if let Some(&ready) = self.ready.front() {
                return Ok(PollableId(ready));
            }
            if timeout.is_zero() {
                return Err(no_response().into());
            }
            if !self.woken.wait(until) {
                return Err(not_in_time().into());
            }
        }
    }

    /// Removes a pollable from the set and returns it (`remove`), whether or not it is ready.
    ///
    /// # Errors
    /// [`PollableSetError::UnknownPollable`] for a pollable that has been removed already, or belongs
    /// to another set.
    pub fn remove<P: Pollable + 'static>(
        &mut self,
        key: PollableKey<P>,
    ) -> Result<P, PollableSetError> {
        let id = key.id.0;
        let member = self.members.remove(&id);
        let member = member.ok_or(PollableSetError::UnknownPollable)?;
        self.ready.retain(|&ready| ready != id);
        match member.into_any().downcast::<P>() {
            Ok(pollable) => Ok(*pollable),
            Err(_) => Err(PollableSetError::UnknownPollable),
        }
    }

    /// Returns the number of pollables in the set (`number_left`).
    #[must_use]
    pub fn number_left(&self) -> usize {
        self.members.len()
    }

    fn look_at_woken(&mut self) {
        let ids = std::mem::take(&mut *self.woken.ids.lock());
        for id in ids {
            // Skips members that were woken after they were found ready, or were taken out.
            if self.ready.contains(&id) {
                continue;
            }
            let Some(member) = self.members.get_mut(&id) else {
                continue;
            };
            let teller = Teller {
                id,
                woken: self.woken.clone(),
            };
            if member.look(&Waker::from(Arc::new(teller))) {
                self.ready.push_back(id);
            }
        }
    }
}

impl Woken {
    /// Waits until a member is to be polled. Returns `false` if `until` passes first.
    fn wait(&self, until: Deadline) -> bool {
        let mut ids = self.ids.lock();
        while ids.is_empty() {
            match until.remaining() {
                None => self.changed.wait(&mut ids),
                Some(left) if left.is_zero() => return false,
                Some(left) => {
                    let _timed_out = self.changed.wait_for(&mut ids, left);
                }
            }
        }
        true
    }
}

/// Returns the exception TIMEOUT for a poller whose reply has not arrived in the given time
/// (§17.9).
pub(super) fn not_in_time() -> SystemException {
    SystemException::new(
        Kind::Timeout,
        minor::NO_REPLY_IN_TIME,
        CompletionStatus::Maybe,
    )
    .with_detail("the reply has not come in the time that the poller was given")
}

/// Returns the exception NO_RESPONSE for a poller whose reply has not arrived when the time-out is
/// zero (§17.9).
pub(super) fn no_response() -> SystemException {
    SystemException::new(
        Kind::NoResponse,
        minor::NO_REPLY_YET,
        CompletionStatus::Maybe,
    )
    .with_detail("the reply is not there yet")
}

impl fmt::Debug for PollableSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollableSet")
            .field("members", &self.members.keys())
            .field("ready", &self.ready)
            .finish_non_exhaustive()
    }
}
