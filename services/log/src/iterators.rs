//! Iterators of clients: there are only so many, and unused ones end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use punctual::Servant;
use punctual_events::Objects;

use crate::ds_log_admin::Iterator;
use crate::limits::Limits;
use crate::refusal::Refusal;

/// Iterators, by the numbers of their objects.
pub(crate) struct Iterators {
    objects: Arc<Objects>,
    most: usize,
    idle: Duration,
    used: Mutex<HashMap<u64, Instant>>,
}

impl Iterators {
    pub(crate) fn new(objects: Arc<Objects>, limits: &Limits) -> Self {
        Self {
            objects,
            most: limits.iterators,
            idle: limits.iterator_idle,
            used: Mutex::default(),
        }
    }

    /// Makes an iterator, whose servant `serve` makes by its number. If there are as many as may be, the one that was unused
    /// longest ends.
    ///
    /// # Errors
    /// The reference cannot be made; there may be none.
    pub(crate) fn make(
        &self,
        serve: impl FnOnce(u64) -> Arc<dyn Servant>,
    ) -> Result<Iterator, Refusal> {
        if self.most == 0 {
            return Err(Refusal::NoResources(
                "there may be no iterators: raise `most-iterators`, or narrow the query".to_owned(),
            ));
        }
        let number = self.objects.number();
        let id = self.objects.id_of(number);
        let reference = self.objects.add(&id, serve(number))?;
        let oldest = {
            let mut used = self.used.lock();
            let oldest = match used.len() < self.most {
                true => None,
                false => used.iter().min_by_key(|(_, used)| **used),
            };
            let oldest = oldest.map(|(number, _)| *number);
            if let Some(oldest) = oldest {
                used.remove(&oldest);
            }
            used.insert(number, Instant::now());
            oldest
        };
        if let Some(oldest) = oldest {
            self.objects.remove(&self.objects.id_of(oldest));
        }
        Ok(reference)
    }

    /// Notes that an iterator is used.
    ///
    /// # Errors
    /// It has ended.
    pub(crate) fn touch(&self, number: u64) -> Result<(), Refusal> {
        match self.used.lock().get_mut(&number) {
            Some(used) => {
                *used = Instant::now();
                Ok(())
            }
            None => Err(Refusal::Destroyed("iterator")),
        }
    }

    /// Ends an iterator.
    ///
    /// # Errors
    /// It has ended.
    pub(crate) fn end(&self, number: u64) -> Result<(), Refusal> {
        let removed = self.used.lock().remove(&number);
        self.objects.remove(&self.objects.id_of(number));
        removed.map(drop).ok_or(Refusal::Destroyed("iterator"))
    }

    /// Ends the iterators that were unused too long.
    pub(crate) fn expire(&self) {
        let unused: Vec<_> = {
            let used = self.used.lock();
            let unused = used.iter().filter(|(_, used)| used.elapsed() >= self.idle);
            unused.map(|(number, _)| *number).collect()
        };
        for number in unused {
            // It may have ended meanwhile.
            let _ = self.end(number);
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.used.lock().len()
    }
}
