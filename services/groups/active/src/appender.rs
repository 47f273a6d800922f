//! Thread that appends a member's entries to the log, in their order and many at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use punctual::asynchronous::PendingReply;
use punctual::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_durable::{DurableError, EventId, EventLog, NewEvent};
use punctual_exec::thread::{JoinHandle, ThreadSpec};
use punctual_groups_requests::requests::Request;

use crate::front::Shared;
use crate::records::{Content, Entry};

/// Entries that wait to be appended, at most.
const WAITING: usize = 4_096;
/// Entries that are appended at once, at most.
const AT_ONCE: usize = 256;
/// Bytes of them, beyond which no more are taken.
const BYTES_AT_ONCE: usize = 512 << 10;
/// Attempts to append while the log is away, and the pause between two.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(200);

/// Queue of requests on their way to the log.
#[derive(Debug)]
pub(crate) struct Queue {
    sender: SyncSender<Waiting>,
    /// Number of the next request. Held while one is added, so that their numbers grow in the order of the queue.
    next: Mutex<u64>,
    /// Bytes of the entries that wait, those that are being appended included.
    bytes: Arc<AtomicUsize>,
    most_bytes: usize,
}

/// Entry on its way to the log.
#[derive(Clone, Debug)]
struct Waiting {
    number: u64,
    event: NewEvent,
}

impl Queue {
    /// Adds a request, whose reply is given when this member has run it; `None` for a one-way.
    ///
    /// # Errors
    /// TRANSIENT if too many wait, or too many bytes of them, or the member has ended; IMP_LIMIT if the request is too long. With a
    /// reply that is pending, it is given the exception instead.
    pub(crate) fn add(
        &self,
        shared: &Shared,
        request: Request,
        pending: Option<PendingReply>,
    ) -> Result<(), SystemException> {
        let mut next = self.next.lock();
        let number = *next;
        let is_awaited = pending.is_some();
        if let Some(pending) = pending {
            shared.wait(number, pending);
        }
        let added = self.send(&Entry {
            run: shared.run,
            number,
            what: Content::TheRequest(request),
        });
        *next += 1;
        drop(next);
        match added {
            Err(exception) if is_awaited => {
                shared.refuse(number, exception);
                Ok(())
            }
            added => added,
        }
    }

    fn send(&self, entry: &Entry) -> Result<(), SystemException> {
        let too_long = || Kind::ImpLimit.because("the request is too long for the group's log");
        let event = event(entry).ok_or_else(too_long)?;
        let (number, length) = (entry.number, event.bytes.len());
        // Relaxed: only the lock of the numbers lets the sum grow.
        let waiting = self.bytes.load(Ordering::Relaxed);
        // One that is longer than all may be is added when no other waits.
        if waiting > 0 && waiting.saturating_add(length) > self.most_bytes {
            let why = "the requests that wait for the group's log have too many bytes";
            return Err(Kind::Transient.because(why));
        }
        self.bytes.fetch_add(length, Ordering::Relaxed);
        let sent = self.sender.try_send(Waiting { number, event });
        sent.map_err(|error| {
            self.bytes.fetch_sub(length, Ordering::Relaxed);
            Kind::Transient.because(match error {
                TrySendError::Full(_) => "too many requests wait for the group's log",
                TrySendError::Disconnected(_) => "this member of an active group has ended",
            })
        })
    }
}

/// Returns an entry as an event of the log, which stores it once however often it is appended.
pub(crate) fn event(entry: &Entry) -> Option<NewEvent> {
    let bytes = entry.to_bytes()?;
    let id = [entry.run.to_be_bytes(), entry.number.to_be_bytes()].concat();
    Some(NewEvent::new(bytes).with_id(EventId::new(&id)?))
}

/// Starts the thread, which ends with the member.
pub(crate) fn start(
    shared: Arc<Shared>,
    log: Arc<dyn EventLog>,
    most_bytes: usize,
) -> std::io::Result<(Queue, JoinHandle<()>)> {
    let (sender, receive) = mpsc::sync_channel(WAITING);
    let bytes = Arc::new(AtomicUsize::new(0));
    let queue = Queue {
        sender,
        next: Mutex::new(0),
        bytes: bytes.clone(),
        most_bytes,
    };
    let appender = Appender { shared, log, bytes };
    let thread = ThreadSpec::named("group-append").start(move || appender.run(&receive))?;
    Ok((queue, thread))
}

struct Appender {
    shared: Arc<Shared>,
    log: Arc<dyn EventLog>,
    /// Bytes of the entries that wait.
    bytes: Arc<AtomicUsize>,
}

impl Appender {
    fn run(&self, waiting: &Receiver<Waiting>) {
        loop {
            let first = match waiting.recv_timeout(PAUSE) {
                Ok(first) => first,
                // The object that clients call stays, and has the queue.
                Err(RecvTimeoutError::Timeout) if !self.shared.is_ending() => continue,
                Err(_) => return,
            };
            let mut bytes = first.event.bytes.len();
            let mut batch = vec![first];
            while batch.len() < AT_ONCE
                && bytes < BYTES_AT_ONCE
                && let Ok(next) = waiting.try_recv()
            {
                bytes += next.event.bytes.len();
                batch.push(next);
            }
            self.append(batch, false);
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Appends entries, of which an earlier attempt may have stored some.
    fn append(&self, batch: Vec<Waiting>, mut may_be_stored: bool) {
        let Err(error) = self.try_append(&batch, &mut may_be_stored) else {
            return;
        };
        // One of them may be the reason: each by itself, under the same id.
        if batch.len() > 1 && !is_away(&error) {
            for one in batch {
                self.append(vec![one], may_be_stored);
            }
            return;
        }
        tracing::warn!(
            "{} requests are not in the group's log: {error}",
            batch.len()
        );
        for one in batch {
            let exception = exception(&error, may_be_stored);
            self.shared.refuse(one.number, exception);
        }
    }

    /// Appends entries, again and again while the log is away.
    fn try_append(&self, batch: &[Waiting], may_be_stored: &mut bool) -> Result<(), DurableError> {
        let mut attempts = 0;
        loop {
            let events = batch.iter().map(|one| one.event.clone()).collect();
            let Err(error) = self.log.append(events) else {
                return Ok(());
            };
            attempts += 1;
            if matches!(error, DurableError::Full { .. }) {
                self.shared.set_log_full(true);
            }
            *may_be_stored |= is_away(&error);
            if !is_away(&error) || attempts == ATTEMPTS || self.shared.is_ending() {
                return Err(error);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Returns whether the same call may succeed later, or may have succeeded.
pub(crate) fn is_away(error: &DurableError) -> bool {
    matches!(error, DurableError::Away(_) | DurableError::Unknown(_))
}

fn exception(error: &DurableError, may_be_stored: bool) -> SystemException {
    let kind = match error {
        DurableError::TooLong { .. } => Kind::ImpLimit,
        DurableError::Full { .. } => Kind::NoResources,
        _ => Kind::Transient,
    };
    let is_refused = matches!(
        error,
        DurableError::TooLong { .. } | DurableError::Full { .. }
    );
    // It may be in the log, and be run later.
    let completed = match is_refused && !may_be_stored {
        true => CompletionStatus::No,
        false => CompletionStatus::Maybe,
    };
    SystemException::new(kind, 0, completed).with_detail(error.to_string())
}
