//! The changes of one commit, and the records' values before them.
//! A commit that fails may still be on the disk, if the disk failed only after the last page was
//! written. The records that it changed are then *in doubt*. Their former values are kept as
//! images, and the next commit begins by writing these: refused changes never become visible,
//! whatever the disk has stored.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use punctual::stub::Marshal;
use redb::{
    AccessGuard, Key, ReadableTable, TableDefinition, TableHandle, Value, WriteTransaction,
};

use super::{Record, Records, SharedRecord, StoreError, to_cdr};

type Result<T> = std::result::Result<T, StoreError>;

/// Former value of a record that a commit changes.
struct Image {
    table: Arc<str>,
    key: Vec<u8>,
    /// Value of the record before the commit; `None` if there was no record.
    before: Option<Vec<u8>>,
    /// Function that writes the value back into its table, whose types it knows.
    restore: fn(&WriteTransaction, &Image) -> Result<()>,
}

/// Former values of records that a commit changes, in the order of its changes.
#[derive(Default)]
pub(super) struct Images(Vec<Image>);

/// Former values of the records that are in doubt, one per record.
#[derive(Default)]
pub(super) struct InDoubt {
    images: Images,
    records: HashSet<(Arc<str>, Vec<u8>)>,
}

impl fmt::Debug for Images {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "images of {} changes", self.0.len())
    }
}

impl fmt::Debug for InDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records in doubt", self.records.len())
    }
}

impl InDoubt {
    /// Writes the former values of the records in doubt.
    pub(super) fn restore(&self, transaction: &WriteTransaction) -> Result<()> {
        let mut images = self.images.0.iter();
        images.try_for_each(|image| (image.restore)(transaction, image))
    }

    /// Returns the former values of the records in doubt, for the shared records, which may have those of the failed
    /// commits.
    pub(super) fn shared(&self) -> impl Iterator<Item = SharedRecord> + '_ {
        self.images.0.iter().filter_map(|image| {
            Some(SharedRecord {
                table: image.table.clone(),
                number: number(&image.key)?,
                value: image.before.clone(),
            })
        })
    }

    /// Adds the records of a commit that has failed. The value of a record is that before the first
    /// failed commit.
    pub(super) fn add(&mut self, failed: Images) {
        for image in failed.0 {
            let record = (image.table.clone(), image.key.clone());
            if self.records.insert(record) {
                self.images.0.push(image);
            }
        }
    }
}

impl Image {
    fn restore<K: Key + 'static, V: Value + 'static>(
        transaction: &WriteTransaction,
        image: &Image,
    ) -> Result<()> {
        let table = transaction.open_table(TableDefinition::<K, V>::new(&image.table));
        let mut table = table.map_err(StoreError::io)?;
        let key = K::from_bytes(&image.key);
        let done = match &image.before {
            Some(before) => table.insert(key, V::from_bytes(before)).map(drop),
            None => table.remove(key).map(drop),
        };
        done.map_err(StoreError::io)
    }
}

/// Changes to the records of a store that belong to one commit.
pub struct Batch<'t> {
    transaction: &'t WriteTransaction,
    images: RefCell<Images>,
    /// Changes that are written to the shared records, too; `None` where there are none.
    shared: Option<RefCell<Vec<SharedRecord>>>,
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({:?})", self.images)
    }
}

/// Table that is open for the changes of one commit.
pub struct Table<'b, K: Key + 'static, V: Value + 'static> {
    name: Arc<str>,
    table: redb::Table<'b, K, V>,
    images: &'b RefCell<Images>,
    shared: Option<&'b RefCell<Vec<SharedRecord>>>,
}

impl<K: Key + 'static, V: Value + 'static> fmt::Debug for Table<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({})", self.name)
    }
}

impl<'t> Batch<'t> {
    pub(super) fn new(transaction: &'t WriteTransaction, is_shared: bool) -> Self {
        Self {
            transaction,
            images: RefCell::default(),
            shared: is_shared.then(RefCell::default),
        }
    }

    /// Returns the former values, and the changes for the shared records.
    pub(super) fn into_parts(self) -> (Images, Vec<SharedRecord>) {
        let shared = self.shared.map(RefCell::into_inner);
        (self.images.into_inner(), shared.unwrap_or_default())
    }

    /// Opens a table, which is created if necessary. It cannot be opened twice at the same time.
    ///
    /// # Errors
    /// [`StoreError::Io`]: the table is open already, has other types, or cannot be read.
    pub fn table<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<Table<'_, K, V>> {
        if self.shared.is_some() && !is_shareable::<K, V>() {
            let name = definition.name();
            return Err(StoreError::io(format!(
                "the table {name} cannot be shared: its keys are no numbers"
            )));
        }
        let table = self.transaction.open_table(definition);
        Ok(Table {
            name: definition.name().into(),
            table: table.map_err(StoreError::io)?,
            images: &self.images,
            shared: self.shared.as_ref(),
        })
    }

    /// Opens a table of records for many changes.
    ///
    /// # Errors
    /// As of [`table`](Self::table).
    pub fn records<K: Key + 'static, R: Record>(
        &self,
        records: Records<K, R>,
    ) -> Result<Table<'_, K, &'static [u8]>> {
        self.table(records.table)
    }

    /// Writes a record, replacing the one with that key.
    ///
    /// # Errors
    /// The record cannot be encoded, and as of [`table`](Self::table).
    pub fn put<'k, K: Key + 'static, R: Record>(
        &self,
        records: Records<K, R>,
        key: impl Borrow<K::SelfType<'k>>,
        record: &R,
    ) -> Result<()> {
        self.records(records)?.put(key, record)
    }

    /// Removes a record, if it exists.
    ///
    /// # Errors
    ///
    /// As of [`table`](Self::table).
    pub fn remove<'k, K: Key + 'static, R>(
        &self,
        records: Records<K, R>,
        key: impl Borrow<K::SelfType<'k>>,
    ) -> Result<()> {
        self.table(records.table)?.remove(key)
    }
}

impl<K: Key + 'static> Table<'_, K, &'static [u8]> {
    /// Writes a record, replacing the one with that key.
    ///
    /// # Errors
    /// The record cannot be encoded; [`StoreError::Io`].
    pub fn put<'k>(
        &mut self,
        key: impl Borrow<K::SelfType<'k>>,
        record: &impl Record,
    ) -> Result<()> {
        let mut bytes = Vec::new();
        record.encode(&mut bytes)?;
        self.insert(key, bytes.as_slice())
    }

    /// Writes the record of a value that is kept as [`Cdr`](super::Cdr), or removes it for `None`.
    ///
    /// # Errors
    /// As of [`put`](Self::put).
    pub fn set<'k>(
        &mut self,
        key: impl Borrow<K::SelfType<'k>>,
        value: Option<&impl Marshal>,
    ) -> Result<()> {
        match value {
            Some(value) => self.insert(key, to_cdr(value)?.as_slice()),
            None => self.remove(key),
        }
    }
}

impl<K: Key + 'static, V: Value + 'static> Table<'_, K, V> {
    /// Writes a value, replacing the one with that key.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn insert<'k, 'v>(
        &mut self,
        key: impl Borrow<K::SelfType<'k>>,
        value: impl Borrow<V::SelfType<'v>>,
    ) -> Result<()> {
        let value = value.borrow();
        let before = self.table.insert(key.borrow(), value);
        let before = bytes(before.map_err(StoreError::io)?);
        self.share(key.borrow(), || Some(V::as_bytes(value).as_ref().to_vec()));
        self.note(key.borrow(), before);
        Ok(())
    }

    /// Returns whether there is a value of a key, as the changes before have left it.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn contains<'k>(&self, key: impl Borrow<K::SelfType<'k>>) -> Result<bool> {
        let found = self.table.get(key).map_err(StoreError::io)?;
        Ok(found.is_some())
    }

    /// Removes the value of a key, if there is one.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remove<'k>(&mut self, key: impl Borrow<K::SelfType<'k>>) -> Result<()> {
        let before = self.table.remove(key.borrow());
        let before = bytes(before.map_err(StoreError::io)?);
        self.share(key.borrow(), || None);
        self.note(key.borrow(), before);
        Ok(())
    }

    /// Removes the values from a key on, up to the first key for which `is_included` returns false.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remove_while<'k>(
        &mut self,
        from: impl Borrow<K::SelfType<'k>> + 'k,
        is_included: impl Fn(&K::SelfType<'_>) -> bool,
    ) -> Result<()> {
        let mut keys = Vec::new();
        for entry in self.table.range(from..).map_err(StoreError::io)? {
            let (key, _) = entry.map_err(StoreError::io)?;
            let key = key.value();
            if !is_included(&key) {
                break;
            }
            keys.push(K::as_bytes(&key).as_ref().to_vec());
        }
        keys.iter()
            .try_for_each(|key| self.remove(K::from_bytes(key)))
    }

    /// Adds a change for the shared records, if there are any.
    fn share(&self, key: &K::SelfType<'_>, value: impl FnOnce() -> Option<Vec<u8>>) {
        if let Some(shared) = self.shared
            && let Some(number) = number(K::as_bytes(key).as_ref())
        {
            shared.borrow_mut().push(SharedRecord {
                table: self.name.clone(),
                number,
                value: value(),
            });
        }
    }

    fn note(&self, key: &K::SelfType<'_>, before: Option<Vec<u8>>) {
        self.images.borrow_mut().0.push(Image {
            table: self.name.clone(),
            key: K::as_bytes(key).as_ref().to_vec(),
            before,
            restore: Image::restore::<K, V>,
        });
    }
}

/// Returns whether a table has numbers as its keys, and bytes as its values.
fn is_shareable<K: Key, V: Value>() -> bool {
    K::type_name() == u64::type_name() && V::type_name() == <&[u8]>::type_name()
}

/// Returns the number that is the key of a table which can be shared.
fn number(key: &[u8]) -> Option<u64> {
    (key.len() == 8).then(|| u64::from_bytes(key))
}

/// Copies the bytes of a value that a table returned when it was replaced or removed.
fn bytes<V: Value + 'static>(value: Option<AccessGuard<'_, V>>) -> Option<Vec<u8>> {
    value.map(|value| V::as_bytes(&value.value()).as_ref().to_vec())
}
