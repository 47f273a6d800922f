//! Loads of a member, and the alert by which it sheds load.

use punctual::SystemException;
use punctual_naming_client::from_text;

use crate::cos_load_balancing::{
    CPU, Load, LoadAlertServant, LoadId, LoadList, LoadMonitorServant, Location,
};
use crate::guard::Guard;

/// Servant that monitors the load of a location (`CosLoadBalancing::LoadMonitor`).
pub struct Monitor {
    location: Location,
    id: LoadId,
    load: Box<dyn Fn() -> f32 + Send + Sync>,
}

impl std::fmt::Debug for Monitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Monitor")
            .field("location", &self.location)
            .finish_non_exhaustive()
    }
}

impl Monitor {
    /// Makes a monitor of a location, which is a name as text, by a function that returns the load.
    #[must_use]
    pub fn new(location: &str, id: LoadId, load: impl Fn() -> f32 + Send + Sync + 'static) -> Self {
        Self {
            location: from_text(location).unwrap_or_default(),
            id,
            load: Box::new(load),
        }
    }

    /// Makes a monitor of this host's processors ([`processor_load`]).
    #[must_use]
    pub fn of_processors(location: &str) -> Self {
        Self::new(location, CPU, processor_load)
    }

    /// Makes a monitor of the requests in progress behind a guard.
    #[must_use]
    pub fn of_requests(location: &str, guard: &Guard) -> Self {
        let guard = guard.clone();
        Self::new(location, IN_PROGRESS, move || guard.in_progress() as f32)
    }
}

/// Id of the load of requests in progress, which the standard does not name.
const IN_PROGRESS: LoadId = 0x5055_0001;

impl LoadMonitorServant for Monitor {
    fn the_location(&self) -> Result<Location, SystemException> {
        Ok(self.location.clone())
    }

    fn loads(&self) -> Result<LoadList, SystemException> {
        let load = Load {
            id: self.id,
            value: (self.load)(),
        };
        Ok(vec![load])
    }
}

/// Servant by which a load manager has a member shed load (`CosLoadBalancing::LoadAlert`).
#[derive(Clone, Debug)]
pub struct Alert(Guard);

impl Alert {
    /// Makes the alert of a guard.
    #[must_use]
    pub fn of(guard: &Guard) -> Self {
        Self(guard.clone())
    }
}

impl LoadAlertServant for Alert {
    fn enable_alert(&self) -> Result<(), SystemException> {
        self.0.shed(true);
        Ok(())
    }

    fn disable_alert(&self) -> Result<(), SystemException> {
        self.0.shed(false);
        Ok(())
    }
}

/// Returns the number of processes that have run or waited for a processor during the last minute, on the average, divided by
/// the number of processors.
#[must_use]
pub fn processor_load() -> f32 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let average: f32 = text
        .split(' ')
        .next()
        .and_then(|first| first.parse().ok())
        .unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    average / processors as f32
}
