//! RTCORBA::Mutex.

use punctual_orb::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_sys::clock;
use punctual_sys::pi_mutex::{LockError, PiGuard, PiMutex};
use std::time::Duration;

/// A mutex whose owner runs at the priority of the most urgent thread that waits for it, if that is above its own
/// (RTCORBA::Mutex; Real-time CORBA 1.2, §5.10): threads in between keep nobody waiting.
#[derive(Debug)]
pub struct RtMutex {
    inner: PiMutex<()>,
}

/// A mutex that is locked, until dropped: the standard's `unlock`.
#[derive(Debug)]
pub struct RtGuard<'m> {
    _inner: PiGuard<'m, ()>,
}

impl RtMutex {
    pub(crate) fn new() -> Self {
        Self {
            inner: PiMutex::new(()),
        }
    }

    /// Waits until it is the calling thread's.
    ///
    /// # Errors
    /// BAD_INV_ORDER when the thread holds it already, or something that its owner waits for; INTERNAL when its owner has
    /// ended without unlocking it.
    pub fn lock(&self) -> Result<RtGuard<'_>, SystemException> {
        let locked = self.inner.lock().map_err(|error| failed(&error))?;
        Ok(RtGuard { _inner: locked })
    }

    /// The same, at most for so long: `None` when it was somebody else's all the time. With no time it does not wait.
    ///
    /// # Errors
    /// As [`RtMutex::lock`].
    pub fn try_lock(&self, max_wait: Duration) -> Result<Option<RtGuard<'_>>, SystemException> {
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
        Ok(locked.map(|locked| RtGuard { _inner: locked }))
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
