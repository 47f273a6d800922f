//! Typed records: a table of the database whose values are one type's encoding.

use std::fmt;
use std::marker::PhantomData;

use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use redb::{Key, ReadTransaction, ReadableTable, TableDefinition, TableError, TableHandle};

use super::StoreError;

/// Type of values that a store keeps.
pub trait Record: Sized {
    /// Appends the value's bytes.
    ///
    /// # Errors
    /// The value cannot be encoded.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), StoreError>;

    /// Returns the value of bytes that [`encode`](Self::encode) has made; `None` for others.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

/// A table of records by keys of type `K`.
pub struct Records<K: Key + 'static, R> {
    pub(super) table: TableDefinition<'static, K, &'static [u8]>,
    record: PhantomData<fn() -> R>,
}

impl<K: Key + 'static, R> fmt::Debug for Records<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Records({})", self.table.name())
    }
}

impl<K: Key + 'static, R> Clone for Records<K, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Key + 'static, R> Copy for Records<K, R> {}

impl<K: Key + 'static, R: Record> Records<K, R> {
    /// Creates the description of a table with this name.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Self {
            table: TableDefinition::new(name),
            record: PhantomData,
        }
    }

    /// Reads all records in the order of their keys; none where the table does not exist.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] for a record that cannot be decoded; [`StoreError::Io`]; those of `each`.
    pub fn read(
        &self,
        transaction: &ReadTransaction,
        mut each: impl FnMut(K::SelfType<'_>, R) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let table = match transaction.open_table(self.table) {
            Ok(table) => table,
            Err(TableError::TableDoesNotExist(_)) => return Ok(()),
            Err(error) => return Err(StoreError::io(error)),
        };
        for entry in table.iter().map_err(StoreError::io)? {
            let (key, bytes) = entry.map_err(StoreError::io)?;
            let record = R::decode(bytes.value());
            let record = record.ok_or_else(|| StoreError::damaged("undecodable record"))?;
            each(key.value(), record)?;
        }
        Ok(())
    }
}

impl<K: Key + 'static, R: Record> Records<K, R> {
    /// Reads the records without their keys, in the order of these.
    ///
    /// # Errors
    /// As of [`read`](Self::read).
    pub fn values(&self, transaction: &ReadTransaction) -> Result<Vec<R>, StoreError> {
        let mut values = Vec::new();
        self.read(transaction, |_, record| {
            values.push(record);
            Ok(())
        })?;
        Ok(values)
    }
}

/// A value that is kept as its CDR, big-endian on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cdr<T>(pub T);

impl<T: Marshal + Unmarshal> Record for Cdr<T> {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        out.extend_from_slice(&to_cdr(&self.0)?);
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Decoder::new(bytes, ByteOrder::Big, Coding::default());
        T::unmarshal(&mut input).ok().map(Cdr)
    }
}

/// Returns a value's CDR, big-endian, as [`Cdr`] keeps it.
///
/// # Errors
/// The value has no CDR, e.g. since it nests too deep.
pub fn to_cdr(value: &impl Marshal) -> Result<Vec<u8>, StoreError> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    value.marshal(&mut out).map_err(StoreError::io)?;
    Ok(out.into_block().to_vec())
}
