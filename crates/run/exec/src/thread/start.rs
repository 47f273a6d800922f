//! Start of threads, in one place.

use super::error::{Requirement, SpawnError};
use super::spec::ThreadSpec;
use punctual_sys::processor::Processors;
use punctual_sys::{scheduling, stack};
use std::io;
use std::sync::mpsc;

/// Handle for joining a started thread.
#[derive(Debug)]
pub struct JoinHandle<T> {
    /// Handle of the standard library; the result is `None` only for a refused thread, which has no
    /// `JoinHandle`.
    thread: std::thread::JoinHandle<Option<T>>,
}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended, and returns the result of its work.
    ///
    /// # Errors
    /// The payload of the thread's panic.
    pub fn join(self) -> std::thread::Result<T> {
        let refused = || -> Box<dyn std::any::Any + Send> { Box::new("the thread did no work") };
        self.thread.join()?.ok_or_else(refused)
    }

    /// Returns whether the thread has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }
}

impl ThreadSpec {
    /// Starts a thread. Dropping the returned handle lets it run on its own.
    ///
    /// # Errors
    /// [`SpawnError::Refused`] when the machine refuses a requirement, [`SpawnError::Os`] when it
    /// has no thread left, or the name holds a NUL. The work is dropped then, on either thread.
    pub fn start<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, SpawnError> {
        start(self, work)
    }
}

fn start<T: Send + 'static>(
    spec: ThreadSpec,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, SpawnError> {
    if spec.name.contains('\0') {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "a zero in a thread's name");
        return Err(SpawnError::Os(error));
    }
    let demands = Demands::of(&spec);
    let mut builder = std::thread::Builder::new().name(spec.name.into_owned());
    if let Some(size) = spec.stack_size {
        builder = builder.stack_size(size);
    }
    let thread = if demands.are_none() {
        builder.spawn(move || Some(work()))
    } else {
        let (tell, told) = mpsc::sync_channel(1);
        let thread = builder.spawn(move || match demands.meet() {
            Ok(()) => {
                // The starting thread waits for this message.
                let _ = tell.send(Ok(()));
                Some(work())
            }
            Err(error) => {
                drop(work);
                let _ = tell.send(Err(error));
                None
            }
        });
        let thread = thread.map_err(SpawnError::Os)?;
        let gone = || SpawnError::Os(io::ErrorKind::BrokenPipe.into());
        told.recv().map_err(|_| gone())??;
        Ok(thread)
    };
    thread
        .map(|thread| JoinHandle { thread })
        .map_err(SpawnError::Os)
}

/// Requirements that the new thread has to obtain from the operating system.
struct Demands {
    scheduling: Option<scheduling::Scheduling>,
    processors: Option<Processors>,
    prefault_stack: bool,
}

impl Demands {
    fn of(spec: &ThreadSpec) -> Self {
        Self {
            scheduling: spec.scheduling,
            processors: spec.processors,
            prefault_stack: spec.prefault_stack,
        }
    }

    fn are_none(&self) -> bool {
        self.scheduling.is_none() && self.processors.is_none() && !self.prefault_stack
    }

    /// Obtains the processors first, so that the stack's memory is near them; the priority last, so
    /// that an urgent thread delays no other by the steps before.
    fn meet(&self) -> Result<(), SpawnError> {
        let refused = |requirement| move |error| Err(SpawnError::Refused { requirement, error });
        if let Some(processors) = &self.processors {
            processors
                .pin_own()
                .or_else(refused(Requirement::Processors))?;
        }
        if self.prefault_stack {
            stack::prefault_own().or_else(refused(Requirement::Stack))?;
        }
        if let Some(scheduling) = self.scheduling {
            scheduling::set_own(scheduling)
                .or_else(refused(Requirement::Scheduling(scheduling)))?;
        }
        Ok(())
    }
}
