//! Operations on records.

use punctual::{Any, SystemException};

use super::iterator::ServedIterator;
use super::log::ServedLog;
use crate::common::SLICE;
use crate::ds_log_admin::{
    InvalidRecordId, Iterator, LogRecord, LogSetRecordAttributeError, LogSetRecordsAttributeError,
    NvPair, RecordId, RecordList, TimeT,
};
use crate::kept::Content;
use crate::query::{Scan, Selection, first_page};
use crate::refusal::{BadQuery, NotWritten, Refusal};

impl<K> ServedLog<K> {
    pub(super) fn write(&self, records: &[Any]) -> Result<(), NotWritten> {
        let contents = records.iter().map(|info| Content {
            attr_list: Vec::new(),
            info: info.clone(),
        });
        self.log.common.check_access()?;
        self.log.write(contents.collect())
    }

    /// Writes records with attributes; the ids and times in them are not used.
    pub(super) fn write_with_attributes(&self, list: &[LogRecord]) -> Result<(), NotWritten> {
        let contents = list.iter().map(|record| Content {
            attr_list: record.attr_list.clone(),
            info: record.info.clone(),
        });
        self.log.common.check_access()?;
        self.log.write(contents.collect())
    }

    pub(super) fn matching(
        &self,
        grammar: &str,
        constraint: &str,
    ) -> Result<(RecordList, Option<Iterator>), BadQuery> {
        let selection = Selection::matching(grammar, constraint)?;
        Ok(self.begin(selection, u64::MAX)?)
    }

    /// Returns records of a time or later, or with a negative number those before it, the newest first.
    pub(super) fn of_time(
        &self,
        time: TimeT,
        how_many: i32,
    ) -> Result<(RecordList, Option<Iterator>), Refusal> {
        let selection = match how_many {
            0.. => Selection::From(time),
            _ => Selection::Before(time),
        };
        self.begin(selection, how_many.unsigned_abs().into())
    }

    fn begin(
        &self,
        selection: Selection,
        most: u64,
    ) -> Result<(RecordList, Option<Iterator>), Refusal> {
        let (records, rest) = first_page(&self.log, selection, most)?;
        let iterator = rest.map(ServedIterator::add).transpose()?;
        Ok((records, iterator))
    }

    pub(super) fn count(&self, grammar: &str, constraint: &str) -> Result<u32, BadQuery> {
        let mut count: u32 = 0;
        self.each_matching(grammar, constraint, |slice| {
            count = count.saturating_add(u32::try_from(slice.len()).unwrap_or(u32::MAX));
            Ok(())
        })?;
        Ok(count)
    }

    pub(super) fn delete_matching(&self, grammar: &str, constraint: &str) -> Result<u32, BadQuery> {
        self.log.common.check_access()?;
        let mut deleted: u32 = 0;
        self.each_matching(grammar, constraint, |slice| {
            deleted = deleted.saturating_add(self.log.delete(slice)?);
            Ok(())
        })?;
        Ok(deleted)
    }

    pub(super) fn set_attributes(
        &self,
        id: RecordId,
        attributes: &[NvPair],
    ) -> Result<(), LogSetRecordAttributeError> {
        self.log.check_attributes(attributes)?;
        let set = self.log.set_attributes(&[id], attributes);
        match set.map_err(SystemException::from)? {
            0 => Err(InvalidRecordId.into()),
            _ => Ok(()),
        }
    }

    pub(super) fn set_attributes_of_matching(
        &self,
        grammar: &str,
        constraint: &str,
        attributes: &[NvPair],
    ) -> Result<u32, LogSetRecordsAttributeError> {
        self.log.check_attributes(attributes)?;
        let mut count: u32 = 0;
        self.each_matching(grammar, constraint, |slice| {
            let set = self.log.set_attributes(slice, attributes)?;
            count = count.saturating_add(u32::try_from(set).unwrap_or(u32::MAX));
            Ok(())
        })?;
        Ok(count)
    }

    /// Calls a function with the ids of the records that meet a constraint, some at a time.
    fn each_matching(
        &self,
        grammar: &str,
        constraint: &str,
        mut each: impl FnMut(&[RecordId]) -> Result<(), Refusal>,
    ) -> Result<(), BadQuery> {
        let selection = Selection::matching(grammar, constraint)?;
        let mut scan = Scan::up_to_now(&self.log, &selection);
        let mut ids = Vec::with_capacity(SLICE);
        while let Some(found) = scan.next()? {
            ids.push(found.record.id);
            if ids.len() == SLICE {
                each(&std::mem::take(&mut ids))?;
            }
        }
        Ok(each(&ids)?)
    }
}
