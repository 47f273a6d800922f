//! Typed records: a table of the database whose values are one type's encoding.

use std::fmt;
use std::marker::PhantomData;

use punctual::stub::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal,
};
use redb::{Key, ReadTransaction, ReadableTable, TableDefinition, TableError, TableHandle};

use super::StoreError;

/// Type of values that can be stored as records.
pub trait Record: Sized {
    /// Appends the value's bytes.
    ///
    /// # Errors
    /// The value cannot be encoded.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), StoreError>;

    /// Returns the value of bytes that [`encode`](Self::encode) has made; `None` for others.
    fn decode(bytes: &[u8]) -> Option<Self>;

    /// Returns the value's bytes, of which is known that they can be read again: what nests in an Any may nest deeper than is
    /// read.
    ///
    /// # Errors
    /// As of [`encode`](Self::encode); [`StoreError::NotStorable`] of bytes that cannot be read.
    fn to_readable(&self) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        self.encode(&mut bytes)?;
        match Self::decode(&bytes) {
            Some(_) => Ok(bytes),
            None => Err(StoreError::NotStorable(
                "it nests deeper than a store reads".to_owned(),
            )),
        }
    }
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

    /// Returns the description of the table as one of bytes.
    #[must_use]
    pub const fn table(&self) -> TableDefinition<'static, K, &'static [u8]> {
        self.table
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

impl<T> Records<u64, Cdr<T>>
where
    Cdr<T>: Record,
{
    /// Reads the values with their keys, in the order of these.
    ///
    /// # Errors
    /// As of [`read`](Self::read).
    pub fn entries(&self, transaction: &ReadTransaction) -> Result<Vec<(u64, T)>, StoreError> {
        let mut entries = Vec::new();
        self.read(transaction, |key, Cdr(value)| {
            entries.push((key, value));
            Ok(())
        })?;
        Ok(entries)
    }
}

/// A value that is kept as its CDR, big-endian on every machine. Its text is UTF-8; or ISO 8859-1,
/// with a mark behind it, if it has a `char` beyond ASCII, which is one byte in no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cdr<T>(pub T);

impl<T: Marshal + Unmarshal> Record for Cdr<T> {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        out.extend_from_slice(&to_cdr(&self.0)?);
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        // An Any is not read here, so that what is left, and not its text, tells the code set.
        let (value, is_latin) = match read(bytes, NarrowCodeSet::Utf8) {
            Some((value, rest)) => (Some(value), rest == LATIN),
            None => (None, bytes.ends_with(&LATIN)),
        };
        if !is_latin {
            return value.map(Cdr);
        }
        let (value, rest) = read(bytes, NarrowCodeSet::Iso8859_1)?;
        (rest == LATIN).then_some(Cdr(value))
    }
}

/// Mark behind a record whose text is ISO 8859-1: the code set's number in the OSF registry.
const LATIN: [u8; 4] = 0x0001_0001_u32.to_be_bytes();

/// Reads a value; also returns the bytes behind it.
fn read<T: Unmarshal>(bytes: &[u8], narrow: NarrowCodeSet) -> Option<(T, &[u8])> {
    let mut input = Decoder::new(bytes, ByteOrder::Big, coding(narrow));
    let value = T::unmarshal(&mut input).ok()?;
    Some((value, input.rest()))
}

fn write(value: &impl Marshal, narrow: NarrowCodeSet) -> Result<Vec<u8>, CdrError> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding(narrow));
    value.marshal(&mut out)?;
    Ok(out.into_block().to_vec())
}

fn coding(narrow: NarrowCodeSet) -> Coding<'static> {
    let mut coding = Coding::default();
    coding.code_sets.narrow = narrow;
    coding
}

/// Returns a value's CDR, big-endian, as [`Cdr`] keeps it.
///
/// # Errors
/// [`StoreError::NotStorable`]: the value has no CDR, e.g. since it nests too deep.
pub fn to_cdr(value: &impl Marshal) -> Result<Vec<u8>, StoreError> {
    let written = match write(value, NarrowCodeSet::Utf8) {
        Err(CdrError::CharacterNotInCodeSet) => {
            write(value, NarrowCodeSet::Iso8859_1).map(|bytes| [bytes.as_slice(), &LATIN].concat())
        }
        written => written,
    };
    written.map_err(|error| StoreError::NotStorable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use punctual::{Any, Char};

    use super::*;

    fn kept<T: Marshal + Unmarshal>(value: T) -> Option<T> {
        let mut bytes = Vec::new();
        Cdr(value).encode(&mut bytes).unwrap();
        Cdr::decode(&bytes).map(|Cdr(value)| value)
    }

    #[test]
    fn characters_beyond_ascii_are_kept_alone_and_in_an_any() {
        for character in [b'a', 0x80, 0xC3, 0xFF] {
            assert_eq!(kept(Char(character)), Some(Char(character)));
            let any = Any::new(&Char(character)).unwrap();
            let again = kept(any).unwrap();
            assert_eq!(again.extract::<Char>().unwrap(), Char(character));
        }
        let text = "caf\u{e9} \u{20ac}".to_owned();
        assert_eq!(kept(text.clone()), Some(text));
    }

    #[test]
    fn a_damaged_text_is_not_taken_for_one_of_iso_8859_1() {
        let mut bytes = to_cdr(&"caf\u{e9}".to_owned()).unwrap();
        let lead = bytes.iter().position(|byte| *byte == 0xC3).unwrap();
        bytes[lead + 1] = b'!';
        assert_eq!(Cdr::<String>::decode(&bytes), None);
    }
}
