//! Events that logs send themselves (DsLogNotification).

use punctual::stub::Marshal;
use punctual::{Any, Typed};
use punctual_notification::cos_notify_filter::Filter;

use crate::ds_log_admin::{
    self as idl, AdministrativeState, ForwardingState, LogId, OperationalState, TimeT,
};
use crate::ds_log_notification::{
    ADMINISTRATIVE_STATE, AttributeType, AttributeValueChange, CAPACITY_ALARM_THRESHOLD, FILTER,
    FORWARDING_STATE, LOG_FULL_ACTION, MAX_LOG_SIZE, MAX_RECORD_LIFE, OPERATIONAL_STATE,
    ObjectCreation, ObjectDeletion, ProcessingErrorAlarm, QUALITY_OF_SERVICE, START_TIME,
    STOP_TIME, StateChange, StateType, ThresholdAlarm, WEEK_MASK,
};
use crate::kept;

/// Receiver of the events of logs.
pub(crate) trait Tell: Send + Sync {
    /// Takes an event. Does not wait for its consumers.
    fn tell(&self, event: Any);
}

/// Log that sends an event, and the time of it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) log: Option<idl::Log>,
    pub(crate) id: LogId,
    pub(crate) time: TimeT,
}

/// Threshold that was crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crossed {
    pub(crate) threshold: u16,
    /// Percentage of the maximum that is in use now.
    pub(crate) observed: u16,
    /// As the standard numbers it.
    pub(crate) severity: u16,
}

impl Source {
    pub(crate) fn created(&self) -> Any {
        any(&ObjectCreation {
            id: self.id,
            time: self.time,
        })
    }

    pub(crate) fn deleted(&self) -> Any {
        any(&ObjectDeletion {
            id: self.id,
            time: self.time,
        })
    }

    pub(crate) fn crossed(&self, crossed: Crossed) -> Any {
        any(&ThresholdAlarm {
            logref: self.log.clone(),
            id: self.id,
            time: self.time,
            crossed_value: crossed.threshold,
            observed_value: crossed.observed,
            perceived_severity: crossed.severity,
        })
    }

    pub(crate) fn operational(&self, is_disabled: bool) -> Any {
        let state = match is_disabled {
            true => OperationalState::Disabled,
            false => OperationalState::Enabled,
        };
        self.state(OPERATIONAL_STATE, any(&state))
    }

    /// Returns the events of a change of the log's attributes.
    pub(crate) fn changes(&self, before: &kept::Log, after: &kept::Log) -> Vec<Any> {
        let values = attributes(before).into_iter().zip(attributes(after));
        let mut events: Vec<_> = values
            .filter(|((_, old), (_, new))| old != new)
            .map(|((kind, old), (_, new))| self.attribute(kind, old, new))
            .collect();
        if before.is_locked != after.is_locked {
            let state = match after.is_locked {
                true => AdministrativeState::Locked,
                false => AdministrativeState::Unlocked,
            };
            events.push(self.state(ADMINISTRATIVE_STATE, any(&state)));
        }
        if before.forwards != after.forwards {
            let state = match after.forwards {
                true => ForwardingState::On,
                false => ForwardingState::Off,
            };
            events.push(self.state(FORWARDING_STATE, any(&state)));
        }
        events
    }

    /// Returns the event of another filter.
    pub(crate) fn filter(&self, before: &Option<Filter>, after: &Option<Filter>) -> Option<Any> {
        let (old, new) = (of_type::<Filter>(before), of_type::<Filter>(after));
        (old != new).then(|| self.attribute(FILTER, old, new))
    }

    fn attribute(&self, kind: AttributeType, old_value: Any, new_value: Any) -> Any {
        any(&AttributeValueChange {
            logref: self.log.clone(),
            id: self.id,
            time: self.time,
            r#type: kind,
            old_value,
            new_value,
        })
    }

    fn state(&self, kind: StateType, new_value: Any) -> Any {
        any(&StateChange {
            logref: self.log.clone(),
            id: self.id,
            time: self.time,
            r#type: kind,
            new_value,
        })
    }
}

/// Returns the event of a store that has failed.
pub(crate) fn failed(reason: &str) -> Any {
    any(&ProcessingErrorAlarm {
        error_num: 1,
        error_string: reason.to_owned(),
    })
}

/// Returns the attributes of a log whose changes are told, as they are sent.
fn attributes(log: &kept::Log) -> [(AttributeType, Any); 8] {
    [
        (
            CAPACITY_ALARM_THRESHOLD,
            of_type::<idl::CapacityAlarmThresholdListAlias>(&log.thresholds),
        ),
        (
            LOG_FULL_ACTION,
            of_type::<idl::LogFullActionTypeAlias>(&log.full_action),
        ),
        (MAX_LOG_SIZE, any(&log.max_size)),
        (START_TIME, of_type::<idl::TimeTAlias>(&log.interval.start)),
        (STOP_TIME, of_type::<idl::TimeTAlias>(&log.interval.stop)),
        (WEEK_MASK, of_type::<idl::WeekMaskAlias>(&log.week_mask)),
        (MAX_RECORD_LIFE, any(&log.max_record_life)),
        (QUALITY_OF_SERVICE, of_type::<idl::QoSListAlias>(&log.qos)),
    ]
}

fn of_type<A: Typed>(value: &impl Marshal) -> Any {
    Any::with_type(&A::type_code(), value).unwrap_or_default()
}

fn any<T: Typed + Marshal>(value: &T) -> Any {
    Any::new(value).unwrap_or_default()
}
