//! Logs as clients call them. What logs of all factories have in common is here, in `attributes` and in `records`.

use std::sync::Arc;

use punctual::SystemException;

use crate::ds_log_admin as idl;
use crate::ds_log_admin::{
    AdministrativeState, AvailabilityStatus, BasicLogServant, CapacityAlarmThresholdList,
    ForwardingState, LogCopyWithIdError, LogDeleteRecordsError, LogFlushError, LogFullActionType,
    LogGetRecordAttributeError, LogId, LogIdAlreadyExists, LogMatchError, LogMgr, LogQueryError,
    LogRecord, LogServant, LogSetCapacityAlarmThresholdsError, LogSetIntervalError,
    LogSetLogFullActionError, LogSetLogQosError, LogSetMaxSizeError, LogSetRecordAttributeError,
    LogSetRecordsAttributeError, LogSetWeekMaskError, LogWriteRecordlistError,
    LogWriteRecordsError, NvList, NvPair, OperationalState, QoSList, QoSType, RecordId, RecordList,
    Threshold, TimeInterval, TimeT, WeekMask, WeekMaskItem,
};
use crate::log::Log;
use crate::logs::{Attributes, Logs, NotCreated, Notify};
use crate::refusal::Refusal;

use super::factory::without_id;

type Result<T, E = SystemException> = std::result::Result<T, E>;

/// Log, with what its factory adds to it.
pub(crate) struct ServedLog<K> {
    pub(super) log: Arc<Log>,
    pub(super) logs: Arc<Logs>,
    pub(super) kind: K,
}

/// Kind of a log, with the parts that it has besides.
pub(crate) trait Kind: Send + Sync + 'static {
    /// Makes the parts of a copy of the log, if the log has any.
    ///
    /// # Errors
    /// It cannot be made.
    fn copied(&self) -> Result<Option<Notify>, Refusal> {
        Ok(None)
    }

    /// Takes the parts of a copy back that there is not.
    fn take_back(&self, _: &Notify) {}
}

/// Logs that clients alone write to.
#[derive(Debug)]
pub(crate) struct Basic;

impl Kind for Basic {}

impl<K: Kind> ServedLog<K> {
    /// Makes a log with the attributes of this one.
    fn copy_to(&self, id: Option<LogId>) -> Result<(idl::Log, LogId), NotCreated> {
        self.log.common.check_access()?;
        let notify = self.kind.copied()?;
        let attributes = Attributes {
            settings: self.log.settings(),
            notify: notify.clone(),
        };
        self.logs.create(id, attributes).inspect_err(|_| {
            if let Some(notify) = &notify {
                self.kind.take_back(notify);
            }
        })
    }
}

impl<K> ServedLog<K> {
    pub(crate) fn new(logs: &Arc<Logs>, log: &Arc<Log>, kind: K) -> Self {
        Self {
            log: log.clone(),
            logs: logs.clone(),
            kind,
        }
    }
}

impl<K: Kind> LogServant for ServedLog<K> {
    fn log_factory(&self) -> Result<Option<LogMgr>> {
        Ok(self.logs.factory())
    }

    fn id(&self) -> Result<LogId> {
        Ok(self.log.id())
    }

    fn get_log_qos(&self) -> Result<QoSList> {
        Ok(self.log.settings().qos)
    }

    fn set_log_qos(&self, qos: &[QoSType]) -> Result<(), LogSetLogQosError> {
        self.set_qos(qos)
    }

    fn get_max_record_life(&self) -> Result<u32> {
        Ok(self.log.settings().max_record_life)
    }

    fn set_max_record_life(&self, life: u32) -> Result<()> {
        Ok(self.log.change(|log| log.max_record_life = life)?)
    }

    fn get_max_size(&self) -> Result<u64> {
        Ok(self.log.settings().max_size)
    }

    fn set_max_size(&self, size: u64) -> Result<(), LogSetMaxSizeError> {
        self.set_size(size)
    }

    fn get_current_size(&self) -> Result<u64> {
        Ok(self.log.size().1)
    }

    fn get_n_records(&self) -> Result<u64> {
        Ok(self.log.size().0)
    }

    fn get_log_full_action(&self) -> Result<LogFullActionType> {
        Ok(self.log.settings().full_action)
    }

    fn set_log_full_action(
        &self,
        action: LogFullActionType,
    ) -> Result<(), LogSetLogFullActionError> {
        self.set_full_action(action)
    }

    fn get_administrative_state(&self) -> Result<AdministrativeState> {
        Ok(match self.log.settings().is_locked {
            true => AdministrativeState::Locked,
            false => AdministrativeState::Unlocked,
        })
    }

    fn set_administrative_state(&self, state: AdministrativeState) -> Result<()> {
        let is_locked = state == AdministrativeState::Locked;
        Ok(self.log.change(|log| log.is_locked = is_locked)?)
    }

    fn get_forwarding_state(&self) -> Result<ForwardingState> {
        Ok(match self.log.settings().forwards {
            true => ForwardingState::On,
            false => ForwardingState::Off,
        })
    }

    fn set_forwarding_state(&self, state: ForwardingState) -> Result<()> {
        let forwards = state == ForwardingState::On;
        Ok(self.log.change(|log| log.forwards = forwards)?)
    }

    fn get_operational_state(&self) -> Result<OperationalState> {
        Ok(match self.log.is_disabled() {
            true => OperationalState::Disabled,
            false => OperationalState::Enabled,
        })
    }

    fn get_interval(&self) -> Result<TimeInterval> {
        Ok(self.log.settings().interval)
    }

    fn set_interval(&self, interval: &TimeInterval) -> Result<(), LogSetIntervalError> {
        self.set_duration(interval)
    }

    fn get_availability_status(&self) -> Result<AvailabilityStatus> {
        Ok(self.log.availability())
    }

    fn get_capacity_alarm_thresholds(&self) -> Result<CapacityAlarmThresholdList> {
        Ok(self.log.settings().thresholds)
    }

    fn set_capacity_alarm_thresholds(
        &self,
        threshs: &[Threshold],
    ) -> Result<(), LogSetCapacityAlarmThresholdsError> {
        self.set_thresholds(threshs)
    }

    fn get_week_mask(&self) -> Result<WeekMask> {
        Ok(self.log.settings().week_mask)
    }

    fn set_week_mask(&self, masks: &[WeekMaskItem]) -> Result<(), LogSetWeekMaskError> {
        self.set_mask(masks)
    }

    fn query(
        &self,
        grammar: &str,
        c: &str,
    ) -> Result<(RecordList, Option<idl::Iterator>), LogQueryError> {
        Ok(self.matching(grammar, c)?)
    }

    fn retrieve(
        &self,
        from_time: TimeT,
        how_many: i32,
    ) -> Result<(RecordList, Option<idl::Iterator>)> {
        Ok(self.of_time(from_time, how_many)?)
    }

    fn r#match(&self, grammar: &str, c: &str) -> Result<u32, LogMatchError> {
        Ok(self.count(grammar, c)?)
    }

    fn delete_records(&self, grammar: &str, c: &str) -> Result<u32, LogDeleteRecordsError> {
        Ok(self.delete_matching(grammar, c)?)
    }

    fn delete_records_by_id(&self, ids: &[RecordId]) -> Result<u32> {
        Ok(self.log.delete(ids)?)
    }

    fn write_records(&self, records: &[punctual::Any]) -> Result<(), LogWriteRecordsError> {
        Ok(self.write(records)?)
    }

    fn write_recordlist(&self, list: &[LogRecord]) -> Result<(), LogWriteRecordlistError> {
        Ok(self.write_with_attributes(list)?)
    }

    fn set_record_attribute(
        &self,
        id: RecordId,
        attr_list: &[NvPair],
    ) -> Result<(), LogSetRecordAttributeError> {
        self.set_attributes(id, attr_list)
    }

    fn set_records_attribute(
        &self,
        grammar: &str,
        c: &str,
        attr_list: &[NvPair],
    ) -> Result<u32, LogSetRecordsAttributeError> {
        self.set_attributes_of_matching(grammar, c, attr_list)
    }

    fn get_record_attribute(&self, id: RecordId) -> Result<NvList, LogGetRecordAttributeError> {
        let found = self.log.attributes(id).map_err(SystemException::from)?;
        found.ok_or_else(|| idl::InvalidRecordId.into())
    }

    fn copy(&self) -> Result<(Option<idl::Log>, LogId)> {
        let (log, id) = self.copy_to(None).map_err(without_id)?;
        Ok((Some(log), id))
    }

    fn copy_with_id(&self, id: LogId) -> Result<Option<idl::Log>, LogCopyWithIdError> {
        let (log, _) = self.copy_to(Some(id)).map_err(|reason| match reason {
            NotCreated::IdTaken => LogCopyWithIdError::from(LogIdAlreadyExists),
            other => without_id(other).into(),
        })?;
        Ok(Some(log))
    }

    /// Does nothing, as all that was written is durable.
    fn flush(&self) -> Result<(), LogFlushError> {
        Ok(())
    }
}

impl BasicLogServant for ServedLog<Basic> {
    fn destroy(&self) -> Result<()> {
        Ok(self.logs.destroy(&self.log)?)
    }
}
