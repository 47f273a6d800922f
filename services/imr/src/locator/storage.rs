//! Servers and activators in a file.
//!
//! | table | key | value |
//! |---|---|---|
//! | `servers` | name | how it is started, and the process that has registered |
//! | `activators` | name | reference and token |
//! | `links` | name | the server that it is started with |

use std::path::Path;

use punctual::{CompletionStatus, SystemException, SystemExceptionKind};
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{
    Batch, Cdr, Change, ChangeStore, Records, StoreError, StoreFile, StoreKind,
};

use crate::kept;

const SERVERS: Records<&'static str, Cdr<kept::Server>> = Records::named("servers");
const ACTIVATORS: Records<&'static str, Cdr<kept::Activator>> = Records::named("activators");
const LINKS: Records<&'static str, Cdr<kept::Link>> = Records::named("links");

/// Name and format of the store.
const KIND: StoreKind = StoreKind::new("imr", 1);

/// Store of a repository.
pub(crate) type Storage = ChangeStore<Kept>;

/// Change of a record; without a value the record is removed.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    Server(String, Option<kept::Server>),
    Activator(String, Option<kept::Activator>),
    Link(String, Option<kept::Link>),
    /// In etcd only: the last failure of a server is not there any more.
    Forgiven(String),
    /// In etcd only, as a file has it in the server's record: the process that has registered, and ends the start.
    Process(String, kept::Process),
}

/// Contents of a store, by name.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) servers: Vec<(String, kept::Server)>,
    pub(crate) activators: Vec<(String, kept::Activator)>,
    pub(crate) links: Vec<(String, String)>,
}

impl Change for Kept {
    fn write<'c>(
        mut changes: impl Iterator<Item = &'c Self>,
        batch: &Batch<'_>,
    ) -> Result<(), StoreError> {
        changes.try_for_each(|change| match change {
            Self::Server(name, Some(server)) => {
                let mut servers = batch.records(SERVERS)?;
                servers.put(name.as_str(), &Cdr(server.clone()))
            }
            Self::Server(name, None) => batch.records(SERVERS)?.remove(name.as_str()),
            Self::Activator(name, Some(activator)) => {
                let mut activators = batch.records(ACTIVATORS)?;
                activators.put(name.as_str(), &Cdr(activator.clone()))
            }
            Self::Activator(name, None) => batch.records(ACTIVATORS)?.remove(name.as_str()),
            Self::Link(name, Some(leader)) => {
                let mut links = batch.records(LINKS)?;
                links.put(name.as_str(), &Cdr(leader.clone()))
            }
            Self::Link(name, None) => batch.records(LINKS)?.remove(name.as_str()),
            Self::Forgiven(_) | Self::Process(..) => Ok(()),
        })
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

fn on(file: StoreFile) -> Result<(Storage, Contents), StoreError> {
    let mut contents = Contents::default();
    file.read(|transaction| {
        SERVERS.read(transaction, |name, Cdr(server)| {
            contents.servers.push((name.to_owned(), server));
            Ok(())
        })?;
        ACTIVATORS.read(transaction, |name, Cdr(activator)| {
            contents.activators.push((name.to_owned(), activator));
            Ok(())
        })?;
        LINKS.read(transaction, |name, Cdr(link)| {
            contents.links.push((name.to_owned(), link.leader));
            Ok(())
        })
    })?;
    Ok((Storage::new(file), contents))
}

/// Returns the exception for a change that was not stored, or of which that is not known.
pub(super) fn not_stored(error: &StoreError) -> SystemException {
    let completed = match error {
        StoreError::Unknown(_) => CompletionStatus::Maybe,
        _ => CompletionStatus::No,
    };
    let exception =
        SystemExceptionKind::PersistStore.because(format!("the change cannot be stored: {error}"));
    exception.completed_as(completed)
}
