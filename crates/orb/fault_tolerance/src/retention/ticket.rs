//! Request in progress whose reply will be kept.

use super::table::Place;
use super::{Retention, answer, refuse};
use crate::time;
use punctual_orb::{
    CompletionStatus, KeptReply, ReplyKeeper, SystemException, SystemExceptionKind as Kind,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Receiver of the reply to one request. If dropped without one, the request may be made again.
pub(super) struct Ticket {
    retention: Arc<Retention>,
    place: Place,
    is_over: AtomicBool,
}

impl Ticket {
    pub(super) fn new(retention: Arc<Retention>, place: Place) -> Self {
        Self {
            retention,
            place,
            is_over: AtomicBool::new(false),
        }
    }

    fn end(&self, reply: Option<KeptReply>) {
        // Relaxed: the table's lock orders all else.
        if self.is_over.swap(true, Ordering::Relaxed) {
            return;
        }
        let Retention { settings, .. } = &*self.retention;
        let ended = self
            .retention
            .lock()
            .end(self.place, reply, time::now(), settings);
        let (waiting, reply) = ended;
        for pending in waiting {
            match &reply {
                Some(reply) => answer(pending, reply),
                None => refuse(pending, not_begun()),
            }
        }
    }
}

impl ReplyKeeper for Ticket {
    fn ended(&self, reply: Option<KeptReply>) {
        self.end(reply);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.end(None);
    }
}

#[cold]
fn not_begun() -> SystemException {
    let kind = Kind::Transient;
    SystemException::new(kind, 0, CompletionStatus::No)
        .with_detail("the request of which this is a repeat was not begun, or was forwarded")
}
