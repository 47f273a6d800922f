//! Thread on which all communication runs, with an async runtime of its own.

use std::fmt;
use std::future::Future;
use std::sync::mpsc;

use punctual_durable::DurableError;
use punctual_exec::ThreadSpec;
use punctual_exec::thread::JoinHandle;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

type Result<T> = std::result::Result<T, DurableError>;

/// Runtime of one thread, which ends when this is dropped.
pub(crate) struct Runtime {
    handle: Handle,
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
            end: Some(end),
            thread: Some(thread),
        })
    }

    /// Starts a task, which ends with the runtime.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(task);
    }

    /// Runs work on the runtime's thread, and waits for its result. Not to be called on that thread.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (tell, told) = mpsc::sync_channel(1);
        self.spawn(async move {
            // The caller waits for it.
            let _ = tell.send(work.await);
        });
        let lost = || Err(DurableError::Away("the connection was closed".to_owned()));
        told.recv().unwrap_or_else(|_| lost())
    }

    /// Waits on this thread for a result that comes with the runtime's help. Not to be called on its thread.
    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        // The runtime's own thread runs timers and sockets.
        self.handle.block_on(work)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        drop(self.end.take());
        // A panic of the thread has been reported where it happened.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
