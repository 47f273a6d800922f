//! Admission at run time, for the threads of a program.

use crate::error::ScheduleError;
use crate::schedule::Schedule;
use parking_lot::Mutex;
use punctual_scheduling::Time;
use punctual_scheduling::admission::{Admission, AdmissionError, Change};
use std::fmt;
use std::sync::Arc;

/// Admission of the activities of a schedule while the program runs: what does not fit is refused, or less
/// critical activities are degraded to longer periods or suspended, and each change is reported.
///
/// It decides for the whole plan: programs on several hosts have to admit the same activities.
pub struct AdmissionControl {
    admission: Mutex<Admission>,
    /// Held from a decision until its changes are reported, so that reports keep the order of decisions.
    order: Mutex<()>,
    report: Box<dyn Fn(&Change) + Send + Sync>,
}

impl AdmissionControl {
    /// Makes the admission control of a schedule; no activity runs. `report` is called for each change, in the
    /// thread that causes it, before that goes on. It may ask for periods, and must neither admit nor end an
    /// activity.
    ///
    /// # Errors
    /// [`ScheduleError::Packed`] for a schedule whose levels share lanes.
    pub fn new(
        schedule: &Schedule,
        report: impl Fn(&Change) + Send + Sync + 'static,
    ) -> Result<Arc<Self>, ScheduleError> {
        if schedule.is_packed() {
            return Err(ScheduleError::Packed);
        }
        let admission = Admission::new(schedule.model().clone(), schedule.plan().clone());
        Ok(Arc::new(Self {
            admission: Mutex::new(admission),
            order: Mutex::new(()),
            report: Box::new(report),
        }))
    }

    /// Admits an activity at the shortest of its periods that fits. Returns that.
    ///
    /// # Errors
    /// [`AdmissionError`]; then nothing has changed.
    pub fn admit(&self, activity: &str) -> Result<Time, AdmissionError> {
        let _order = self.order.lock();
        let admitted = self.admission.lock().admit(activity);
        if let Err(refused) = &admitted {
            tracing::warn!(activity, "not admitted: {refused}");
        }
        self.tell(&admitted?);
        Ok(self.period(activity).unwrap_or(Time::ZERO))
    }

    /// Ends an activity; others may have room again.
    ///
    /// # Errors
    /// [`AdmissionError`].
    pub fn leave(&self, activity: &str) -> Result<(), AdmissionError> {
        let _order = self.order.lock();
        let changes = self.admission.lock().leave(activity)?;
        self.tell(&changes);
        Ok(())
    }

    /// Returns the period at which an activity runs; `None` if it is suspended, or not admitted.
    #[must_use]
    pub fn period(&self, activity: &str) -> Option<Time> {
        self.admission.lock().period(activity)
    }

    fn tell(&self, changes: &[Change]) {
        for change in changes {
            tracing::info!(activity = change.activity, before = ?change.before, after = ?change.after, "period of an activity");
            (self.report)(change);
        }
    }
}

impl fmt::Debug for AdmissionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdmissionControl").finish_non_exhaustive()
    }
}
