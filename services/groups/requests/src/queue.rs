//! Requests on their way to the log, and the thread that has them stored, those together that wait, and run, one after the other: no thread
//! of the ORB waits for the service, nor for the servant.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::{fmt, io};

use punctual::asynchronous::PendingReply;
use punctual::{SystemException, SystemExceptionKind as Kind};
use punctual_exec::thread::ThreadSpec;

use crate::answers::{Waiting, refuse, start_answering};
use crate::log::Log;
use crate::requests::Request;
use crate::runner::Outcome;

/// Requests that wait, at most.
const WAITING: usize = 4_096;
/// Bytes of their arguments, at most.
const WAITING_BYTES: usize = 64 << 20;

/// Requests that are stored together, at most, and bytes of their arguments after which no more is added.
const TOGETHER: usize = 64;
const TOGETHER_BYTES: usize = 64 << 10;

/// Queue of requests on their way to the log. Its thread ends with it.
pub(crate) struct Queue {
    requests: SyncSender<Waiting>,
    load: Arc<Load>,
}

/// Requests that have come, and have not been run, and the bytes of their arguments.
#[derive(Debug, Default)]
pub(crate) struct Load {
    requests: AtomicUsize,
    bytes: AtomicUsize,
}

// Relaxed: only a limit and a figure.
impl Load {
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Adds a request. Returns whether so many bytes may wait.
    fn add(&self, bytes: usize) -> bool {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        before + bytes <= WAITING_BYTES || before == 0
    }

    fn remove(&self, requests: usize, bytes: usize) {
        self.requests.fetch_sub(requests, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Queue {
    /// Starts the thread that has requests stored and run.
    ///
    /// # Errors
    /// The reason why no thread can be started.
    pub(crate) fn start(log: &Arc<Log>) -> io::Result<Self> {
        let (requests, receive) = mpsc::sync_channel(WAITING);
        let (log, answers) = (log.clone(), start_answering()?);
        let load = Arc::new(Load::default());
        let taken = load.clone();
        ThreadSpec::named("group-log")
            .start(move || {
                take_all(&log, &receive, &taken, &|client, outcome| {
                    if let Some(client) = client {
                        // The thread ends with the sender only.
                        let _ = answers.send((client, outcome));
                    }
                });
            })
            .map_err(io::Error::other)?;
        Ok(Self { requests, load })
    }

    pub(crate) fn load(&self) -> &Arc<Load> {
        &self.load
    }

    /// Adds a request.
    ///
    /// # Errors
    /// TRANSIENT if too many wait: it is not logged, and is not run.
    pub(crate) fn add(
        &self,
        request: Request,
        client: Option<PendingReply>,
    ) -> Result<(), SystemException> {
        let waiting = (request, client);
        let bytes = length(&waiting);
        let added = match self.load.add(bytes) {
            true => self.requests.try_send(waiting),
            false => Err(TrySendError::Full(waiting)),
        };
        let Err(TrySendError::Full((_, client)) | TrySendError::Disconnected((_, client))) = added
        else {
            return Ok(());
        };
        self.load.remove(1, bytes);
        let exception = Kind::Transient.because("too many requests wait for the group's log");
        match client {
            Some(client) => {
                refuse(client, exception);
                Ok(())
            }
            None => Err(exception),
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// Runs the thread that has requests stored and run. A client that has gone may be repeating its request at another member: it is logged
/// and run nevertheless.
fn take_all(
    log: &Log,
    requests: &Receiver<Waiting>,
    load: &Load,
    answer: &dyn Fn(Option<PendingReply>, Outcome),
) {
    let mut together = VecDeque::new();
    let mut together_bytes = 0;
    loop {
        while together.len() < TOGETHER && together_bytes < TOGETHER_BYTES {
            let next = match together.is_empty() {
                true => requests.recv().ok(),
                false => requests.try_recv().ok(),
            };
            let Some(next) = next else { break };
            together_bytes += length(&next);
            together.push_back(next);
        }
        if together.is_empty() {
            return;
        }
        let before = together.len();
        log.take(&mut together, answer);
        // Some may have to wait for the replies to others.
        let left = together.iter().map(length).sum();
        load.remove(before - together.len(), together_bytes - left);
        together_bytes = left;
    }
}

fn length((request, _): &Waiting) -> usize {
    request.arguments.bytes.len()
}
