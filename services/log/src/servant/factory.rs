//! Factories: what all have in common, and that of basic logs.

use std::sync::Arc;

use punctual::{Interface, SystemException, SystemExceptionKind as Kind};

use super::thresholds::sorted;
use crate::ds_log_admin::{
    BasicLog, BasicLogFactoryCreateError, BasicLogFactoryCreateWithIdError, BasicLogFactoryServant,
    HALT, InvalidLogFullAction, InvalidThreshold, Log, LogFullActionType, LogId,
    LogIdAlreadyExists, LogIdList, LogList, LogMgrServant, Threshold,
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

/// Part of creating a log that depends on the factory's kind.
pub(crate) trait Creating {
    /// Properties of a new log besides its attributes.
    type More;

    /// Creates a log; without an id it gets one that no log has. By default it has nothing besides its attributes.
    ///
    /// # Errors
    /// As of [`Logs::create`].
    fn create(
        &self,
        logs: &Arc<Logs>,
        id: Option<LogId>,
        settings: kept::Log,
        more: Self::More,
    ) -> Result<(Log, LogId), NotCreated> {
        let _ = more;
        logs.create(id, settings)
    }
}

impl Creating for () {
    type More = ();
}

impl<K: Creating> Factory<K> {
    /// Creates a log with the next id that no log has; returns both.
    ///
    /// # Errors
    /// The peer may not; there are too many logs; the log cannot be stored.
    pub(super) fn created<I: Interface>(
        &self,
        settings: kept::Log,
        more: K::More,
    ) -> Result<(Option<I>, LogId), SystemException> {
        let created = self.kind.create(&self.logs, None, settings, more);
        let (log, id) = created.map_err(without_id)?;
        Ok((Some(as_derived(&log)), id))
    }

    /// Creates a log with an id.
    ///
    /// # Errors
    /// Another log has the id; as of [`created`](Self::created).
    pub(super) fn created_with_id<I: Interface, E>(
        &self,
        id: LogId,
        settings: kept::Log,
        more: K::More,
    ) -> Result<Option<I>, E>
    where
        E: From<LogIdAlreadyExists> + From<SystemException>,
    {
        match self.kind.create(&self.logs, Some(id), settings, more) {
            Ok((log, _)) => Ok(Some(as_derived(&log))),
            Err(NotCreated::IdTaken) => Err(LogIdAlreadyExists.into()),
            Err(NotCreated::Refused(refusal)) => Err(SystemException::from(refusal).into()),
        }
    }
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

/// Returns the attributes of a new log that tells when it has been filled up to thresholds.
pub(super) fn alarming<E>(
    full_action: LogFullActionType,
    max_size: u64,
    thresholds: &[Threshold],
) -> Result<kept::Log, E>
where
    E: From<InvalidLogFullAction> + From<InvalidThreshold>,
{
    Ok(kept::Log {
        thresholds: sorted(thresholds)?,
        ..attributes(full_action, max_size)?
    })
}

/// Returns the exception for clients that push to a channel of a factory.
pub(super) fn closed() -> SystemException {
    Kind::NoPermission.because("only the logs of the factory send events here")
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
        Ok(self.created(attributes(full_action, max_size)?, ())?)
    }

    fn create_with_id(
        &self,
        id: LogId,
        full_action: LogFullActionType,
        max_size: u64,
    ) -> Result<Option<BasicLog>, BasicLogFactoryCreateWithIdError> {
        self.created_with_id(id, attributes(full_action, max_size)?, ())
    }
}

/// Returns the exception of operations that choose the id by themselves.
pub(super) fn without_id(reason: NotCreated) -> SystemException {
    match reason {
        NotCreated::Refused(refusal) => refusal.into(),
        NotCreated::IdTaken => Kind::BadParam.because("the id is taken"),
    }
}
