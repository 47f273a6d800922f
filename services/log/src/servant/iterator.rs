//! Iterators over the results of queries.

use parking_lot::Mutex;
use punctual::{Implements, SystemException};

use crate::ds_log_admin::{InvalidParam, Iterator, IteratorGetError, IteratorServant, RecordList};
use crate::query::Page;
use crate::refusal::Refusal;

/// Iterator: the place in a result that its client has come to.
#[derive(Debug)]
pub(crate) struct ServedIterator {
    page: Mutex<Page>,
    number: u64,
}

impl ServedIterator {
    /// Makes an iterator at a place.
    ///
    /// # Errors
    /// As of [`Iterators::make`](crate::iterators::Iterators::make).
    pub(crate) fn add(page: Page) -> Result<Iterator, Refusal> {
        let log = page.log().clone();
        log.common.iterators.make(|number| {
            let page = Mutex::new(page);
            <Iterator as Implements<_>>::servant(Self { page, number })
        })
    }

    fn read(&self, position: u32, how_many: u32) -> Result<RecordList, Refusal> {
        let mut page = self.page.lock();
        page.log().common.iterators.touch(self.number)?;
        page.get(position.into(), how_many.into())
    }
}

impl IteratorServant for ServedIterator {
    fn get(&self, position: u32, how_many: u32) -> Result<RecordList, IteratorGetError> {
        if how_many == 0 {
            let details = "how_many is 0: ask for one record or more".to_owned();
            return Err(InvalidParam { details }.into());
        }
        let read = self.read(position, how_many);
        Ok(read.map_err(SystemException::from)?)
    }

    fn destroy(&self) -> Result<(), SystemException> {
        let page = self.page.lock();
        Ok(page.log().common.iterators.end(self.number)?)
    }
}
