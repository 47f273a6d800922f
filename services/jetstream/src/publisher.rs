//! Appends: one task for each log stores the events of all waiting threads, in the order in which
//! they came.
//!
//! Events are stored in atomic batches (JetStream 2.12): a batch is stored whole and in order, or
//! not at all, and one acknowledgement covers it. The next batch begins when the outcome of the one
//! before is known. Where a batch is refused since the stream knows an id of it, or its outcome is
//! unknown, its events are stored one by one, each after the one before is acknowledged; ids keep
//! those out that are stored already. So the order of appends is kept whatever fails.

use std::collections::VecDeque;
use std::time::Duration;

use punctual_durable::{Appended, DurableError, Limit, NewEvent};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::connection::{RequestError, code};
use crate::outgoing::{Message, Outgoing};
use crate::shared::LogShared;

type Result<T> = std::result::Result<T, DurableError>;

/// Maximum number of events in an atomic batch, which the servers set.
const MOST_EVENTS: usize = 1_000;

/// Length of a batch at which no more appends are added to it, in bytes.
const MOST_BYTES: usize = 8 << 20;

/// Time between attempts to store an event.
const PAUSE: Duration = Duration::from_millis(100);

/// Append that waits.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) events: Vec<NewEvent>,
    /// Moment at which the attempts end.
    pub(crate) end: Instant,
    pub(crate) done: oneshot::Sender<Result<Appended>>,
}

/// Append whose events are messages.
struct Ready {
    messages: Vec<Message>,
    end: Instant,
    /// True if an attempt may have stored events.
    is_unknown: bool,
}

/// Task that stores the events of one log.
#[derive(Debug)]
pub(crate) struct Publisher {
    outgoing: Outgoing,
    log: LogShared,
}

impl Publisher {
    pub(crate) fn new(outgoing: Outgoing, log: LogShared) -> Self {
        Self { outgoing, log }
    }

    /// Stores the events of appends, until the log is dropped.
    pub(crate) async fn run(mut self, mut appends: mpsc::Receiver<Append>) {
        let mut waiting = VecDeque::new();
        loop {
            if waiting.is_empty() {
                match appends.recv().await {
                    Some(append) => waiting.push_back(append),
                    None => return,
                }
            }
            // More than fit into a batch stay in the queue, whose length is limited.
            while waiting.len() < MOST_EVENTS
                && let Ok(append) = appends.try_recv()
            {
                waiting.push_back(append);
            }
            self.store_group(group(&mut waiting)).await;
        }
    }

    /// Stores several appends in one batch; if that fails each on its own, so that one that does
    /// not fit is not held against others.
    async fn store_group(&mut self, group: Vec<Append>) {
        let (mut all, mut callers) = (Vec::new(), Vec::new());
        for append in group {
            all.push(self.ready(append.events, append.end));
            callers.push(append.done);
        }
        let is_stored = self.store_together(&mut all).await;
        for (ready, caller) in all.into_iter().zip(callers) {
            let outcome = match is_stored {
                true => Ok(Appended::default()),
                false => self.store(ready).await,
            };
            // The caller may be gone.
            let _ = caller.send(outcome);
        }
    }

    fn ready(&mut self, events: Vec<NewEvent>, end: Instant) -> Ready {
        let messages = events.into_iter().map(|event| self.outgoing.message(event));
        Ready {
            messages: messages.collect(),
            end,
            is_unknown: false,
        }
    }

    /// Stores appends by one batch. Returns false if they have to be stored apart.
    async fn store_together(&mut self, all: &mut [Ready]) -> bool {
        let messages: Vec<Message> = all.iter().flat_map(|one| one.messages.clone()).collect();
        let is_one_batch = self.outgoing.has_batches() && messages.len() <= MOST_EVENTS;
        let Some(end) = all.first().map(|one| one.end) else {
            return true;
        };
        if all.len() < 2 || !is_one_batch {
            return false;
        }
        let outcome = self.outgoing.publish_batch(&messages, end).await;
        if matches!(outcome, Err(RequestError::Away(_))) {
            all.iter_mut().for_each(|one| one.is_unknown = true);
        }
        outcome.is_ok()
    }

    /// Stores the events of one append, in batches as large as may be.
    async fn store(&mut self, append: Ready) -> Result<Appended> {
        let mut appended = Appended::default();
        for part in append.messages.chunks(MOST_EVENTS) {
            appended.repeated += self.store_part(part, append.end, append.is_unknown).await?;
        }
        self.log.note_repeated(appended.repeated);
        Ok(appended)
    }

    /// Stores events that fit into a batch. Returns the number of those that the stream knew before.
    async fn store_part(
        &mut self,
        part: &[Message],
        end: Instant,
        mut is_unknown: bool,
    ) -> Result<usize> {
        if part.len() > 1 && self.outgoing.has_batches() {
            match self.outgoing.publish_batch(part, end).await {
                Ok(()) => return Ok(0),
                Err(error) if error.has_code(code::BATCH_HAS_REPEATS) => {}
                Err(RequestError::Away(_)) => is_unknown = true,
                Err(error) if error.is_passing() => {}
                Err(error) => return Err(self.refused(error, part.len())),
            }
        }
        let mut repeated = 0;
        for message in part {
            // One that an attempt of this append has stored is no repeat of the caller's.
            repeated += usize::from(self.store_one(message, end).await? && !is_unknown);
        }
        Ok(repeated)
    }

    /// Stores one event, and tries that until the end. Returns true if the stream knew it before.
    async fn store_one(&mut self, message: &Message, end: Instant) -> Result<bool> {
        let mut is_unknown = false;
        loop {
            let error = match self.outgoing.publish(message, end).await {
                Ok(is_known) => return Ok(is_known && !is_unknown),
                Err(error @ RequestError::Refused { .. }) if !error.is_passing() => {
                    return Err(self.refused(error, 1));
                }
                Err(error) => error,
            };
            is_unknown = true;
            self.check_exists(end).await?;
            if Instant::now() + PAUSE >= end {
                return Err(DurableError::Unknown(error.to_string()));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Returns an error if it is known that the log was removed.
    async fn check_exists(&self, end: Instant) -> Result<()> {
        if self.log.is_removed() {
            return Err(self.log.removed());
        }
        let subject = format!("STREAM.INFO.{}", self.log.stream());
        let info = timeout_at(end, self.outgoing.connection.request(subject)).await;
        match info {
            Ok(Err(error)) if error.has_code(code::STREAM_NOT_FOUND) => Err(self.log.removed()),
            _ => Ok(()),
        }
    }

    /// Returns the error for events that the stream has refused.
    fn refused(&self, error: RequestError, events: usize) -> DurableError {
        let RequestError::Refused {
            code: code::STORE_FAILED,
            description,
        } = error
        else {
            return error.into();
        };
        self.log.note_refused(events);
        let quota = self.log.quota();
        let limit = match description.contains("bytes") {
            true => Limit::Bytes(quota.bytes),
            false => Limit::Events(quota.events),
        };
        DurableError::Full {
            log: self.log.name().clone(),
            quota: limit,
        }
    }
}

/// Takes the appends that are stored together.
fn group(waiting: &mut VecDeque<Append>) -> Vec<Append> {
    let (mut events, mut bytes, mut count) = (0, 0, 0);
    for append in waiting.iter() {
        events += append.events.len();
        bytes += append
            .events
            .iter()
            .map(|event| event.bytes.len())
            .sum::<usize>();
        if count > 0 && (events > MOST_EVENTS || bytes > MOST_BYTES) {
            break;
        }
        count += 1;
    }
    waiting.drain(..count).collect()
}
