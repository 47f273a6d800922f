//! Logs of one factory, by their ids.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use punctual::{Interface, Servant};
use punctual_notification::EventFilter;
use punctual_notification::cos_notify_channel_admin::ChannelId;

use crate::common::Common;
use crate::ds_log_admin::{self as idl, LogId, LogMgr, RecordId};
use crate::kept;
use crate::log::Log;
use crate::notices::Tell;
use crate::record::Entry;
use crate::refusal::Refusal;
use crate::storage::Change;

/// Function that makes the servant of a log, from its channel and filter if it is a notify log.
pub(crate) type Serve = Box<
    dyn Fn(&Arc<Logs>, &Arc<Log>, Option<Notify>) -> Result<Arc<dyn Servant>, Refusal>
        + Send
        + Sync,
>;

/// Attributes of a log, as they are kept.
#[derive(Clone, Debug)]
pub(crate) struct Attributes {
    pub(crate) settings: kept::Log,
    /// Channel and filter of a notify log.
    pub(crate) notify: Option<Notify>,
}

/// Channel and filter of a notify log.
#[derive(Clone, Debug)]
pub(crate) struct Notify {
    pub(crate) channel: ChannelId,
    pub(crate) filter: Option<EventFilter>,
}

impl Notify {
    pub(crate) fn to_kept(&self) -> kept::NotifyLog {
        kept::NotifyLog {
            channel: self.channel,
            filter: self.filter.as_ref().map_or(0, EventFilter::number),
        }
    }
}

impl From<kept::Log> for Attributes {
    fn from(settings: kept::Log) -> Self {
        Self {
            settings,
            notify: None,
        }
    }
}

/// Reason for which a log is not created.
#[derive(Debug)]
pub(crate) enum NotCreated {
    /// Another log has the id.
    IdTaken,
    Refused(Refusal),
}

impl From<Refusal> for NotCreated {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Logs of a factory.
pub(crate) struct Logs {
    pub(crate) common: Arc<Common>,
    made_by: kept::FactoryKind,
    serve: Serve,
    notices: Option<Arc<dyn Tell>>,
    factory: OnceLock<LogMgr>,
    table: Mutex<Table>,
    /// Held while a log is created or destroyed.
    changing: Mutex<()>,
}

#[derive(Default)]
struct Table {
    logs: BTreeMap<LogId, Served>,
    /// Id that was given last.
    last: LogId,
}

/// Log, and the reference to its object.
#[derive(Clone)]
struct Served {
    log: Arc<Log>,
    reference: idl::Log,
}

impl std::fmt::Debug for Logs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Logs").finish_non_exhaustive()
    }
}

impl Logs {
    pub(crate) fn new(
        common: Arc<Common>,
        made_by: kept::FactoryKind,
        serve: Serve,
        notices: Option<Arc<dyn Tell>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            common,
            made_by,
            serve,
            notices,
            factory: OnceLock::new(),
            table: Mutex::default(),
            changing: Mutex::default(),
        })
    }

    /// Sets the reference to the factory.
    pub(crate) fn set_factory(&self, factory: LogMgr) {
        // It is set once.
        let _ = self.factory.set(factory);
    }

    pub(crate) fn factory(&self) -> Option<LogMgr> {
        self.factory.get().cloned()
    }

    /// Creates a log with attributes; without an id it gets one that no log has.
    ///
    /// # Errors
    /// The peer may not; the id is taken; there are too many logs; the log cannot be stored.
    pub(crate) fn create(
        self: &Arc<Self>,
        id: Option<LogId>,
        attributes: impl Into<Attributes>,
    ) -> Result<(idl::Log, LogId), NotCreated> {
        self.common.check_access()?;
        let _changing = self.changing.lock();
        let id = self.free_id(id)?;
        let mut attributes = attributes.into();
        attributes.settings.id = id;
        attributes.settings.made_by = self.made_by;
        self.common.count_log()?;
        let created = self.common.metrics.changes.count(|| self.made(attributes));
        if created.is_err() {
            self.common.forget_log();
        }
        Ok((created?, id))
    }

    /// Makes a log, durably.
    fn made(self: &Arc<Self>, attributes: Attributes) -> Result<idl::Log, Refusal> {
        let number = self.common.objects.number();
        let Attributes { settings, notify } = attributes;
        let mut changes = vec![Change::Log(number, Some(settings.clone()))];
        let kept = notify.as_ref().map(Notify::to_kept);
        changes.extend(kept.map(|kept| Change::NotifyLog(number, kept)));
        self.common.storage.change_all(changes)?;
        let log = Arc::new(Log::new(self.shared(), number, settings, (0, Vec::new())));
        let reference = self.add(log.clone(), notify).inspect_err(|_| {
            // Reported where it is written.
            let _ = self.common.storage.change(Change::Log(number, None));
        })?;
        log.tell_created();
        Ok(reference)
    }

    /// Returns the id for a new log.
    fn free_id(&self, wanted: Option<LogId>) -> Result<LogId, NotCreated> {
        let mut table = self.table.lock();
        if let Some(id) = wanted {
            return match table.logs.contains_key(&id) {
                true => Err(NotCreated::IdTaken),
                false => Ok(id),
            };
        }
        // There are fewer logs than ids.
        loop {
            table.last = table.last.wrapping_add(1);
            if !table.logs.contains_key(&table.last) {
                return Ok(table.last);
            }
        }
    }

    /// Adds a log that was kept.
    ///
    /// # Errors
    /// Its reference cannot be made.
    pub(crate) fn restore(
        self: &Arc<Self>,
        number: u64,
        attributes: Attributes,
        records: (u64, Vec<(RecordId, Entry)>),
    ) -> Result<(), Refusal> {
        let log = Log::new(self.shared(), number, attributes.settings, records);
        self.common.count_kept_log();
        self.add(Arc::new(log), attributes.notify).map(drop)
    }

    fn shared(&self) -> (Arc<Common>, Option<Arc<dyn Tell>>) {
        (self.common.clone(), self.notices.clone())
    }

    fn add(self: &Arc<Self>, log: Arc<Log>, notify: Option<Notify>) -> Result<idl::Log, Refusal> {
        let objects = &self.common.objects;
        let servant = (self.serve)(self, &log, notify)?;
        let reference: idl::Log = objects.add(&objects.id_of(log.number()), servant)?;
        let served = Served {
            log: log.clone(),
            reference: reference.clone(),
        };
        let mut table = self.table.lock();
        let id = log.id();
        table.last = table.last.max(id);
        table.logs.insert(id, served);
        Ok(reference)
    }

    /// Destroys a log and its records.
    ///
    /// # Errors
    /// The peer may not; it has been destroyed; it cannot be stored.
    pub(crate) fn destroy(&self, log: &Log) -> Result<(), Refusal> {
        self.common.check_access()?;
        let _changing = self.changing.lock();
        let destroyed = || {
            let change = Change::Log(log.number(), None);
            if !self.has(log) {
                return Err(Refusal::Destroyed("log"));
            }
            log.end_with(|| self.common.storage.change(change))
        };
        self.common.metrics.changes.count(destroyed)?;
        self.common.forget_log();
        let removed = self.table.lock().logs.remove(&log.id());
        let objects = &self.common.objects;
        objects.remove(&objects.id_of(log.number()));
        drop(removed);
        log.tell_deleted();
        Ok(())
    }

    fn has(&self, log: &Log) -> bool {
        let table = self.table.lock();
        let served = table.logs.get(&log.id());
        served.is_some_and(|served| served.log.number() == log.number())
    }

    /// Returns references to all logs, in the order of their ids.
    pub(crate) fn references(&self) -> Vec<idl::Log> {
        let table = self.table.lock();
        let logs = table.logs.values();
        logs.map(|served| served.reference.clone()).collect()
    }

    pub(crate) fn reference(&self, id: LogId) -> Option<idl::Log> {
        let table = self.table.lock();
        Some(table.logs.get(&id)?.reference.clone())
    }

    pub(crate) fn ids(&self) -> Vec<LogId> {
        self.table.lock().logs.keys().copied().collect()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Log>> {
        let table = self.table.lock();
        table
            .logs
            .values()
            .map(|served| served.log.clone())
            .collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.table.lock().logs.len()
    }

    /// Drops all logs, which stay in the store: the process ends.
    pub(crate) fn abandon(&self) {
        let table = std::mem::take(&mut *self.table.lock());
        drop(table);
    }
}

/// Returns a reference as one to an object of a derived interface, which its servant has.
pub(crate) fn as_derived<I: Interface>(log: &idl::Log) -> I {
    I::from_object(log.as_object().clone())
}
