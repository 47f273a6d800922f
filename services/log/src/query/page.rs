//! Parts of the result of a query.

use std::sync::Arc;

use super::scan::{Found, Scan, first};
use super::selection::Selection;
use crate::ds_log_admin::{LogRecord, RecordId};
use crate::log::Log;
use crate::refusal::Refusal;

/// Place in the result of a query. It remembers the next record alone, so that it needs no memory for the others.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    log: Arc<Log>,
    selection: Selection,
    /// Id of the newest record when the query was made, with which the result ends.
    last: RecordId,
    /// Number of records of the result.
    most: u64,
    /// Number of records before the place.
    position: u64,
    /// Id of the record at the place.
    next: RecordId,
}

/// Reads the first records of a result of at most `most`; returns them, and the place behind them if there are more.
///
/// # Errors
/// As of [`Scan::next`].
pub(crate) fn first_page(
    log: &Arc<Log>,
    selection: Selection,
    most: u64,
) -> Result<(Vec<LogRecord>, Option<Page>), Refusal> {
    let mut page = Page {
        log: log.clone(),
        next: first(&selection),
        selection,
        last: log.last(),
        most,
        position: 0,
    };
    let records = page.read(u64::MAX)?;
    let has_more = page.next != END;
    Ok((records, has_more.then_some(page)))
}

/// Stands for the id of a record behind the last one.
const END: RecordId = 0;

impl Page {
    /// Reads records from a position of the result on; none behind its end. A position that lies before those that were
    /// read last is reached from the beginning.
    ///
    /// # Errors
    /// As of [`Scan::next`].
    pub(crate) fn get(&mut self, position: u64, how_many: u64) -> Result<Vec<LogRecord>, Refusal> {
        if position < self.position {
            (self.position, self.next) = (0, first(&self.selection));
        }
        if position > self.position {
            self.skip(position)?;
        }
        match position == self.position {
            true => self.read(how_many),
            false => Ok(Vec::new()),
        }
    }

    pub(crate) fn log(&self) -> &Arc<Log> {
        &self.log
    }

    fn skip(&mut self, position: u64) -> Result<(), Refusal> {
        let Some(mut scan) = self.scan() else {
            return Ok(());
        };
        let mut at = self.position;
        loop {
            let found = scan.next()?.filter(|_| at < self.most);
            let id = found.map(|found| found.record.id);
            if at == position || id.is_none() {
                (self.position, self.next) = (at, id.unwrap_or(END));
                return Ok(());
            }
            at += 1;
        }
    }

    /// Reads up to so many records, and as many as fit into a reply.
    fn read(&mut self, how_many: u64) -> Result<Vec<LogRecord>, Refusal> {
        let Some(mut scan) = self.scan() else {
            return Ok(Vec::new());
        };
        let limits = self.log.common.limits;
        let most = how_many.min(limits.reply_records.max(1) as u64);
        let (mut records, mut octets) = (Vec::new(), 0);
        let next = loop {
            if self.position + records.len() as u64 >= self.most {
                break END;
            }
            let Some(Found { record, bytes }) = scan.next()? else {
                break END;
            };
            octets += bytes;
            let fits = records.is_empty() || octets <= limits.reply_bytes as u64;
            if !fits || records.len() as u64 >= most {
                break record.id;
            }
            records.push(record);
        };
        self.position += records.len() as u64;
        self.next = next;
        Ok(records)
    }

    /// Returns the scan from the place on; `None` at the end.
    fn scan(&self) -> Option<Scan<'_>> {
        let is_end = self.next == END && self.position > 0;
        let scan = || Scan::new(&self.log, &self.selection, self.next, self.last);
        (!is_end && self.most > 0).then(scan)
    }
}
