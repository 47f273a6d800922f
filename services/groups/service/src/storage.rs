//! Groups in a file.
//!
//! | table | number | value |
//! |---|---|---|
//! | `groups` | id of the group | type, properties, members, primary, version |
//! | `states` | id of the group | state for the next primary |
//! | `logs` | id of the group | places of the state and of the last update since |
//! | `updates` | id of the group, 48 bits; which one since the state, 16 bits | update, with its place |
//! | `types` | any | properties of a type, or of all types |
//! | `service` | 0 | domain of the groups' ids |
//! | | 1 | id of the next group |
//!
//! A new state is written with the bounds of its log, and so ends the log before, whose updates are out of these bounds. They are
//! overwritten by later ones, and removed when the store is opened: a change has few records, as a transaction of etcd has to.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{
    Batch, Cdr, Change, ChangeStore, Records, SharedFrom, SharedRecords, StoreError, StoreFile,
    StoreKind,
};

use crate::kept;
use crate::log::Stored;

const GROUPS: Records<u64, Cdr<kept::Group>> = Records::named("groups");
const STATES: Records<u64, Cdr<Vec<u8>>> = Records::named("states");
const LOGS: Records<u64, Cdr<kept::Log>> = Records::named("logs");
const UPDATES: Records<u64, Cdr<kept::Update>> = Records::named("updates");
const TYPES: Records<u64, Cdr<kept::OfType>> = Records::named("types");
const SERVICE: Records<u64, Cdr<String>> = Records::named("service");

/// Numbers of the records of the service.
const DOMAIN: u64 = 0;
const NEXT: u64 = 1;

/// Bits of an update's number that say which one it is of its group.
const SLOT_BITS: u32 = 16;

/// Number of updates that one change removes: within what any store writes at once.
const REMOVED_AT_ONCE: usize = 64;

/// First of the numbers of groups that others choose: those from here on do not count for the next number.
pub(crate) const FIRST_CHOSEN: u64 = 1 << 63;

/// Name and format of the store.
const KIND: StoreKind = StoreKind::new("group", 1);

/// Store of a group service.
pub(crate) type Storage = ChangeStore<Kept>;

/// Change of a record; without a value the record is removed.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    Group(u64, Option<kept::Group>),
    State(u64, Option<Vec<u8>>),
    Log(u64, Option<kept::Log>),
    Update(u64, Option<kept::Update>),
    Type(u64, Option<kept::OfType>),
    Next(u64),
    Domain(String),
}

/// Contents of a store.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) groups: Vec<(u64, kept::Group)>,
    pub(crate) states: Vec<(u64, Stored)>,
    pub(crate) types: Vec<(u64, kept::OfType)>,
    pub(crate) domain: String,
    pub(crate) next: u64,
}

impl Change for Kept {
    fn write<'c>(
        mut changes: impl Iterator<Item = &'c Self>,
        batch: &Batch<'_>,
    ) -> Result<(), StoreError> {
        changes.try_for_each(|change| match change {
            Self::Group(id, Some(group)) => batch.put(GROUPS, id, &Cdr(group.clone())),
            Self::Group(id, None) => batch.records(GROUPS)?.remove(id),
            Self::State(id, Some(state)) => batch.put(STATES, id, &Cdr(state.clone())),
            Self::State(id, None) => batch.records(STATES)?.remove(id),
            Self::Log(id, Some(log)) => batch.put(LOGS, id, &Cdr(*log)),
            Self::Log(id, None) => batch.records(LOGS)?.remove(id),
            Self::Update(number, Some(update)) => batch.put(UPDATES, number, &Cdr(update.clone())),
            Self::Update(number, None) => batch.records(UPDATES)?.remove(number),
            Self::Type(number, Some(of)) => batch.put(TYPES, number, &Cdr(of.clone())),
            Self::Type(number, None) => batch.records(TYPES)?.remove(number),
            Self::Next(id) => batch.put(SERVICE, &NEXT, &Cdr(id.to_string())),
            Self::Domain(domain) => batch.put(SERVICE, &DOMAIN, &Cdr(domain.clone())),
        })
    }
}

/// Returns the contents of a new store: a domain of its own.
pub(crate) fn fresh() -> Contents {
    let number = getrandom::u64().unwrap_or_default();
    Contents {
        domain: format!("punctual-{number:016x}"),
        next: 1,
        ..Contents::default()
    }
}

/// Opens a file, which is created if need be, and reads it.
pub(crate) fn open(path: &Path) -> Result<(Storage, Contents), StoreError> {
    on(StoreFile::open(path, KIND)?)
}

/// Opens a file on a disk with injected faults.
#[cfg(feature = "faults")]
pub(crate) fn open_with_faults(
    path: &Path,
    faults: Faults,
) -> Result<(Storage, Contents), StoreError> {
    on(StoreFile::open_with_faults(path, KIND, faults)?)
}

/// Opens a file as a copy of records that several servers share, of which this process has the right to write.
pub(crate) fn open_shared(
    path: &Path,
    shared: Arc<dyn SharedRecords>,
) -> Result<(Storage, Contents), StoreError> {
    on(StoreFile::open_shared(
        path,
        KIND,
        shared,
        SharedFrom::Records,
    )?)
}

fn on(file: StoreFile) -> Result<(Storage, Contents), StoreError> {
    let mut contents = Contents::default();
    let mut stale = Vec::new();
    file.read(|transaction| {
        contents.groups = GROUPS.entries(transaction)?;
        let states = STATES.entries(transaction)?;
        let logs = LOGS.entries(transaction)?.into_iter().collect();
        let updates = UPDATES.entries(transaction)?.into_iter().collect();
        (contents.states, stale) = assembled(states, &logs, updates)?;
        contents.types = TYPES.entries(transaction)?;
        for (number, text) in SERVICE.entries(transaction)? {
            match number {
                DOMAIN => contents.domain = text,
                NEXT => contents.next = text.parse().unwrap_or_default(),
                _ => {}
            }
        }
        Ok(())
    })?;
    let storage = Storage::new(file);
    for few in removals(&stale) {
        storage.change(few)?;
    }
    if contents.domain.is_empty() {
        let fresh = fresh();
        storage.change(vec![Kept::Domain(fresh.domain.clone())])?;
        contents.domain = fresh.domain;
    }
    let ids = contents.groups.iter().map(|(id, _)| *id);
    let last = ids.filter(|id| *id < FIRST_CHOSEN).max();
    contents.next = contents.next.max(last.unwrap_or(0) + 1);
    Ok((storage, contents))
}

/// Returns the number of an update's record; `None` if it has no place there.
pub(crate) fn update_number(id: u64, slot: usize) -> Option<u64> {
    let slot = u64::from(u16::try_from(slot).ok()?);
    let group = id.checked_mul(1 << SLOT_BITS)?;
    Some(group | slot)
}

/// Returns the changes that remove updates, a few at a time.
pub(crate) fn removals(numbers: &[u64]) -> impl Iterator<Item = Vec<Kept>> {
    let few = numbers.chunks(REMOVED_AT_ONCE);
    few.map(|few| few.iter().map(|one| Kept::Update(*one, None)).collect())
}

/// States of groups with their updates, and numbers of updates that do not count.
type Assembled = (Vec<(u64, Stored)>, Vec<u64>);

/// Returns the states with the updates within the bounds of their logs, and the numbers of the other updates.
fn assembled(
    states: Vec<(u64, Vec<u8>)>,
    logs: &HashMap<u64, kept::Log>,
    mut updates: BTreeMap<u64, kept::Update>,
) -> Result<Assembled, StoreError> {
    let mut assembled = Vec::new();
    for (id, state) in states {
        let log = logs.get(&id);
        let (first, last) = log.map_or((1, 1), |log| (log.state, log.end));
        let mut stored = Stored::at(first, state.into());
        stored.slots = usize::from(log.is_some());
        for place in first.saturating_add(1)..=last {
            let number = update_number(id, stored.updates().len());
            let update = number.and_then(|number| updates.remove(&number));
            let update = update.filter(|update| update.place == place);
            let lacks = || {
                let end = last - first;
                let which = place - first;
                format!("the log of group {id} lacks update {which} of {end}")
            };
            let update = update.ok_or_else(|| StoreError::damaged(lacks()))?;
            stored.add(update.content.into());
        }
        stored.slots = stored.slots.max(stored.updates().len());
        assembled.push((id, stored));
    }
    let has_state = |id: &u64| assembled.iter().any(|(one, _)| one == id);
    if let Some((id, _)) = logs.iter().find(|(id, _)| !has_state(id)) {
        let what = format!("group {id} has a log, and no state");
        return Err(StoreError::damaged(what));
    }
    Ok((assembled, updates.into_keys().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: u64 = 3;

    fn update(slot: usize, place: u64) -> Kept {
        let update = kept::Update {
            place,
            content: vec![slot as u8],
        };
        Kept::Update(update_number(GROUP, slot).unwrap(), Some(update))
    }

    fn log(state: u64, end: u64) -> Kept {
        Kept::Log(GROUP, Some(kept::Log { state, end }))
    }

    fn opened_after(changes: Vec<Kept>) -> Result<(Storage, Contents), StoreError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("groups.redb");
        let (storage, _) = open(&path).unwrap();
        storage.change(changes).unwrap();
        drop(storage);
        open(&path)
    }

    #[test]
    fn a_log_that_lacks_an_update_is_an_error_that_says_which() {
        let whole = || {
            let state = Kept::State(GROUP, Some(b"state".to_vec()));
            vec![state, log(4, 7), update(0, 5), update(1, 6), update(2, 7)]
        };
        let (_, contents) = opened_after(whole()).unwrap();
        let (_, stored) = &contents.states[0];
        assert_eq!(stored.updates().concat(), [0, 1, 2]);
        assert_eq!((stored.place(), stored.end()), (4, 7));
        for (lacking, which) in [(2, 1), (3, 2), (4, 3)] {
            let mut changes = whole();
            changes.remove(lacking);
            let error = opened_after(changes).unwrap_err();
            assert!(matches!(error, StoreError::Damaged(_)), "{error}");
            let expected = format!("the log of group 3 lacks update {which} of 3");
            assert!(error.to_string().contains(&expected), "{error}");
        }
        let mut changes = whole();
        changes.remove(0);
        let error = opened_after(changes).unwrap_err().to_string();
        assert!(error.contains("group 3 has a log, and no state"), "{error}");
    }

    #[test]
    fn updates_of_logs_that_have_ended_do_not_count_and_are_removed() {
        let state = Kept::State(GROUP, Some(b"state".to_vec()));
        let mut changes = vec![state, log(300, 301), update(0, 301)];
        changes.extend((1..200).map(|slot| update(slot, slot as u64 + 5)));
        let (storage, contents) = opened_after(changes).unwrap();
        assert_eq!(contents.states[0].1.updates().len(), 1);
        let left = storage.file().read(|from| UPDATES.entries(from)).unwrap();
        assert_eq!(left.len(), 1);
    }

    #[test]
    fn updates_have_records_of_their_groups_only() {
        assert_eq!(update_number(1, 0), Some(1 << 16));
        assert_eq!(update_number(1, 65_535), Some((2 << 16) - 1));
        assert_eq!(update_number(1, 65_536), None);
        assert_eq!(update_number(1 << 48, 0), None);
    }
}
