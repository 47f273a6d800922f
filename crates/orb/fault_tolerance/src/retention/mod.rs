//! Replies that are kept until their requests expire, so that a repeat of a request is answered without another upcall
//! (CORBA 3.0, §23.2.7).
//!
//! A reply belongs to the client that asked for it: to its id, together with what is known for certain about its connection (a
//! certificate, or the user of its process). Of clients over plain TCP nothing is certain: their ids are 128 random bits, which
//! only who reads the network's traffic knows.
//!
//! At a limit nothing is dropped that has not expired: further requests are refused with NO_RESOURCES before they begin. A
//! reply that is too large to be kept is sent, and a repeat of its request is refused, COMPLETED_YES.

//!
//! A request that repeats nothing costs one look at a cache of the thread ([`known`]) and two at the table under its lock, none
//! of which searches or allocates; a reply that has a body is an allocation.

mod expiries;
mod known;
mod requests;
mod table;

pub use table::RetentionCounts;

use crate::adapter::bad_context;
use crate::request_id::RequestId;
use crate::time;
use known::Arrived;
use parking_lot::{Mutex, MutexGuard};
use punctual_orb::{
    CompletionStatus, DispatchError, Dispatched, FaultToleranceSettings, KeptReply, PendingReply,
    ReplyKeeper, ServerCall, SystemException, SystemExceptionKind as Kind,
};
use std::sync::Arc;
use table::{Begun, Caller, Refusal, Table};

/// Replies that an ORB keeps.
pub(crate) struct Retention {
    settings: FaultToleranceSettings,
    /// Longest time for which a reply is kept, in units of a TimeT.
    longest: u64,
    table: Mutex<Table>,
}

impl Retention {
    pub(crate) fn new(settings: FaultToleranceSettings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            longest: time::units(settings.longest_retention),
            table: Mutex::default(),
        })
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }

    /// Returns what is kept now.
    pub(crate) fn counts(&self) -> RetentionCounts {
        let mut table = self.lock();
        table.forget_expired(time::now());
        table.counts()
    }

    /// Serves a request, whose FT_REQUEST is `data`: from a kept reply, or by `dispatch`, whose reply is then kept.
    // Inlined in its only caller: a call saves and restores every register.
    #[inline(always)]
    pub(crate) fn serve(
        self: &Arc<Self>,
        data: &[u8],
        call: &mut ServerCall<'_>,
        dispatch: impl FnOnce(&mut ServerCall<'_>) -> Result<Dispatched, DispatchError>,
    ) -> Result<Dispatched, DispatchError> {
        let now = time::now();
        let arrived = Arrived::new(data, call.peer_identity());
        let (retention, expires, mut caller, is_known) = match arrived.find() {
            Some((retention, expires, caller)) => (retention, expires, caller, true),
            None => {
                let request = arrived.decode().map_err(|error| bad_context(&error))?;
                let caller = Caller::new(call.peer_identity(), request.client);
                (request.retention, request.expires, caller, false)
            }
        };
        if expires <= now {
            return Err(expired().into());
        }
        if expires - now > self.longest {
            return Err(too_long().into());
        }
        let place = caller.place();
        let begun = self
            .lock()
            .begin(&mut caller, (retention, expires), now, &self.settings);
        if !is_known || caller.place() != place {
            arrived.remember(&caller);
        }
        match begun {
            Begun::First(key) => {
                let id = RequestId {
                    client: caller.into_name(),
                    retention,
                    expires,
                };
                let dispatch = |call: &mut ServerCall<'_>| id.during(|| dispatch(call));
                let keeper: Arc<dyn ReplyKeeper> = self.clone();
                call.keep_reply(keeper, key, dispatch)
            }
            Begun::Answered(reply) => call.repeat(&reply),
            Begun::Running => self.wait((&mut caller, retention, expires), call),
            Begun::Refused(refusal) => Err(refused(refusal).into()),
        }
    }

    /// Answers a repeat when its request is answered. No thread waits meanwhile.
    #[cold]
    fn wait(
        &self,
        (caller, retention, expires): (&mut Caller, i32, u64),
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        if !call.expects_reply() {
            // The first one-way runs.
            return call.reply(|_| Ok(()));
        }
        let left = time::duration(expires.saturating_sub(time::now()));
        let (pending, dispatched) = call.answer_within(Some(left))?;
        let waits = self.lock().wait(caller, retention, pending, &self.settings);
        match waits {
            Ok(()) => {}
            Err((pending, Some(reply))) => answer(pending, &reply),
            Err((pending, None)) => refuse(pending, too_many_wait()),
        }
        Ok(dispatched)
    }
}

impl ReplyKeeper for Retention {
    fn ended(&self, request: u64, reply: Option<KeptReply>) {
        let waiting = self.lock().end(request, reply.as_ref(), &self.settings);
        for pending in waiting {
            match &reply {
                Some(reply) => answer(pending, reply),
                None => refuse(pending, not_begun()),
            }
        }
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
fn not_begun() -> SystemException {
    let kind = Kind::Transient;
    SystemException::new(kind, 0, CompletionStatus::No)
        .with_detail("the request of which this is a repeat was not begun, or was forwarded")
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
