//! Thread that appends a member's entries to the log, in their order and many at once.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use punctual::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_durable::{DurableError, EventId, EventLog, NewEvent};
use punctual_exec::thread::{JoinHandle, ThreadSpec};

use crate::front::Shared;
use crate::records::Entry;

/// Entries that wait to be appended, at most.
const WAITING: usize = 4_096;
/// Entries that are appended at once, at most.
const AT_ONCE: usize = 256;
/// Bytes of them, beyond which no more are taken.
const BYTES_AT_ONCE: usize = 512 << 10;
/// Attempts to append while the log is away, and the pause between two.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(200);

/// Queue of entries on their way to the log.
#[derive(Clone, Debug)]
pub(crate) struct Queue(SyncSender<Waiting>);

/// Entry on its way to the log.
#[derive(Clone, Debug)]
struct Waiting {
    number: u64,
    event: NewEvent,
}

impl Queue {
    /// Adds an entry.
    ///
    /// # Errors
    /// TRANSIENT if too many wait, or the member has ended; IMP_LIMIT if the entry is too long.
    pub(crate) fn add(&self, entry: &Entry) -> Result<(), SystemException> {
        let too_long = || Kind::ImpLimit.because("the request is too long for the group's log");
        let event = event(entry).ok_or_else(too_long)?;
        let number = entry.number;
        self.0.try_send(Waiting { number, event }).map_err(|error| {
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
) -> std::io::Result<(Queue, JoinHandle<()>)> {
    let (send, receive) = mpsc::sync_channel(WAITING);
    let appender = Appender { shared, log };
    let thread = ThreadSpec::named("group-append").start(move || appender.run(&receive))?;
    Ok((Queue(send), thread))
}

struct Appender {
    shared: Arc<Shared>,
    log: Arc<dyn EventLog>,
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
