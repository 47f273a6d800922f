//! Records, as they are stored and as constraints see them.
//!
//! A stored record is the time, 8 bytes big-endian, and the CDR of its content.

use std::cell::OnceCell;

use punctual::Any;
use punctual_constraint::{FieldValue, List};
use punctual_host::store::{Cdr, Record, StoreError};

use crate::ds_log_admin::{LogRecord, NvListAlias, NvPair, RecordId, TimeT};
use crate::kept::Content;

/// Record as it is stored, without its id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) time: TimeT,
    pub(crate) content: Content,
}

/// Time and size of a stored record, of which nothing else is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) time: TimeT,
    pub(crate) bytes: u64,
}

impl Record for Stored {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        out.extend_from_slice(&self.time.to_be_bytes());
        Cdr(self.content.clone()).encode(out)
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (time, content) = bytes.split_first_chunk::<8>()?;
        let Cdr(content) = Cdr::decode(content)?;
        Some(Self {
            time: TimeT::from_be_bytes(*time),
            content,
        })
    }
}

impl Record for Entry {
    fn encode(&self, _: &mut Vec<u8>) -> Result<(), StoreError> {
        Err(StoreError::io("a part of a record is not written"))
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (time, _) = bytes.split_first_chunk::<8>()?;
        Some(Self {
            time: TimeT::from_be_bytes(*time),
            bytes: bytes.len() as u64,
        })
    }
}

impl Stored {
    /// Returns the record as it is sent.
    pub(crate) fn into_record(self, id: RecordId) -> LogRecord {
        LogRecord {
            id,
            time: self.time,
            attr_list: self.content.attr_list,
            info: self.content.info,
        }
    }
}

/// Record as constraints see it: its properties are `id`, `time`, `info`, `attr_list`, and its attributes by their names.
pub(crate) struct Seen<'r> {
    record: &'r LogRecord,
    now: TimeT,
    id: OnceCell<Any>,
    time: OnceCell<Any>,
    attributes: OnceCell<Any>,
}

impl<'r> Seen<'r> {
    pub(crate) fn new(record: &'r LogRecord, now: TimeT) -> Self {
        Self {
            record,
            now,
            id: OnceCell::new(),
            time: OnceCell::new(),
            attributes: OnceCell::new(),
        }
    }

    fn attributes(&self) -> &Any {
        self.attributes.get_or_init(|| {
            let type_code = <NvListAlias as punctual::Typed>::type_code();
            Any::with_type(&type_code, &self.record.attr_list).unwrap_or_default()
        })
    }
}

/// Number of properties that every record has.
const OWN: usize = 4;

impl punctual_constraint::Event for Seen<'_> {
    fn property_count(&self, list: List) -> usize {
        match list {
            List::FilterableData => OWN + self.record.attr_list.len(),
            List::VariableHeader => 0,
        }
    }

    fn property_at(&self, list: List, index: usize) -> Option<(&str, FieldValue<'_>)> {
        if list != List::FilterableData {
            return None;
        }
        match index {
            0 => self.property(list, "id").map(|value| ("id", value)),
            1 => self.property(list, "time").map(|value| ("time", value)),
            2 => Some(("info", (&self.record.info).into())),
            3 => Some(("attr_list", self.attributes().into())),
            attribute => {
                let NvPair { name, value } = self.record.attr_list.get(attribute - OWN)?;
                Some((name, value.into()))
            }
        }
    }

    fn property(&self, list: List, name: &str) -> Option<FieldValue<'_>> {
        let integer = |value: u64| Any::new(&value).unwrap_or_default();
        let found = match (list, name) {
            (List::VariableHeader, _) => None,
            (_, "id") => Some(self.id.get_or_init(|| integer(self.record.id))),
            (_, "time") => Some(self.time.get_or_init(|| integer(self.record.time))),
            (_, "info") => Some(&self.record.info),
            (_, "attr_list") => Some(self.attributes()),
            (_, name) => {
                let mut attributes = self.record.attr_list.iter();
                let found = attributes.find(|attribute| attribute.name == name);
                found.map(|attribute| &attribute.value)
            }
        };
        found.map(FieldValue::Any)
    }

    fn current_time(&self) -> Option<u64> {
        Some(self.now)
    }
}
