//! Attributes of logs that are checked before they are set.

use punctual::SystemException;

use super::log::ServedLog;
use super::thresholds::{distinct, sorted};
use crate::ds_log_admin::{
    HALT, InvalidLogFullAction, InvalidMask, InvalidParam, InvalidTime, InvalidTimeInterval,
    LogFullActionType, LogSetCapacityAlarmThresholdsError, LogSetIntervalError,
    LogSetLogFullActionError, LogSetLogQosError, LogSetMaxSizeError, LogSetWeekMaskError,
    QO_S_RELIABILITY, QoSType, Threshold, TimeInterval, UnsupportedQoS, WeekMaskItem,
};
use crate::kept;
use crate::log::{BadSchedule, check_interval, check_week_mask};

impl<K> ServedLog<K> {
    fn change(&self, edit: impl FnOnce(&mut kept::Log)) -> Result<(), SystemException> {
        Ok(self.log.change(edit)?)
    }

    /// Sets the quality of service. All that is written is durable and flushed, so that each is met.
    pub(super) fn set_qos(&self, qos: &[QoSType]) -> Result<(), LogSetLogQosError> {
        let unknown = qos.iter().copied().filter(|one| *one > QO_S_RELIABILITY);
        let denied: Vec<_> = unknown.collect();
        if !denied.is_empty() {
            return Err(UnsupportedQoS { denied }.into());
        }
        let qos = distinct(qos);
        Ok(self.change(|log| log.qos = qos)?)
    }

    pub(super) fn set_size(&self, size: u64) -> Result<(), LogSetMaxSizeError> {
        let (_, current) = self.log.size();
        if size != 0 && size < current {
            let details = format!("the log has {current} octets: delete records before");
            return Err(InvalidParam { details }.into());
        }
        Ok(self.change(|log| log.max_size = size)?)
    }

    pub(super) fn set_full_action(
        &self,
        action: LogFullActionType,
    ) -> Result<(), LogSetLogFullActionError> {
        if action > HALT {
            return Err(InvalidLogFullAction.into());
        }
        Ok(self.change(|log| log.full_action = action)?)
    }

    pub(super) fn set_duration(&self, interval: &TimeInterval) -> Result<(), LogSetIntervalError> {
        match check_interval(interval) {
            Ok(()) => Ok(self.change(|log| log.interval = *interval)?),
            Err(BadSchedule::Interval) => Err(InvalidTimeInterval.into()),
            Err(_) => Err(InvalidTime.into()),
        }
    }

    pub(super) fn set_thresholds(
        &self,
        thresholds: &[Threshold],
    ) -> Result<(), LogSetCapacityAlarmThresholdsError> {
        let thresholds = sorted(thresholds)?;
        Ok(self.change(|log| log.thresholds = thresholds)?)
    }

    pub(super) fn set_mask(&self, mask: &[WeekMaskItem]) -> Result<(), LogSetWeekMaskError> {
        match check_week_mask(mask) {
            Ok(()) => Ok(self.change(|log| log.week_mask = mask.to_vec())?),
            Err(BadSchedule::Time) => Err(InvalidTime.into()),
            Err(BadSchedule::Interval) => Err(InvalidTimeInterval.into()),
            Err(BadSchedule::Mask) => Err(InvalidMask.into()),
        }
    }
}
