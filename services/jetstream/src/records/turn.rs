//! Waiting for the right to write, and heartbeats of the server that has it.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use punctual_durable::DurableError;
use punctual_host::{NotReady, Turn};
use tokio::time::Instant;

use super::writer::{Failure, StreamState, Writer, stream_state};
use super::{JetStreamRecords, Right};
use crate::connection::Connection;

/// Part of the lease after which the holder sends a heartbeat, and at which a server that waits looks.
const PARTS: u32 = 4;

/// Number of leases after which a server that the NATS servers do not answer gives its place up. They may need some seconds to
/// elect a leader, and refuse its writes meanwhile if another one has taken the place.
const SILENCE: u32 = 6;

/// Longest time for the last heartbeat.
const LAST: Duration = Duration::from_secs(1);

/// Longest time between two looks.
const LONGEST: Duration = Duration::from_millis(500);

/// Observation of a stream by a server that waits.
#[derive(Debug)]
struct Seen {
    last: u64,
    since: Instant,
}

impl Turn for JetStreamRecords {
    fn wait(&self, is_ending: &mut dyn FnMut() -> bool) -> Result<bool, NotReady> {
        let holder = new_holder().map_err(|error| NotReady(error.to_string()))?;
        let pause = (self.lease / PARTS).min(LONGEST);
        let mut seen = None;
        let mut has_stream = false;
        while !is_ending() {
            if !has_stream {
                match self.has_stream(is_ending)? {
                    Some(has) => has_stream = has,
                    None => return Ok(false),
                }
                continue;
            }
            match self.try_to_take(is_ending, &holder, &mut seen) {
                Ok(Some(true)) => return Ok(true),
                Ok(Some(false)) => {}
                Ok(None) => return Ok(false),
                Err(DurableError::Away(reason)) => {
                    seen = None;
                    tracing::warn!("the right to serve is not known: {reason}");
                }
                Err(error) => return Err(NotReady(error.to_string())),
            }
            std::thread::sleep(pause);
        }
        Ok(false)
    }

    fn loss(&self) -> Option<String> {
        self.right.loss.get().cloned()
    }

    fn confirm(&self) -> Result<(), NotReady> {
        if let Some(loss) = self.right.loss.get() {
            return Err(NotReady(loss.clone()));
        }
        let (connection, right) = (self.connection.clone(), self.right.clone());
        let beat = self.runtime.call(async move {
            let mut confirmed = Instant::now();
            Ok(beat(&connection, &right, &mut confirmed).await)
        });
        match beat.unwrap_or_else(|error| Beat::Late(error.to_string())) {
            Beat::Confirmed => Ok(()),
            Beat::Late(reason) => Err(NotReady(reason)),
            Beat::Ended => Err(NotReady("this server ends".to_owned())),
            Beat::Lost(reason) => {
                self.right.lose(&reason);
                Err(NotReady(reason))
            }
        }
    }
}

impl JetStreamRecords {
    /// Makes the stream, if it is not there; returns false if the servers cannot be reached, and `None` at the end of the
    /// process.
    fn has_stream(&self, is_ending: &mut dyn FnMut() -> bool) -> Result<Option<bool>, NotReady> {
        match self.make_stream(is_ending) {
            Ok(made) => Ok(made.map(|()| true)),
            Err(DurableError::Away(reason)) => {
                tracing::warn!("the right to serve is not known: {reason}");
                Ok(Some(false))
            }
            Err(error) => Err(NotReady(error.to_string())),
        }
    }

    /// Takes the right if no server has it, or the one that has it sent no heartbeat for the time of the lease.
    /// Returns `None` at the end of the process.
    fn try_to_take(
        &self,
        is_ending: &mut dyn FnMut() -> bool,
        holder: &str,
        seen: &mut Option<Seen>,
    ) -> Result<Option<bool>, DurableError> {
        let (connection, root) = (self.connection.clone(), self.root.clone());
        let state = async move { Ok(stream_state(&connection, &root).await?) };
        let Some(now) = self.runtime.call_until(is_ending, state)? else {
            return Ok(None);
        };
        if let Some(lease) = now.lease
            && !is_over(&now, seen, self.lease.max(lease))
        {
            return Ok(Some(false));
        }
        *seen = None;
        let mut writer = Writer::new(self.root.clone(), holder.to_owned(), self.lease, now.last);
        let (connection, right) = (self.connection.clone(), self.right.clone());
        let lease = self.lease;
        let take = async move {
            let taken = writer.beat(&connection, false).await;
            if taken.is_ok() {
                *right.writer.lock().await = Some(writer);
            }
            Ok(taken)
        };
        let Some(taken) = self.runtime.call_until(is_ending, take)? else {
            return Ok(None);
        };
        match taken {
            Ok(()) => {
                let (connection, right) = (self.connection.clone(), self.right.clone());
                self.runtime
                    .spawn(send_heartbeats(connection, right, lease));
                Ok(Some(true))
            }
            // Another one was faster.
            Err(Failure::Lost(_)) => Ok(Some(false)),
            Err(Failure::Away(reason)) => Err(DurableError::Away(reason)),
            Err(Failure::Refused(reason)) => Err(DurableError::Invalid(reason)),
        }
    }
}

/// Notes what was seen; returns whether the stream has not changed for the time of the lease.
fn is_over(now: &StreamState, seen: &mut Option<Seen>, lease: Duration) -> bool {
    match seen {
        Some(seen) if seen.last == now.last => seen.since.elapsed() >= lease,
        _ => {
            *seen = Some(Seen {
                last: now.last,
                since: Instant::now(),
            });
            false
        }
    }
}

/// Returns a name for this process as a holder, with a random part.
fn new_holder() -> Result<String, getrandom::Error> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)?;
    let process = std::process::id();
    Ok(format!("{process}-{}", HEXLOWER.encode(&random)))
}

/// Outcome of a heartbeat.
enum Beat {
    Confirmed,
    Late(String),
    Lost(String),
    /// The right was given back.
    Ended,
}

/// Sends heartbeats until the right is lost.
async fn send_heartbeats(connection: Connection, right: Arc<Right>, lease: Duration) {
    let mut confirmed = Instant::now();
    loop {
        tokio::time::sleep(lease / PARTS).await;
        let end = confirmed + lease * SILENCE;
        // A change that is being written may have the writer meanwhile, and is confirmed as well.
        let beat = tokio::time::timeout_at(end, beat(&connection, &right, &mut confirmed)).await;
        match beat.unwrap_or_else(|_| Beat::Late("no answer in time".to_owned())) {
            Beat::Confirmed => {}
            Beat::Late(reason) if Instant::now() < end => {
                tracing::debug!("a heartbeat is not confirmed: {reason}");
            }
            Beat::Late(_) => {
                let time = lease * SILENCE;
                return right.lose(&format!("NATS has confirmed nothing for {time:?}"));
            }
            Beat::Lost(reason) => return right.lose(&reason),
            Beat::Ended => return,
        }
    }
}

async fn beat(connection: &Connection, right: &Right, confirmed: &mut Instant) -> Beat {
    let mut writer = right.writer.lock().await;
    let Some(holding) = writer.as_mut() else {
        return Beat::Ended;
    };
    *confirmed = holding.confirmed.max(*confirmed);
    let outcome = holding.beat(connection, false).await;
    *confirmed = holding.confirmed.max(*confirmed);
    match outcome {
        Ok(()) => Beat::Confirmed,
        Err(Failure::Lost(reason)) => Beat::Lost(reason),
        Err(Failure::Away(reason) | Failure::Refused(reason)) => Beat::Late(reason),
    }
}

/// Lets another server take the right at once.
impl Drop for JetStreamRecords {
    fn drop(&mut self) {
        if self.right.loss.get().is_some() || !self.connection.is_made() {
            return;
        }
        let (connection, right) = (self.connection.clone(), self.right.clone());
        // Without an answer, the others wait for the time of the lease.
        let _ = self.runtime.call(async move {
            let last = async {
                if let Some(mut writer) = right.writer.lock().await.take() {
                    let _ = writer.beat(&connection, true).await;
                }
            };
            let _ = tokio::time::timeout(LAST, last).await;
            Ok(())
        });
    }
}
