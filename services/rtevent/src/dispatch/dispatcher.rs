//! Interface of dispatching strategies.

use crate::level::Level;
use punctual_exec::SpawnError;
use std::sync::Arc;

/// Work that is scheduled at a level: the queue of a consumer.
pub trait Task: Send + Sync {
    /// Executes a part of the work; returns whether there is more. The strategy then runs the task again,
    /// after the others that wait at its level. Must not run on two threads at once.
    fn run(&self) -> bool;

    /// Returns whether the task has blocked a thread, as its consumer was slow; strategies may serve it apart. Default:
    /// no.
    fn is_slow(&self) -> bool {
        false
    }

    /// Notes that the task has blocked a thread, or does so no more.
    fn set_slow(&self, is_slow: bool) {
        let _ = is_slow;
    }
}

/// Strategy that executes tasks by their levels. Several channels may share one.
///
/// A task is scheduled once, and then belongs to the strategy until its `run` returns `false`.
pub trait Dispatcher: Send + Sync {
    /// Prepares for tasks of a level: starts its threads, if it has some. Called when a consumer subscribes.
    ///
    /// # Errors
    /// A thread that the operating system refuses; the consumer is then refused.
    fn prepare(&self, level: Level) -> Result<(), SpawnError>;

    /// Schedules a task. Neither blocks nor runs the task.
    fn schedule(&self, level: Level, task: Arc<dyn Task>);
}
