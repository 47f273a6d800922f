//! Replies that are kept until their requests expire, so that a repeat of a request is answered without another upcall
//! (CORBA 3.0, §23.2.7).
//!
//! A reply belongs to the client that asked for it: to its id, together with what is known for certain about its connection (a
//! certificate, or the user of its process). Of clients over plain TCP nothing is certain: their ids are 128 random bits, which
//! only who reads the network's traffic knows.
//!
//! At a limit nothing is dropped that has not expired: further requests are refused with NO_RESOURCES before they begin. A
//! reply that is too large to be kept is sent, and a repeat of its request is refused, COMPLETED_YES.

mod table;
mod ticket;

pub use table::RetentionCounts;

use crate::request::FtRequest;
use crate::time;
use parking_lot::{Mutex, MutexGuard};
use punctual_orb::{
    CompletionStatus, DispatchError, Dispatched, FaultToleranceSettings, KeptReply, PendingReply,
    ServerCall, SystemException, SystemExceptionKind as Kind,
};
use std::sync::Arc;
use table::{Begun, Refusal, Table};
use ticket::Ticket;

/// Replies that an ORB keeps.
pub(crate) struct Retention {
    settings: FaultToleranceSettings,
    table: Mutex<Table>,
}

impl Retention {
    pub(crate) fn new(settings: FaultToleranceSettings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            table: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }

    /// Returns what is kept now.
    pub(crate) fn counts(&self) -> RetentionCounts {
        let mut table = self.lock();
        table.forget_expired(time::now());
        table.counts()
    }

    /// Serves a request: from a kept reply, or by `dispatch`, whose reply is then kept.
    pub(crate) fn serve(
        self: &Arc<Self>,
        request: &FtRequest<'_>,
        call: &mut ServerCall<'_>,
        dispatch: impl FnOnce(&mut ServerCall<'_>) -> Result<Dispatched, DispatchError>,
    ) -> Result<Dispatched, DispatchError> {
        let now = time::now();
        if request.expires <= now {
            return Err(expired().into());
        }
        if request.expires - now > time::units(self.settings.longest_retention) {
            return Err(too_long().into());
        }
        let identity = call.peer_identity();
        let begun = self.lock().begin((&identity, request), now, &self.settings);
        match begun {
            Begun::First(place) => {
                let ticket = Arc::new(Ticket::new(self.clone(), place));
                call.keep_reply(Some(ticket), dispatch)
            }
            Begun::Answered(reply) => call.repeat(&reply),
            Begun::Running => self.wait((&identity, request), call),
            Begun::Refused(refusal) => Err(refused(refusal).into()),
        }
    }

    /// Answers a repeat when its request is answered. No thread waits meanwhile.
    fn wait(
        self: &Arc<Self>,
        (identity, request): (&Arc<[u8]>, &FtRequest<'_>),
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        if !call.expects_reply() {
            // The first one-way runs.
            return call.reply(|_| Ok(()));
        }
        let left = time::duration(request.expires.saturating_sub(time::now()));
        let (pending, dispatched) = call.answer_within(Some(left))?;
        let waits = self
            .lock()
            .wait((identity, request), pending, &self.settings);
        match waits {
            Ok(()) => {}
            Err((pending, Some(reply))) => answer(pending, &reply),
            Err((pending, None)) => refuse(pending, too_many_wait()),
        }
        Ok(dispatched)
    }
}

/// Answers a request that has waited for the reply to an earlier one.
fn answer(pending: PendingReply, reply: &KeptReply) {
    // Its client may have gone.
    let _ = pending.answer(|call| call.repeat(reply));
}

/// Answers a request that has waited with an exception.
fn refuse(pending: PendingReply, exception: SystemException) {
    let _ = pending.answer(|_| Err(exception.into()));
}

#[cold]
fn expired() -> SystemException {
    let kind = Kind::Timeout;
    SystemException::new(kind, 0, CompletionStatus::No)
        .with_detail("the request had expired when it came (FT_REQUEST); compare the hosts' clocks")
}

#[cold]
fn too_long() -> SystemException {
    let kind = Kind::NoResources;
    SystemException::new(kind, 0, CompletionStatus::No).with_detail(
        "the request's reply is to be kept longer than fault_tolerance.longest_retention allows",
    )
}

#[cold]
fn too_many_wait() -> SystemException {
    let kind = Kind::Transient;
    SystemException::new(kind, 0, CompletionStatus::No).with_detail(
        "the request is in progress, and fault_tolerance.waiting_repeats repeats of it wait already",
    )
}

#[cold]
fn refused(refusal: Refusal) -> SystemException {
    let (completed, why) = match refusal {
        Refusal::Full => (
            CompletionStatus::No,
            "as many replies are kept as fault_tolerance.retained allows",
        ),
        Refusal::FullForClient => (
            CompletionStatus::No,
            "as many replies are kept for this client as fault_tolerance.retained_of_client allows",
        ),
        Refusal::NotKept => (
            CompletionStatus::Yes,
            "the request was answered before, by a reply that fault_tolerance.retained_bytes did not allow to keep",
        ),
    };
    SystemException::new(Kind::NoResources, 0, completed).with_detail(why)
}

impl std::fmt::Debug for Retention {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Retention").finish_non_exhaustive()
    }
}
