//! What clients state at an administrator or a proxy, and its record in the store.
//!
//! A change is drafted, made durable if the object is kept, and then applied: one that cannot be stored is refused, and
//! changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use punctual::SystemException;

use crate::common::Common;
use crate::cos_notification::{EventType, Property, QoSAdminSetQosError};
use crate::cos_notify_comm::InvalidEventType;
use crate::cos_notify_filter::{Filter, FilterAdminRemoveFilterError, FilterId};
use crate::draft::Draft;
use crate::filter::{Attached, AttachedMapping, Mappings};
use crate::quality::Quality;
use crate::record::RecordState;
use crate::refusal::Refusal;
use crate::storage::Change;
use crate::types::{BadTypes, Types};

/// State of an administrator or a proxy that clients set.
#[derive(Debug)]
pub(crate) struct Stated {
    pub(crate) common: Arc<Common>,
    /// Number of the object.
    pub(crate) number: u64,
    pub(crate) quality: Quality,
    pub(crate) filters: Attached,
    /// Mapping filters, which are for consumers.
    pub(crate) mappings: RwLock<Mappings>,
    types: Mutex<Types>,
    /// States that the client wants to hear of changes of types.
    wants_updates: AtomicBool,
    is_suspended: AtomicBool,
    pub(crate) record: RecordState,
}

impl Stated {
    pub(crate) fn new(
        common: Arc<Common>,
        number: u64,
        quality: Quality,
        filters: Attached,
    ) -> Self {
        Self {
            common,
            number,
            quality,
            filters,
            mappings: RwLock::default(),
            types: Mutex::default(),
            wants_updates: AtomicBool::new(true),
            is_suspended: AtomicBool::new(false),
            record: RecordState::default(),
        }
    }

    pub(crate) fn types(&self) -> Types {
        self.types.lock().clone()
    }

    pub(crate) fn wants_updates(&self) -> bool {
        // Relaxed: a flag of its own, which orders no other access.
        self.wants_updates.load(Ordering::Relaxed)
    }

    pub(crate) fn is_suspended(&self) -> bool {
        self.is_suspended.load(Ordering::Relaxed)
    }

    /// Returns the state as it is.
    pub(crate) fn draft(&self) -> Draft {
        Draft {
            settings: self.quality.settings(),
            filters: self.filters.list(),
            mappings: self.mappings.read().clone(),
            types: self.types(),
            wants_updates: self.wants_updates(),
            is_suspended: self.is_suspended(),
        }
    }

    fn apply(&self, draft: Draft) {
        self.quality.replace(draft.settings);
        self.filters.replace(draft.filters);
        *self.mappings.write() = draft.mappings;
        *self.types.lock() = draft.types;
        self.wants_updates
            .store(draft.wants_updates, Ordering::Relaxed);
        self.is_suspended
            .store(draft.is_suspended, Ordering::Relaxed);
    }

    /// Applies the state of a record that the store has.
    pub(crate) fn restore(&self, draft: Draft) {
        self.apply(draft);
        self.record.note(true);
    }
}

/// Administrator or proxy at which clients state something.
pub(crate) trait Stating {
    fn stated(&self) -> &Stated;

    /// Returns the change of the store to the state of a draft, if the object is to be kept.
    ///
    /// # Errors
    /// The client's reference has no text.
    fn record(&self, draft: &Draft) -> Result<Option<Change>, Refusal>;

    /// Returns the change of the store that removes the record.
    fn removal(&self) -> Change;

    /// Returns whether the object has ended.
    fn has_ended(&self) -> bool;

    /// Removes the record, if there is one, on another thread.
    fn forget(&self) {
        if self.stated().record.note(false) {
            self.stated().common.forget(self.removal());
        }
    }

    /// Makes a draft durable: with its record, or without one. Called in order.
    ///
    /// # Errors
    /// It cannot be stored.
    fn store(&self, record: Option<Change>) -> Result<(), Refusal> {
        let stated = self.stated();
        let is_kept = record.is_some();
        let removal = || stated.record.is_there().then(|| self.removal());
        let change = record.or_else(removal);
        stated.common.keep(change.into_iter().collect())?;
        stated.record.note(is_kept);
        if self.has_ended() {
            self.forget();
        }
        Ok(())
    }

    /// Makes a change: what a function makes of the state is stored, and then applied.
    fn change<R, E: From<SystemException>>(
        &self,
        edit: impl FnOnce(&mut Draft) -> Result<R, E>,
    ) -> Result<R, E>
    where
        Self: Sized,
    {
        let stated = self.stated();
        let _order = stated.record.order();
        let mut draft = stated.draft();
        let result = edit(&mut draft)?;
        if stated.common.is_stored {
            let stored = self.record(&draft).and_then(|record| self.store(record));
            stored.map_err(SystemException::from)?;
        }
        stated.apply(draft);
        Ok(result)
    }

    fn set_quality(&self, properties: &[Property]) -> Result<(), QoSAdminSetQosError>
    where
        Self: Sized,
    {
        self.change(|draft| {
            draft.settings = self.stated().quality.changed(properties)?;
            Ok(())
        })
    }

    /// Attaches a filter; returns its id.
    fn attach(&self, filter: Option<&Filter>) -> Result<FilterId, SystemException>
    where
        Self: Sized,
    {
        let stated = self.stated();
        let found = stated.filters.find(filter)?;
        let limits = stated.common.limits;
        self.change(|draft| Ok(draft.filters.add(found, &limits)?))
    }

    fn detach(&self, id: FilterId) -> Result<(), FilterAdminRemoveFilterError>
    where
        Self: Sized,
    {
        self.change(|draft| Ok(draft.filters.remove(id)?))
    }

    fn detach_all(&self) -> Result<(), SystemException>
    where
        Self: Sized,
    {
        self.change(|draft| {
            draft.filters.clear();
            Ok(())
        })
    }

    /// Sets the filter that maps events to priorities.
    fn map_priorities(&self, found: AttachedMapping) -> Result<(), SystemException>
    where
        Self: Sized,
    {
        self.change(|draft| {
            draft.mappings.priority = found;
            Ok(())
        })
    }

    /// Sets the filter that maps events to lives.
    fn map_lives(&self, found: AttachedMapping) -> Result<(), SystemException>
    where
        Self: Sized,
    {
        self.change(|draft| {
            draft.mappings.lifetime = found;
            Ok(())
        })
    }

    /// Changes the types that the client states.
    fn change_types<E>(&self, added: &[EventType], removed: &[EventType]) -> Result<(), E>
    where
        Self: Sized,
        E: From<InvalidEventType> + From<SystemException>,
    {
        let most = self.stated().common.limits.types;
        self.change(|draft| {
            let changed = draft.types.changed(added, removed, most);
            draft.types = changed.map_err(refused::<E>)?;
            Ok(())
        })
    }
}

/// Makes the end of objects durable: removes their records, and others.
///
/// # Errors
/// It cannot be stored.
pub(crate) fn forget_all(
    common: &Common,
    others: &[Change],
    objects: Vec<&dyn Stating>,
) -> Result<(), Refusal> {
    let kept = objects.iter().filter(|one| one.stated().record.is_there());
    let removals = kept.map(|one| one.removal());
    common.keep(others.iter().cloned().chain(removals).collect())?;
    for one in objects {
        one.stated().record.note(false);
    }
    Ok(())
}

/// Returns the exception of types that are not taken.
fn refused<E: From<InvalidEventType> + From<SystemException>>(bad: BadTypes) -> E {
    match bad {
        BadTypes::Invalid(r#type) => InvalidEventType { r#type }.into(),
        BadTypes::TooMany(limit) => SystemException::from(Refusal::too_many_types(limit)).into(),
    }
}
