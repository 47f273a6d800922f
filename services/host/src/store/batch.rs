//! The changes of one commit, and the values of the records before it.
//!
//! A commit that fails may be on the disk all the same, if the disk failed behind the last page. The records that it
//! has changed are *in doubt* then. Their values before it are kept as images, and the next commit begins with them:
//! what a service has refused is not there, whatever the disk did.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use redb::{
    AccessGuard, Key, ReadableTable, TableDefinition, TableHandle, Value, WriteTransaction,
};

use super::{Record, Records, StoreError};

type Result<T> = std::result::Result<T, StoreError>;

/// Writes the value that a record had, or removes the record if there was none.
type Restore = Box<dyn Fn(&WriteTransaction) -> Result<()> + Send + Sync>;

/// Table and encoded key of a record.
type Place = (Arc<str>, Vec<u8>);

/// Values of records before a commit, at most one of each record.
#[derive(Default)]
pub(super) struct Images {
    places: HashSet<Place>,
    all: Vec<Restore>,
}

impl fmt::Debug for Images {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "images of {} records", self.all.len())
    }
}

impl Images {
    /// Writes all images.
    pub(super) fn restore(&self, transaction: &WriteTransaction) -> Result<()> {
        self.all.iter().try_for_each(|image| image(transaction))
    }

    fn note<K: Key + 'static, V: Value + 'static>(
        &mut self,
        name: &Arc<str>,
        key: Vec<u8>,
        before: Option<Vec<u8>>,
    ) {
        if !self.places.insert((name.clone(), key.clone())) {
            return;
        }
        let name = name.clone();
        self.all.push(Box::new(move |transaction| {
            let table = transaction.open_table(TableDefinition::<K, V>::new(&name));
            let mut table = table.map_err(StoreError::io)?;
            let key = K::from_bytes(&key);
            let done = match &before {
                Some(before) => table.insert(key, V::from_bytes(before)).map(drop),
                None => table.remove(key).map(drop),
            };
            done.map_err(StoreError::io)
        }));
    }

    /// Adds the images of a later commit. Of a record that both have, the earlier image holds: it is written last.
    pub(super) fn extend(&mut self, later: Images) {
        let earlier = std::mem::replace(&mut self.all, later.all);
        self.all.extend(earlier);
        self.places.extend(later.places);
    }
}

/// The changes of one commit.
pub struct Batch<'t> {
    transaction: &'t WriteTransaction,
    images: RefCell<Images>,
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({:?})", self.images)
    }
}

/// A table that is open for the changes of one commit.
pub struct Table<'b, K: Key + 'static, V: Value + 'static> {
    name: Arc<str>,
    table: redb::Table<'b, K, V>,
    images: &'b RefCell<Images>,
}

impl<K: Key + 'static, V: Value + 'static> fmt::Debug for Table<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({})", self.name)
    }
}

impl<'t> Batch<'t> {
    pub(super) fn new(transaction: &'t WriteTransaction) -> Self {
        Self {
            transaction,
            images: RefCell::default(),
        }
    }

    pub(super) fn into_images(self) -> Images {
        self.images.into_inner()
    }

    /// Opens a table, which is created if need be. A table is opened once at a time.
    ///
    /// # Errors
    /// [`StoreError::Io`]: the table is open already, has other types, or cannot be read.
    pub fn table<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<Table<'_, K, V>> {
        let table = self.transaction.open_table(definition);
        Ok(Table {
            name: definition.name().into(),
            table: table.map_err(StoreError::io)?,
            images: &self.images,
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

    /// Writes a record, in place of the one of that key.
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

    /// Removes a record, if it is there.
    ///
    /// # Errors
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
    /// Writes a record, in place of the one of that key.
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
}

impl<K: Key + 'static, V: Value + 'static> Table<'_, K, V> {
    /// Writes a value, in place of the one of that key.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn insert<'k, 'v>(
        &mut self,
        key: impl Borrow<K::SelfType<'k>>,
        value: impl Borrow<V::SelfType<'v>>,
    ) -> Result<()> {
        let before = self.table.insert(key.borrow(), value);
        let before = bytes(before.map_err(StoreError::io)?);
        self.note(key.borrow(), before);
        Ok(())
    }

    /// Removes the value of a key, if there is one.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remove<'k>(&mut self, key: impl Borrow<K::SelfType<'k>>) -> Result<()> {
        let before = self.table.remove(key.borrow());
        let before = bytes(before.map_err(StoreError::io)?);
        self.note(key.borrow(), before);
        Ok(())
    }

    /// Removes all values from a key on, as long as `is_included` holds for the keys.
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

    fn note(&self, key: &K::SelfType<'_>, before: Option<Vec<u8>>) {
        let key = K::as_bytes(key).as_ref().to_vec();
        let mut images = self.images.borrow_mut();
        images.note::<K, V>(&self.name, key, before);
    }
}

/// Copies a value that a table has given up.
fn bytes<V: Value + 'static>(value: Option<AccessGuard<'_, V>>) -> Option<Vec<u8>> {
    value.map(|value| V::as_bytes(&value.value()).as_ref().to_vec())
}
