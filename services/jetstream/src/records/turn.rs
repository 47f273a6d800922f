//! Waiting for the right to write, and signs of life of the server that has it.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use punctual_durable::DurableError;
use punctual_host::{NotReady, Turn};
use tokio::time::Instant;

use super::writer::{Failure, Look, Writer, look};
use super::{JetStreamRecords, Right};
use crate::connection::Connection;

/// Part of the lease after which the holder sends a sign of life, and at which a server that waits looks.
const PARTS: u32 = 4;

/// Number of leases after which a server that the NATS servers do not answer gives its place up. They may need some seconds to
/// elect a leader, and refuse its writes meanwhile if another one has taken the place.
const SILENCE: u32 = 6;

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
                has_stream = self.has_stream()?;
                continue;
            }
            match self.try_to_take(&holder, &mut seen) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
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
}

impl JetStreamRecords {
    /// Makes the stream, if it is not there; returns false if the servers cannot be reached.
    fn has_stream(&self) -> Result<bool, NotReady> {
        match self.make_stream() {
            Ok(()) => Ok(true),
            Err(DurableError::Away(reason)) => {
                tracing::warn!("the right to serve is not known: {reason}");
                Ok(false)
            }
            Err(error) => Err(NotReady(error.to_string())),
        }
    }

    /// Takes the right if no server has it, or the one that has it gave no sign of life for the time of the lease.
    fn try_to_take(&self, holder: &str, seen: &mut Option<Seen>) -> Result<bool, DurableError> {
        let (connection, root) = (self.connection.clone(), self.root.clone());
        let now = self
            .runtime
            .call(async move { Ok(look(&connection, &root).await?) })?;
        if now.holder.is_some() && !is_over(&now, seen, self.lease) {
            return Ok(false);
        }
        *seen = None;
        let mut writer = Writer::new(self.root.clone(), holder.to_owned(), now.last);
        let (connection, right) = (self.connection.clone(), self.right.clone());
        let lease = self.lease;
        let taken = self.runtime.call(async move {
            let taken = writer.sign(&connection, false).await;
            if taken.is_ok() {
                *right.writer.lock().await = Some(writer);
            }
            Ok(taken)
        })?;
        match taken {
            Ok(()) => {
                let (connection, right) = (self.connection.clone(), self.right.clone());
                self.runtime.spawn(live(connection, right, lease));
                Ok(true)
            }
            // Another one was faster.
            Err(Failure::Lost(_)) => Ok(false),
            Err(Failure::Away(reason)) => Err(DurableError::Away(reason)),
            Err(Failure::Refused(reason)) => Err(DurableError::Invalid(reason)),
        }
    }
}

/// Notes what was seen; returns whether the stream has not changed for the time of the lease.
fn is_over(now: &Look, seen: &mut Option<Seen>, lease: Duration) -> bool {
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

/// Returns a name for this process as a holder: host, process, and a random part.
fn new_holder() -> Result<String, getrandom::Error> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)?;
    let process = std::process::id();
    Ok(format!("{process}-{}", HEXLOWER.encode(&random)))
}

/// Sends signs of life until the right is lost.
async fn live(connection: Connection, right: Arc<Right>, lease: Duration) {
    loop {
        tokio::time::sleep(lease / PARTS).await;
        let mut writer = right.writer.lock().await;
        let Some(holding) = writer.as_mut() else {
            return;
        };
        let sign = tokio::time::timeout_at(
            holding.confirmed + lease * SILENCE,
            holding.sign(&connection, false),
        );
        match sign.await {
            Ok(Ok(())) => continue,
            Ok(Err(Failure::Lost(reason))) => right.lose(&reason),
            Ok(Err(Failure::Away(reason) | Failure::Refused(reason)))
                if holding.confirmed.elapsed() < lease * SILENCE =>
            {
                tracing::warn!("a sign of life is not confirmed: {reason}");
                continue;
            }
            _ => right.lose(&format!(
                "the NATS servers have confirmed nothing for {:?}",
                lease * SILENCE
            )),
        }
        return;
    }
}

/// Lets another server take the right at once.
impl Drop for JetStreamRecords {
    fn drop(&mut self) {
        if self.right.loss.get().is_some() {
            return;
        }
        let (connection, right) = (self.connection.clone(), self.right.clone());
        // Without an answer, the others wait for the time of the lease.
        let _ = self.runtime.call(async move {
            let writer = right.writer.lock().await.take();
            if let Some(mut writer) = writer {
                let _ = writer.sign(&connection, true).await;
            }
            Ok(())
        });
    }
}
