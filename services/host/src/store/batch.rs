//! The changes of one commit, and the values of the records before it.
//!
//! A commit that fails may be on the disk all the same, if the disk failed behind the last page. The records that it
//! has changed are *in doubt* then. Their values before it are kept as images, and the next commit begins with them:
//! refused changes never become visible, whatever the disk did.

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

/// Value of a record before a commit.
struct Image {
    table: Arc<str>,
    key: Vec<u8>,
    /// `None` where there was no record.
    before: Option<Vec<u8>>,
    /// Writes the value into the table, whose types it knows.
    restore: fn(&WriteTransaction, &Image) -> Result<()>,
}

/// Values of records before a commit, in the order of its changes.
#[derive(Default)]
pub(super) struct Images(Vec<Image>);

/// Values of the records that are in doubt, one of each.
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
    /// Writes the values that the records had.
    pub(super) fn restore(&self, transaction: &WriteTransaction) -> Result<()> {
        let mut images = self.images.0.iter();
        images.try_for_each(|image| (image.restore)(transaction, image))
    }

    /// Adds the records of a commit that has failed. A record keeps the value that it had before the first one.
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
        self.images.borrow_mut().0.push(Image {
            table: self.name.clone(),
            key: K::as_bytes(key).as_ref().to_vec(),
            before,
            restore: Image::restore::<K, V>,
        });
    }
}

/// Copies a value that a table has given up.
fn bytes<V: Value + 'static>(value: Option<AccessGuard<'_, V>>) -> Option<Vec<u8>> {
    value.map(|value| V::as_bytes(&value.value()).as_ref().to_vec())
}
