//! What a log tells of itself.

use punctual_notification::cos_notify_filter::Filter;

use super::Log;
use crate::kept;
use crate::notices::{Source, failed};
use crate::refusal::Refusal;

impl Log {
    fn source(&self) -> Source {
        let objects = &self.common.objects;
        Source {
            log: objects.reference(&objects.id_of(self.number)).ok(),
            id: self.id(),
            time: self.common.clock.now(),
        }
    }

    /// Tells that the log was created.
    pub(crate) fn tell_created(&self) {
        if let Some(notices) = &self.notices {
            notices.tell(self.source().created());
        }
    }

    /// Tells that the log was destroyed.
    pub(crate) fn tell_deleted(&self) {
        if let Some(notices) = &self.notices {
            notices.tell(self.source().deleted());
        }
    }

    /// Tells the thresholds that were crossed.
    pub(super) fn tell_alarms(&self) {
        let alarms = std::mem::take(&mut self.state.lock().alarms);
        for alarm in alarms {
            tracing::info!(
                "log {} is {} % full, and has crossed its threshold of {} %",
                self.id(),
                alarm.observed,
                alarm.threshold,
            );
            if let Some(notices) = &self.notices {
                notices.tell(self.source().crossed(alarm));
            }
        }
    }

    /// Tells the attributes that have changed.
    pub(super) fn tell_changes(&self, before: &kept::Log, after: &kept::Log) {
        if let Some(notices) = &self.notices {
            let events = self.source().changes(before, after);
            events.into_iter().for_each(|event| notices.tell(event));
        }
    }

    /// Tells that another filter decides about the records of the log.
    pub(super) fn tell_filter(&self, before: Option<Filter>, after: Option<Filter>) {
        if let Some(notices) = &self.notices {
            let event = self.source().filter(&before, &after);
            event.into_iter().for_each(|event| notices.tell(event));
        }
    }

    /// Tells that the store has refused a write.
    pub(super) fn tell_disabled(&self, reason: &Refusal) {
        if let Some(notices) = &self.notices {
            notices.tell(self.source().operational(true));
            notices.tell(failed(&reason.to_string()));
        }
    }

    /// Tells that a write has succeeded again.
    pub(super) fn tell_enabled(&self) {
        if let Some(notices) = &self.notices {
            notices.tell(self.source().operational(false));
        }
    }
}
