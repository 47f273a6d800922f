//! Time of day, as records and schedules have it.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::ds_log_admin::TimeT;

/// Time from 15 October 1582, when `TimeBase::TimeT` begins, to 1 January 1970, in units of 100 ns.
const TO_UNIX: u64 = 0x01b2_1dd2_1381_4000;

/// Units of `TimeBase::TimeT` in a second.
pub(crate) const SECOND: u64 = 10_000_000;

/// Clock of a service, in units of 100 ns since 15 October 1582, UTC. Clones are the same clock.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> TimeT + Send + Sync>);

impl Clock {
    /// Makes a clock whose time a function returns, for tests.
    pub fn of(time: impl Fn() -> TimeT + Send + Sync + 'static) -> Self {
        Self(Arc::new(time))
    }

    /// Returns the present time.
    #[must_use]
    pub fn now(&self) -> TimeT {
        (self.0)()
    }
}

/// The time of the system.
impl Default for Clock {
    fn default() -> Self {
        Self::of(|| {
            let since = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            TO_UNIX.saturating_add(u64::try_from(since.as_nanos() / 100).unwrap_or(u64::MAX))
        })
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}
