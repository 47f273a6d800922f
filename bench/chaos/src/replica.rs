//! The servant of members that run requests from a log: its answers to changes name no member, and are the same at all of them.

use crate::idl::chaos::Answer;
use crate::subject::{Holder, Values};
use parking_lot::Mutex;
use punctual::SystemException;
use punctual_groups_client::Guard;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Servant of the log's requests.
pub(crate) struct Replica {
    /// Set by a signal: the process ends when it has made its next change, before the client is answered.
    dies: Arc<AtomicBool>,
    values: Mutex<Values>,
    /// Name and guard of a member where requests that read are not in the log: their answers name it and its term.
    reader: OnceLock<(String, Guard)>,
}

impl Replica {
    pub(crate) fn new(dies: Arc<AtomicBool>) -> Arc<Self> {
        Arc::new(Self {
            dies,
            values: Mutex::default(),
            reader: OnceLock::new(),
        })
    }

    /// Names the member in answers to requests that read.
    pub(crate) fn name_reader(&self, name: String, guard: &Guard) {
        self.reader.get_or_init(|| (name, guard.clone()));
    }
}

impl Holder for Replica {
    fn change(&self, edit: impl FnOnce(&mut Values) -> i64) -> Result<Answer, SystemException> {
        let mut values = self.values.lock();
        let value = values.change(edit);
        if self.dies.load(Ordering::Relaxed) {
            std::process::abort();
        }
        Ok(Answer {
            value,
            member: String::new(),
            term: 0,
            version: values.version,
        })
    }

    fn look(&self, value: impl FnOnce(&Values) -> i64) -> Answer {
        let values = *self.values.lock();
        let reader = self.reader.get();
        Answer {
            value: value(&values),
            member: reader.map_or_else(String::new, |(name, _)| name.clone()),
            term: reader.map_or(0, |(_, guard)| guard.term().unwrap_or_default()),
            version: values.version,
        }
    }

    fn state(&self) -> Vec<u8> {
        self.values.lock().to_bytes().into()
    }

    fn replace(&self, bytes: &[u8]) -> Option<()> {
        *self.values.lock() = Values::read(bytes)?.0;
        Some(())
    }
}
