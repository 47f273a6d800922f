//! Registrations of a member's monitor and alert at the LoadManager, which a service that was started again has lost.

use std::time::{Duration, Instant};

use punctual::Interface;

use crate::cos_load_balancing::{
    LoadAlert, LoadManager, LoadManagerGetLoadAlertError, LoadManagerGetLoadMonitorError,
    LoadMonitor,
};
use crate::membership::Keeping;

/// Time after which a registration of a monitor or an alert is checked.
const CHECK: Duration = Duration::from_secs(10);

impl Keeping {
    /// Registers the monitor and the alert, again if the service has lost them.
    pub(crate) fn check_registrations(&mut self) {
        let is_recent = self.checked.is_some_and(|at| at.elapsed() < CHECK);
        let (monitor, alert) = (&self.options.monitor, &self.options.alert);
        if is_recent || (monitor.is_none() && alert.is_none()) {
            return;
        }
        let manager = LoadManager::from_object(self.shared.manager.as_object().clone());
        let at = &self.shared.location;
        let mut is_done = true;
        if let Some(monitor) = monitor {
            let found = manager.get_load_monitor(at);
            let is_own = |found: &Option<LoadMonitor>| {
                found
                    .as_ref()
                    .is_some_and(|one| one.as_object().is_equivalent(monitor.as_object()))
            };
            let found = match found {
                Ok(found) if is_own(&found) => Ok(()),
                Ok(_) => {
                    let _has_gone = manager.remove_load_monitor(at);
                    manager
                        .register_load_monitor(at, Some(monitor))
                        .map_err(|error| error.to_string())
                }
                Err(LoadManagerGetLoadMonitorError::LocationNotFound(_)) => manager
                    .register_load_monitor(at, Some(monitor))
                    .map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            is_done &= reported("monitor", found);
        }
        if let Some(alert) = alert {
            let found = manager.get_load_alert(at);
            let is_own = |found: &Option<LoadAlert>| {
                found
                    .as_ref()
                    .is_some_and(|one| one.as_object().is_equivalent(alert.as_object()))
            };
            let found = match found {
                Ok(found) if is_own(&found) => Ok(()),
                Ok(_) => {
                    let _has_gone = manager.remove_load_alert(at);
                    manager
                        .register_load_alert(at, Some(alert))
                        .map_err(|error| error.to_string())
                }
                Err(LoadManagerGetLoadAlertError::LoadAlertNotFound(_)) => manager
                    .register_load_alert(at, Some(alert))
                    .map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            is_done &= reported("alert", found);
        }
        if is_done {
            self.checked = Some(Instant::now());
        }
    }
}

fn reported(what: &str, done: Result<(), String>) -> bool {
    if let Err(why) = &done {
        tracing::warn!("the {what} of this member is not registered: {why}");
    }
    done.is_ok()
}
