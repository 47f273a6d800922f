//! Servant that clients call: a request becomes an entry of the log, and is answered when this member has run it.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use parking_lot::Mutex;
use punctual::asynchronous::PendingReply;
use punctual::fault_tolerance::FT_REQUEST;
use punctual::poa::{DispatchError, Dispatched, ServerCall};
use punctual::{CompletionStatus, Servant, SystemException, SystemExceptionKind as Kind};
use punctual_groups_requests::requests::Request;
use punctual_groups_requests::{Answer, Outcome, refuse};

use crate::appender::Queue;
use crate::records::{Content, Entry};

/// Operations by which states of passive groups are transferred. Those of an active group lie with the service.
const OF_STATES: [&str; 4] = ["get_state", "set_state", "get_update", "set_update"];

/// Number of the first entry of a run that is no request. Requests have lower ones.
const NO_REQUESTS: u64 = 1 << 63;

/// Part of a member that its threads share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Random number of this run, by which its own entries are known in the log.
    pub(crate) run: u64,
    /// Number of the next entry that is no request.
    number: AtomicU64,
    phase: Mutex<Phase>,
    /// Requests of this run that clients wait for, by their numbers.
    pending: Mutex<HashMap<u64, PendingReply>>,
    /// To the thread that gives answers; `None` when the member has ended.
    answers: Mutex<Option<Sender<Answer>>>,
    is_ending: AtomicBool,
    /// True when the log has refused an entry as it is full, until a state is stored.
    is_log_full: AtomicBool,
}

/// Phase of a member.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Phase {
    /// It has no state yet.
    Starting,
    Active,
    /// It has ended for this reason.
    Ended(String),
}

impl Shared {
    pub(crate) fn new(run: u64, answers: Sender<Answer>) -> Self {
        Self {
            run,
            answers: Mutex::new(Some(answers)),
            number: AtomicU64::new(NO_REQUESTS),
            phase: Mutex::new(Phase::Starting),
            pending: Mutex::default(),
            is_ending: AtomicBool::new(false),
            is_log_full: AtomicBool::new(false),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase.lock().clone()
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    pub(crate) fn end_soon(&self) {
        self.is_ending.store(true, Ordering::Release);
    }

    pub(crate) fn is_log_full(&self) -> bool {
        self.is_log_full.load(Ordering::Relaxed)
    }

    pub(crate) fn set_log_full(&self, is_full: bool) {
        self.is_log_full.store(is_full, Ordering::Relaxed);
    }

    pub(crate) fn begin(&self) {
        *self.phase.lock() = Phase::Active;
    }

    /// Takes no more requests, for this reason. Those that are in the log may be run by others.
    pub(crate) fn end(&self, reason: String) {
        *self.phase.lock() = Phase::Ended(reason);
        self.refuse_pending();
        *self.answers.lock() = None;
    }

    fn refuse_pending(&self) {
        let pending = std::mem::take(&mut *self.pending.lock());
        for pending in pending.into_values() {
            let maybe = CompletionStatus::Maybe;
            refuse(
                pending,
                SystemException::new(Kind::Transient, 0, maybe).with_detail(ENDED),
            );
        }
    }

    /// Makes an entry of this run that is no request.
    pub(crate) fn entry(&self, what: Content) -> Entry {
        Entry {
            run: self.run,
            // Relaxed: numbers only have to differ.
            number: self.number.fetch_add(1, Ordering::Relaxed),
            what,
        }
    }

    /// Notes that a client waits for the reply to a request of this run.
    pub(crate) fn wait(&self, number: u64, pending: PendingReply) {
        self.pending.lock().insert(number, pending);
    }

    /// Answers a request of this run, if its client still waits.
    pub(crate) fn answer(&self, number: u64, outcome: Outcome) {
        let Some(pending) = self.pending.lock().remove(&number) else {
            return;
        };
        if let Some(answers) = &*self.answers.lock()
            && pending.is_awaited()
        {
            // The thread ends with the sender only.
            let _ = answers.send((pending, outcome));
        }
    }

    /// Answers a request of this run that is not in the log, or may not be.
    pub(crate) fn refuse(&self, number: u64, exception: SystemException) {
        if let Some(pending) = self.pending.lock().remove(&number) {
            refuse(pending, exception);
        }
    }
}

const ENDED: &str = "this member of an active group has ended";

/// Servant that clients call.
pub(crate) struct Front {
    pub(crate) shared: Arc<Shared>,
    pub(crate) queue: Queue,
    pub(crate) servant: Arc<dyn Servant>,
    /// Time within which a request is answered.
    pub(crate) patience: Duration,
}

impl Front {
    fn check(&self, operation: &str) -> Result<(), SystemException> {
        if OF_STATES.contains(&operation) {
            let why = "states of an active group are not transferred by its clients";
            return Err(Kind::NoPermission.because(why));
        }
        match self.shared.phase() {
            Phase::Active => Ok(()),
            Phase::Starting => Err(Kind::Transient.because("this member has no state yet")),
            Phase::Ended(why) => Err(Kind::Transient.because(format!("{ENDED}: {why}"))),
        }
    }
}

impl Servant for Front {
    fn repository_ids(&self) -> &'static [&'static str] {
        self.servant.repository_ids()
    }

    fn primary_interface(&self) -> Cow<'_, str> {
        self.servant.primary_interface()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.servant.is_a(repository_id)
    }

    fn is_dynamic(&self) -> bool {
        self.servant.is_dynamic()
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        if call.operation() == "is_alive" && !matches!(self.shared.phase(), Phase::Ended(_)) {
            return self.servant.dispatch(call);
        }
        self.check(call.operation())?;
        let request = Request::of(call)?;
        if request.identity.is_empty() && call.contexts().find(FT_REQUEST).is_some() {
            let why = "this member has not joined its group yet, or has left it";
            return Err(Kind::Transient.because(why).into());
        }
        if !call.expects_reply() {
            self.queue.add(&self.shared, request, None)?;
            return call.reply(|_| Ok(()));
        }
        let (pending, dispatched) = call.answer_within(Some(self.patience))?;
        self.queue.add(&self.shared, request, Some(pending))?;
        // The member may have ended between the two.
        if matches!(self.shared.phase(), Phase::Ended(_)) {
            self.shared.refuse_pending();
        }
        Ok(dispatched)
    }

    /// The typed servant is not offered to callers of this process: their calls go by the log, too.
    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}
