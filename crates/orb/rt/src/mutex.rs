//! RTCORBA::Mutex.

use crate::ceiling::{Ceiling, NotRisen, Risen};
use punctual_orb::{CompletionStatus, Priority, SystemException, SystemExceptionKind as Kind};
use punctual_sys::clock;
use punctual_sys::pi_mutex::{LockError, PiGuard, PiMutex};
use std::time::Duration;

/// Mutex whose owner runs at the priority of the most urgent thread that waits for it, if that is
/// above its own (RTCORBA::Mutex; Real-time CORBA 1.2, §5.10): threads with priorities in between
/// do not delay the waiting thread.
///
/// With a priority ceiling ([`crate::RtOrb::create_mutex_with_ceiling`]) the owner runs at the
/// ceiling from the start.
#[derive(Debug)]
pub struct RtMutex {
    inner: PiMutex<()>,
    ceiling: Option<Ceiling>,
}

/// Guard of a locked mutex. Dropping it is the standard's `unlock`.
#[derive(Debug)]
pub struct RtGuard<'m> {
    // Order of fields: the mutex is unlocked before the thread leaves the ceiling.
    _locked: PiGuard<'m, ()>,
    _risen: Option<Risen>,
}

impl RtMutex {
    pub(crate) fn new(ceiling: Option<Ceiling>) -> Self {
        Self {
            inner: PiMutex::new(()),
            ceiling,
        }
    }

    /// Returns the priority ceiling, if the mutex has one.
    #[must_use]
    pub fn ceiling(&self) -> Option<Priority> {
        self.ceiling.map(|ceiling| ceiling.priority)
    }

    /// Locks the mutex, waiting until it is free.
    ///
    /// # Errors
    /// BAD_INV_ORDER when the thread holds the mutex already, or when waiting would be a deadlock,
    /// as the owner waits for a mutex that this thread holds; INTERNAL when the owner has ended
    /// without unlocking the mutex. For a mutex with a ceiling: BAD_PARAM when the thread's own
    /// native priority is above the ceiling, NO_PERMISSION when the operating system refuses the
    /// ceiling's priority.
    pub fn lock(&self) -> Result<RtGuard<'_>, SystemException> {
        let risen = self.rise()?;
        let locked = self.inner.lock().map_err(|error| failed(&error))?;
        Ok(RtGuard {
            _locked: locked,
            _risen: risen,
        })
    }

    /// Locks the mutex, waiting at most `max_wait`: `None` if it was not free in that time. With
    /// zero it does not wait.
    ///
    /// # Errors
    /// As [`RtMutex::lock`].
    pub fn try_lock(&self, max_wait: Duration) -> Result<Option<RtGuard<'_>>, SystemException> {
        let risen = self.rise()?;
        let locked = match max_wait.is_zero() {
            true => self.inner.try_lock(),
            false => {
                let wait = u64::try_from(max_wait.as_nanos()).unwrap_or(u64::MAX);
                let until = clock::nanos().saturating_add(wait);
                match self.inner.lock_until(until) {
                    Err(LockError::TimedOut) => Ok(None),
                    locked => locked.map(Some),
                }
            }
        };
        let locked = locked.map_err(|error| failed(&error))?;
        Ok(locked.map(|locked| RtGuard {
            _locked: locked,
            _risen: risen,
        }))
    }

    fn rise(&self) -> Result<Option<Risen>, SystemException> {
        let Some(ceiling) = self.ceiling else {
            return Ok(None);
        };
        let risen = ceiling.rise();
        risen.map(Some).map_err(|why| not_risen(ceiling, &why))
    }
}

#[cold]
fn failed(error: &LockError) -> SystemException {
    let kind = match error {
        LockError::Deadlock => Kind::BadInvOrder,
        LockError::TimedOut => Kind::Timeout,
        LockError::OwnerDied | LockError::Os(_) => Kind::Internal,
    };
    SystemException::new(kind, 0, CompletionStatus::No).with_detail(error.to_string())
}

#[cold]
fn not_risen(ceiling: Ceiling, why: &NotRisen) -> SystemException {
    let ceiling = ceiling.priority;
    let (kind, detail) = match why {
        NotRisen::AboveCeiling => (
            Kind::BadParam,
            format!("the thread's priority is above the mutex's ceiling, {ceiling}"),
        ),
        NotRisen::Refused(error) => (
            Kind::NoPermission,
            format!(
                "the thread does not get the priority of the mutex's ceiling, {ceiling}: {error}"
            ),
        ),
    };
    SystemException::new(kind, 0, CompletionStatus::No).with_detail(detail)
}
