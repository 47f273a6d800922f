//! Start of further threads of a pool.

use super::workers::Workers;
use crate::reactor::Reactor;
use crate::{SpawnError, ThreadGroup, ThreadSpec};
use std::sync::{Arc, Weak};

/// Data for starting further threads of the pool.
#[derive(Debug)]
pub(super) struct Growth {
    pub(super) reactor: Weak<Reactor>,
    pub(super) threads: ThreadGroup,
    pub(super) spec: ThreadSpec,
    pub(super) workers: Arc<Workers>,
}

impl Growth {
    /// Starts one more thread; returns `false` if the maximum is reached.
    pub(super) fn grow(&self) -> Result<bool, SpawnError> {
        let Some(reactor) = self.reactor.upgrade() else {
            return Ok(false);
        };
        let Some(number) = self.workers.one_more() else {
            return Ok(false);
        };
        let name = format!("{}-{number}", self.spec.name());
        let workers = self.workers.clone();
        let started = self.threads.spawn(self.spec.with_name(name), move || {
            workers.arrive();
            reactor.run();
        });
        if started.is_err() {
            self.workers.not_started();
        }
        started.map(|()| true)
    }
}
