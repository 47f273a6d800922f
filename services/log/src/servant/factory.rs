//! Factories: what all have in common, and that of basic logs.

use std::sync::Arc;

use punctual::SystemException;

use crate::ds_log_admin::{
    BasicLog, BasicLogFactoryCreateError, BasicLogFactoryCreateWithIdError, BasicLogFactoryServant,
    HALT, InvalidLogFullAction, Log, LogFullActionType, LogId, LogIdAlreadyExists, LogIdList,
    LogList, LogMgrServant,
};
use crate::kept;
use crate::logs::{Logs, NotCreated, as_derived};

/// Object key and id of the factory.
pub(crate) const FACTORY: &str = "BasicLogFactory";

/// Factory, with what its kind adds to it.
#[derive(Debug)]
pub(crate) struct Factory<K> {
    pub(crate) logs: Arc<Logs>,
    pub(crate) kind: K,
}

/// Returns the attributes of a new log.
pub(super) fn attributes(
    full_action: LogFullActionType,
    max_size: u64,
) -> Result<kept::Log, InvalidLogFullAction> {
    match full_action {
        0..=HALT => Ok(kept::Log {
            full_action,
            max_size,
            forwards: true,
            ..kept::Log::default()
        }),
        _ => Err(InvalidLogFullAction),
    }
}

impl<K: Send + Sync + 'static> LogMgrServant for Factory<K> {
    fn list_logs(&self) -> Result<LogList, SystemException> {
        Ok(self.logs.references().into_iter().map(Some).collect())
    }

    fn find_log(&self, id: LogId) -> Result<Option<Log>, SystemException> {
        Ok(self.logs.reference(id))
    }

    fn list_logs_by_id(&self) -> Result<LogIdList, SystemException> {
        Ok(self.logs.ids())
    }
}

impl BasicLogFactoryServant for Factory<()> {
    fn create(
        &self,
        full_action: LogFullActionType,
        max_size: u64,
    ) -> Result<(Option<BasicLog>, LogId), BasicLogFactoryCreateError> {
        let created = self.logs.create(None, attributes(full_action, max_size)?);
        let (log, id) = created.map_err(without_id)?;
        Ok((Some(as_derived(&log)), id))
    }

    fn create_with_id(
        &self,
        id: LogId,
        full_action: LogFullActionType,
        max_size: u64,
    ) -> Result<Option<BasicLog>, BasicLogFactoryCreateWithIdError> {
        let created = self
            .logs
            .create(Some(id), attributes(full_action, max_size)?);
        let (log, _) = created.map_err(|reason| match reason {
            NotCreated::IdTaken => LogIdAlreadyExists.into(),
            other => BasicLogFactoryCreateWithIdError::from(without_id(other)),
        })?;
        Ok(Some(as_derived(&log)))
    }
}

/// Returns the exception of operations that choose the id by themselves.
pub(super) fn without_id(reason: NotCreated) -> SystemException {
    match reason {
        NotCreated::Refused(refusal) => refusal.into(),
        NotCreated::IdTaken => punctual::SystemExceptionKind::BadParam.because("the id is taken"),
    }
}
