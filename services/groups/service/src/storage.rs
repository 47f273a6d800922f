//! Groups in a file.
//!
//! | table | number | value |
//! |---|---|---|
//! | `groups` | id of the group | type, properties, members, primary, version |
//! | `states` | id of the group | state for the next primary |
//! | `types` | any | properties of a type, or of all types |
//! | `service` | 0 | domain of the groups' ids |
//! | | 1 | id of the next group |

use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{
    Batch, Cdr, Change, ChangeStore, Records, SharedFrom, SharedRecords, StoreError, StoreFile,
    StoreKind,
};

use crate::kept;

const GROUPS: Records<u64, Cdr<kept::Group>> = Records::named("groups");
const STATES: Records<u64, Cdr<Vec<u8>>> = Records::named("states");
const TYPES: Records<u64, Cdr<kept::OfType>> = Records::named("types");
const SERVICE: Records<u64, Cdr<String>> = Records::named("service");

/// Numbers of the records of the service.
const DOMAIN: u64 = 0;
const NEXT: u64 = 1;

/// Name and format of the store.
const KIND: StoreKind = StoreKind::new("group", 1);

/// Store of a group service.
pub(crate) type Storage = ChangeStore<Kept>;

/// Change of a record; without a value the record is removed.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    Group(u64, Option<kept::Group>),
    State(u64, Option<Vec<u8>>),
    Type(u64, Option<kept::OfType>),
    Next(u64),
    Domain(String),
}

/// Contents of a store.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) groups: Vec<(u64, kept::Group)>,
    pub(crate) states: Vec<(u64, Vec<u8>)>,
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
    file.read(|transaction| {
        contents.groups = GROUPS.entries(transaction)?;
        contents.states = STATES.entries(transaction)?;
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
    if contents.domain.is_empty() {
        let fresh = fresh();
        storage.change(vec![Kept::Domain(fresh.domain.clone())])?;
        contents.domain = fresh.domain;
    }
    let last = contents.groups.iter().map(|(id, _)| *id).max();
    contents.next = contents.next.max(last.unwrap_or(0) + 1);
    Ok((storage, contents))
}
