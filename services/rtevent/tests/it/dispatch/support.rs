//! Strategy whose tasks run when the test says so.

use crate::support::peers::Setting;
use parking_lot::Mutex;
use punctual_rtevent::{ChannelOptions, Dispatcher, Dispatching, Level, SpawnError, Task};
use std::collections::VecDeque;
use std::sync::Arc;

/// Strategy without threads: tasks wait until [`Stepped::run`].
#[derive(Default)]
pub(super) struct Stepped {
    tasks: Mutex<VecDeque<(Level, Arc<dyn Task>)>>,
    prepared: Mutex<Vec<Level>>,
}

impl Stepped {
    /// Returns a channel with this strategy.
    pub(super) fn setting(options: ChannelOptions) -> (Arc<Self>, Setting) {
        let stepped = Arc::new(Self::default());
        let setting = Setting::new(ChannelOptions {
            dispatching: Dispatching::Queued(stepped.clone()),
            ..options
        });
        (stepped, setting)
    }

    /// Runs tasks, in the order in which they were scheduled, until there are none.
    pub(super) fn run(&self) {
        while self.step() {}
    }

    /// Runs one task once.
    pub(super) fn step(&self) -> bool {
        let next = self.tasks.lock().pop_front();
        let Some((level, task)) = next else {
            return false;
        };
        if task.run() {
            self.tasks.lock().push_back((level, task));
        }
        true
    }

    /// Returns the levels of the tasks that wait.
    pub(super) fn waiting(&self) -> Vec<Level> {
        self.tasks.lock().iter().map(|(level, _)| *level).collect()
    }

    /// Returns the levels that were prepared.
    pub(super) fn prepared(&self) -> Vec<Level> {
        self.prepared.lock().clone()
    }
}

impl Dispatcher for Stepped {
    fn prepare(&self, level: Level) -> Result<(), SpawnError> {
        self.prepared.lock().push(level);
        Ok(())
    }

    fn schedule(&self, level: Level, task: Arc<dyn Task>) {
        self.tasks.lock().push_back((level, task));
    }
}
