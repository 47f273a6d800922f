//! Thread on which all communication runs, with an async runtime of its own.
//!
//! When the process ends, calls are given up that wait for servers which do not answer: see [`Runtime::end_waiting`].

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use punctual_durable::DurableError;
use punctual_exec::ThreadSpec;
use punctual_exec::thread::JoinHandle;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{oneshot, watch};

type Result<T> = std::result::Result<T, DurableError>;

/// Time that a call has for its answer when the process ends.
const GRACE: Duration = Duration::from_secs(1);

/// Interval at which a caller looks whether it is to wait no longer.
const LOOK: Duration = Duration::from_millis(100);

/// End of the process, as far as calls that wait are concerned.
#[derive(Debug)]
struct Ending {
    has_begun: watch::Sender<bool>,
    /// Set when a call was given up since: the others need not wait as long.
    is_silent: AtomicBool,
}

impl Ending {
    /// Waits until the process ends and a call that begins now has had the time for its answer.
    async fn give_up(&self) {
        let mut begun = self.has_begun.subscribe();
        // The sender is there as long as this.
        let _ = begun.wait_for(|has_begun| *has_begun).await;
        if !self.is_silent.load(Ordering::Relaxed) {
            tokio::time::sleep(GRACE).await;
            self.is_silent.store(true, Ordering::Relaxed);
        }
    }
}

/// Runtime of one thread, which ends when this is dropped.
pub(crate) struct Runtime {
    handle: Handle,
    ending: Arc<Ending>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Runtime")
    }
}

impl Runtime {
    /// Starts the thread.
    pub(crate) fn start() -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| DurableError::Invalid(error.to_string()))?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        let thread = ThreadSpec::named("jetstream").start(move || {
            // The sender was dropped: that is an end, too.
            let _ = runtime.block_on(ended);
        });
        let thread = thread.map_err(|error| DurableError::Invalid(error.to_string()))?;
        Ok(Self {
            handle,
            ending: Arc::new(Ending {
                has_begun: watch::Sender::new(false),
                is_silent: AtomicBool::new(false),
            }),
            end: Some(end),
            thread: Some(thread),
        })
    }

    /// Starts a task, which ends with the runtime.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(task);
    }

    /// Gives up calls, those in progress and later ones, that have no answer within a second; and at once when there was one
    /// without an answer: the process ends.
    pub(crate) fn end_waiting(&self) {
        self.ending.has_begun.send_replace(true);
    }

    fn begin<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Receiver<Result<T>> {
        let (tell, told) = mpsc::sync_channel(1);
        let ending = self.ending.clone();
        self.spawn(async move {
            let done = tokio::select! {
                biased;
                done = work => done,
                () = ending.give_up() => Err(given_up()),
            };
            // The caller waits for it, unless it is to wait no longer.
            let _ = tell.send(done);
        });
        told
    }

    /// Runs work on the runtime's thread, and waits for its result. Not to be called on that thread.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let told = self.begin(work).recv();
        told.unwrap_or_else(|_| Err(closed()))
    }

    /// Runs work as [`call`](Self::call) does, until `is_ending` returns true, which it does once: then the result is `None`,
    /// and the work goes on.
    pub(crate) fn call_until<T: Send + 'static>(
        &self,
        is_ending: &mut dyn FnMut() -> bool,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<Option<T>> {
        let told = self.begin(work);
        loop {
            match told.recv_timeout(LOOK) {
                Ok(done) => return done.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Err(closed()),
                Err(RecvTimeoutError::Timeout) if is_ending() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits on this thread for a result that comes with the runtime's help; `None` if it is given up as the process ends. Not
    /// to be called on the runtime's thread.
    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        // The runtime's own thread runs timers and sockets.
        self.handle.block_on(async {
            tokio::select! {
                biased;
                done = work => Some(done),
                () = self.ending.give_up() => None,
            }
        })
    }
}

fn closed() -> DurableError {
    DurableError::Away("the connection was closed".to_owned())
}

/// Returns the error for a call that was given up as the process ends.
fn given_up() -> DurableError {
    DurableError::Away("this process ends, and the servers do not answer".to_owned())
}

impl Drop for Runtime {
    fn drop(&mut self) {
        drop(self.end.take());
        // A panic of the thread has been reported where it happened.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
