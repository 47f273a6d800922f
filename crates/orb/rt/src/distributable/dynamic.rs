//! State of dynamic scheduling in an RTORB.

use super::config::DynamicScheduling;
use super::error::SegmentError;
use super::overrun::Overrun;
use super::parameter::SchedulingParameter;
use super::registry::{DistributableThread, DistributableThreadId, Registration, Registry};
use punctual_orb::{SystemException, SystemExceptionKind as Kind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// State of dynamic scheduling: settings, distributable threads, and the count of overruns.
#[derive(Debug)]
pub(crate) struct Dynamic {
    config: DynamicScheduling,
    registry: Arc<Registry>,
    overruns: AtomicU64,
}

impl Dynamic {
    pub(crate) fn new(config: DynamicScheduling) -> Arc<Self> {
        Arc::new(Self {
            config,
            registry: Registry::new(),
            overruns: AtomicU64::new(0),
        })
    }

    pub(super) fn config(&self) -> &DynamicScheduling {
        &self.config
    }

    /// Number of segments that have ended or were updated only after their deadlines.
    pub(crate) fn overruns(&self) -> u64 {
        // Relaxed: a statistic only.
        self.overruns.load(Ordering::Relaxed)
    }

    /// Counts an overrun of a segment, if there was one.
    pub(super) fn count(&self, overrun: Option<Overrun>) {
        if overrun.is_some() {
            self.overruns.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Checks that segments of this RTORB may have this parameter.
    ///
    /// # Errors
    /// UNSUPPORTED_SCHEDULING_DISCIPLINE, or BAD_PARAM for an invalid reservation.
    pub(super) fn check(&self, parameter: SchedulingParameter) -> Result<(), SegmentError> {
        let discipline = parameter.discipline();
        if !self.config.disciplines.contains(&discipline) {
            return Err(SegmentError::UnsupportedSchedulingDiscipline(discipline));
        }
        let checked = parameter.reservation().map(|reserved| reserved.check());
        let bad = |error: punctual_exec::thread::InvalidReservation| {
            SystemException::from(Kind::BadParam).with_detail(error.to_string())
        };
        Ok(checked.transpose().map(drop).map_err(bad)?)
    }

    /// Registers that the distributable thread with this id is in the process.
    pub(super) fn enter(&self, id: DistributableThreadId) -> Result<Registration, SystemException> {
        self.registry.enter(id)
    }

    /// Returns the distributable thread with this id, if it runs in this process or is in a call
    /// that it has made from here.
    pub(super) fn find(&self, id: DistributableThreadId) -> Option<DistributableThread> {
        self.registry.find(id)
    }
}
