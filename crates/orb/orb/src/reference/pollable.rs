//! Pollables, and sets of them (CORBA 3.3 part 1, §17.9: `CORBA::Pollable` and `CORBA::PollableSet`).
//!
//! A set waits for the first of many calls without asking each of them again and again: each tells the set when it is time to look at
//! it. What is in the set belongs to it; who has taken a result out of the set reads it as ever.

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

/// What will have a result: pollers, and requests of the Dynamic Invocation Interface that were sent (`CORBA::Pollable`).
pub trait Pollable {
    /// Whether the result is there; waits for it that long at most (`Duration::ZERO` looks only).
    fn is_ready(&mut self, timeout: Duration) -> bool;

    /// Whether the result is there; if not, `waker` is woken when it is time to look again.
    #[doc(hidden)]
    fn look(&mut self, waker: &Waker) -> bool;
}

/// A pollable whose type comes back when it is taken out of its set.
trait Member: Pollable {
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<P: Pollable + 'static> Member for P {
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Names a member of a set: with its type, as what was added is given back.
pub struct PollableKey<P> {
    id: PollableId,
    _type: PhantomData<fn() -> P>,
}

/// Names a member of a set, of whatever type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PollableId(u64);

impl<P> PollableKey<P> {
    /// The same, of whatever type: what [`PollableSet::get_ready_pollable`] returns.
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

/// Why a set has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PollableSetError {
    /// `PollableSet::NoPossiblePollable`: there is nothing in the set.
    #[error("nothing is in the set of pollables")]
    NoPossiblePollable,
    /// `PollableSet::UnknownPollable`: that is not in the set, or not any more.
    #[error("the pollable is not in the set")]
    UnknownPollable,
    /// TIMEOUT where none has become ready in time; NO_RESPONSE where none is ready and nobody was to wait.
    #[error(transparent)]
    System(#[from] SystemException),
}

impl From<PollableSetError> for SystemException {
    fn from(error: PollableSetError) -> Self {
        match error {
            PollableSetError::System(exception) => exception,
            other => Kind::BadParam.because(other.to_string()),
        }
    }
}

/// Calls of which the first that has a result is waited for (`CORBA::PollableSet`).
#[derive(Default)]
pub struct PollableSet {
    members: BTreeMap<u64, Box<dyn Member>>,
    next: u64,
    /// Those that were found to be ready, in that order.
    ready: VecDeque<u64>,
    woken: Arc<Woken>,
}

/// Members to be looked at.
#[derive(Default)]
struct Woken {
    ids: Mutex<VecDeque<u64>>,
    changed: Condvar,
}

/// Tells the set that it is time to look at a member.
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
    /// An empty set (`create_pollable_set`).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pollable (`add_pollable`).
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

    /// Waits until one of the pollables is ready, that long at most, and says which. It stays in the set until it is
    /// removed; until then it is the answer.
    ///
    /// # Errors
    /// [`PollableSetError::NoPossiblePollable`] where the set is empty; TIMEOUT (minor code 1) when the time is over, NO_RESPONSE when
    /// that was nothing.
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

    /// Takes a pollable out (`remove`), ready or not.
    ///
    /// # Errors
    /// [`PollableSetError::UnknownPollable`] for one that was taken out before, or is of another set.
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

    /// How many pollables are in the set (`number_left`).
    #[must_use]
    pub fn number_left(&self) -> usize {
        self.members.len()
    }

    fn look_at_woken(&mut self) {
        let ids = std::mem::take(&mut *self.woken.ids.lock());
        for id in ids {
            // One that was woken after it was found ready, or was taken out.
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
    /// Waits until there is something to look at; false when the time is over first.
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

/// TIMEOUT of a poller: no reply has come in the time that was given to it (§17.9).
pub(super) fn not_in_time() -> SystemException {
    SystemException::new(
        Kind::Timeout,
        minor::NO_REPLY_IN_TIME,
        CompletionStatus::Maybe,
    )
    .with_detail("the reply has not come in the time that the poller was given")
}

/// NO_RESPONSE of a poller: no reply is there yet, and nobody was to wait (§17.9).
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
