//! The scheduler: its state, storage, and rules of access.
//!
//! Changes of many callers are drafted one after the other and committed at once.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use punctual_host::access::Rules;
use punctual_host::commit::Commits;
use punctual_host::making::Makers;
use punctual_host::metrics::Exposition;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::StoreError;
use punctual_scheduling::strategy::{Rms, Strategy};
use thiserror::Error;

use crate::draft::Draft;
use crate::limits::Limits;
use crate::metrics::{Gauges, Metrics};
use crate::planning::{Computed, Priorities, Request, compute};
use crate::refusal::Refusal;
use crate::rtec_scheduler::SchedulingAnomaly;
use crate::state::{Changes, State};
use crate::storage::Storage;

/// Scheduler, whose clones share the same operations.
#[derive(Clone)]
pub struct SchedulingService(Arc<Shared>);

struct Shared {
    state: RwLock<State>,
    options: RwLock<Options>,
    limits: RwLock<Limits>,
    writers: RwLock<Rules<()>>,
    storage: Option<Storage>,
    commits: Commits<Step, Result<(), Refusal>>,
    /// Lock of a computation, so that one runs at a time.
    computes: Mutex<()>,
    /// Limit on the number of threads that make long replies at the same time.
    makers: Makers,
    metrics: Metrics,
}

/// A change that waits for its commit.
type Step = Box<dyn FnOnce(&mut Draft<'_>) -> Result<(), Refusal> + Send>;

/// Options of computations.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Rules by which priorities are assigned. Default: RMS, under which chains of calls are proved, too.
    pub strategy: &'static dyn Strategy,
    /// Raise UTILIZATION_BOUND_EXCEEDED if an operation may miss its deadline, instead of an anomaly.
    /// Default: false.
    pub is_strict: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strategy: &Rms,
            is_strict: false,
        }
    }
}

/// Reason why a scheduler cannot be opened.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the scheduler cannot be opened: {0}")]
pub struct OpenError(#[from] pub StoreError);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for SchedulingService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchedulingService")
            .field("operations", &self.operations())
            .field("is_stored", &self.0.storage.is_some())
            .finish()
    }
}

impl SchedulingService {
    /// Returns an empty scheduler that ends with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with(State::default(), None)
    }

    /// Opens the scheduler in a file, which is created if need be.
    ///
    /// # Errors
    /// The file cannot be opened, is in use, or has other contents.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::on(Storage::open(path)?)
    }

    /// Opens the scheduler in a file as [`open`](Self::open) does, on a disk with injected faults.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_with_faults(path: &Path, faults: Faults) -> Result<Self, OpenError> {
        Self::on(Storage::open_with_faults(path, faults)?)
    }

    fn on(storage: Storage) -> Result<Self, OpenError> {
        let state = storage.read()?;
        Ok(Self::with(state, Some(storage)))
    }

    fn with(state: State, storage: Option<Storage>) -> Self {
        Self(Arc::new(Shared {
            state: RwLock::new(state),
            options: RwLock::default(),
            limits: RwLock::default(),
            writers: RwLock::default(),
            storage,
            commits: Commits::new(),
            computes: Mutex::new(()),
            makers: Makers::default(),
            metrics: Metrics::default(),
        }))
    }

    /// Returns unused pages of the scheduler's file to the file system. Takes time in proportion to
    /// the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn compact(&self) -> Result<bool, OpenError> {
        match &self.0.storage {
            Some(storage) => Ok(storage.compact()?),
            None => Ok(false),
        }
    }

    /// Sets the options of computations from now on.
    pub fn set_options(&self, options: Options) {
        *self.0.options.write() = options;
    }

    /// Sets the limits from now on. What exceeds them stays.
    pub fn set_limits(&self, limits: Limits) {
        *self.0.limits.write() = limits;
    }

    /// Sets the peers that may change the scheduler from now on. Without a grant, all may.
    pub fn set_writers(&self, writers: Rules<()>) {
        *self.0.writers.write() = writers;
    }

    /// Returns the number of operations.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.look(|state| state.operations.len())
    }

    /// Appends the scheduler's metrics to the exposition.
    pub fn write_metrics(&self, out: &mut Exposition) {
        let mut gauges = self.look(|state| Gauges {
            operations: state.operations.len(),
            dependencies: state.dependencies.len(),
            levels: state.queues.len(),
            store_bytes: None,
        });
        gauges.store_bytes = self.0.storage.as_ref().and_then(Storage::bytes);
        self.0.metrics.write(out, gauges);
    }

    /// Returns the limit on long replies.
    pub(crate) fn makers(&self) -> &Makers {
        &self.0.makers
    }

    /// Calls the closure with the state, under a read lock.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&State) -> R) -> R {
        look(&self.0.state.read())
    }

    /// Changes the state, and returns when that is durable. Blocks, together with other callers that
    /// change something.
    ///
    /// # Errors
    /// The peer may not change it, `change` refuses, or it cannot be stored; then nothing has changed.
    pub(crate) fn change<R: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Draft<'_>) -> Result<R, Refusal> + Send + 'static,
    ) -> Result<R, Refusal> {
        self.check_access()?;
        if self.0.storage.is_some() {
            // Other requests of the same connection continue, so that they get into the same commit.
            punctual::about_to_block();
        }
        let result = Arc::new(Mutex::new(None));
        let kept = result.clone();
        let step: Step = Box::new(move |draft| {
            *kept.lock() = Some(change(draft)?);
            Ok(())
        });
        let lost = || Err(given_up());
        let submit = || {
            self.0
                .commits
                .submit(step, |steps| self.commit(steps), lost)
        };
        self.0.metrics.changes.count(submit)?;
        let result = result.lock().take();
        result.ok_or_else(given_up)
    }

    fn check_access(&self) -> Result<(), Refusal> {
        let writers = self.0.writers.read();
        match writers.permits(&writers.requester(), |()| true) {
            true => Ok(()),
            false => Err(Refusal::NotPermitted),
        }
    }

    /// Drafts several steps and stores them in one commit. Only one thread at a time does so, so that
    /// the state does not change in between.
    fn commit(&self, steps: Vec<Step>) -> Vec<Result<(), Refusal>> {
        let (mut outcomes, changes) = self.drafted(steps);
        if changes.is_empty() {
            return outcomes;
        }
        match self.keep(&changes) {
            Ok(()) => self.0.state.write().apply(changes),
            Err(error) => {
                tracing::error!("changes of the scheduler are refused: {error}");
                // Includes steps that were refused because of others in this draft.
                outcomes.fill(Err(Refusal::Storage(error.to_string())));
            }
        }
        outcomes
    }

    fn drafted(&self, steps: Vec<Step>) -> (Vec<Result<(), Refusal>>, Changes) {
        let (state, limits) = (self.0.state.read(), *self.0.limits.read());
        let mut draft = Draft::new(&state, limits);
        let outcomes = steps.into_iter().map(|step| step(&mut draft)).collect();
        (outcomes, draft.changes())
    }

    fn keep(&self, changes: &Changes) -> Result<(), StoreError> {
        match &self.0.storage {
            Some(storage) => self.0.metrics.commits.count(|| storage.write(changes)),
            None => Ok(()),
        }
    }

    /// Computes a schedule, and returns its anomalies when it is durable. One computation runs at a
    /// time; meanwhile operations can be changed, which the next computation sees.
    ///
    /// # Errors
    /// As of [`change`](Self::change); there are too few priorities; the scheduler is strict, and an
    /// operation may miss its deadline. The last schedule then stays.
    pub(crate) fn compute(
        &self,
        priorities: Priorities,
    ) -> Result<Vec<SchedulingAnomaly>, Refusal> {
        self.check_access()?;
        punctual::about_to_block();
        let _computes = self.0.computes.lock();
        let (state, options) = (self.0.state.read().clone(), *self.0.options.read());
        let request = Request {
            strategy: options.strategy,
            priorities,
            is_strict: options.is_strict,
        };
        let computed = || compute(&state, request);
        let Computed {
            schedule,
            anomalies,
        } = self.0.metrics.computations.count(computed)?;
        if let Some(schedule) = schedule {
            self.change(move |draft| {
                draft.schedule(&schedule.places, schedule.queues);
                Ok(())
            })?;
        }
        Ok(anomalies)
    }
}

/// Returns the refusal of a change whose commit was given up.
fn given_up() -> Refusal {
    Refusal::Storage("the commit has failed".to_owned())
}
