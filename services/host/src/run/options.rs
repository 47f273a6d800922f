//! Options with which a service is run.

use std::any::Any;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use punctual::Orb;
use signal_hook::iterator::Signals;

use super::listen::{ending_signals, signal_flag};
use crate::Problem;
use crate::log::Level;
use crate::publish::Registry;
use crate::settings::{
    BIND_NAME, CONFIG, Key, LOG, STATUS, STOP_DEADLINE, Values, WRITE_REFERENCE,
};

/// Part of the process that runs beside the service, such as a page of the console: it is started
/// when the service is served, and dropped before the ORB is shut down.
pub type Companion<S> = Box<dyn FnOnce(&Arc<S>, &Orb) -> Result<Box<dyn Any>, Problem> + Send>;

/// Event that ends the run of a service: a signal or a message.
pub(super) enum Ending {
    /// Signals, with a flag that states whether one has come.
    Signal(Signals, Arc<AtomicBool>),
    Message(Receiver<()>),
}

/// Options with which [`run`](super::run) runs a service.
pub struct RunOptions<S> {
    pub(super) ending: Ending,
    pub(super) listen: Vec<String>,
    pub(super) config: Option<PathBuf>,
    pub(super) orb_options: Vec<String>,
    pub(super) status: Option<String>,
    pub(super) write_reference: Option<PathBuf>,
    pub(super) name: Option<String>,
    pub(super) registry: Option<Box<dyn Registry>>,
    pub(super) level: Level,
    pub(super) stop_deadline: Duration,
    pub(super) companions: Vec<Companion<S>>,
}

impl<S> fmt::Debug for RunOptions<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("listen", &self.listen)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl<S> RunOptions<S> {
    /// Creates the options from a service's settings. SIGINT or SIGTERM end the run; from this call
    /// on, they no longer end the process at once.
    ///
    /// # Errors
    /// The system handles no signals.
    pub fn of(values: &Values, listen: &Key<Vec<String>>) -> Result<Self, Problem> {
        Ok(Self {
            ending: Ending::Signal(ending_signals()?, signal_flag()?),
            listen: values.get(listen),
            config: values.get(&CONFIG),
            orb_options: Vec::new(),
            status: values.get(&STATUS),
            write_reference: values.get(&WRITE_REFERENCE),
            name: values.get(&BIND_NAME),
            registry: None,
            level: Level::from_name(&values.get(&LOG)).unwrap_or_default(),
            stop_deadline: values.get(&STOP_DEADLINE),
            companions: Vec::new(),
        })
    }

    /// Sets options of the ORB, `-ORB…` and the following value, which override the configuration file.
    #[must_use]
    pub fn with_orb_options(mut self, options: &[String]) -> Self {
        self.orb_options = options.to_vec();
        self
    }

    /// Ends the run when `ended` receives a message or its sender is dropped, and no longer when
    /// the process receives a signal.
    #[must_use]
    pub fn until(mut self, ended: Receiver<()>) -> Self {
        self.ending = Ending::Message(ended);
        self
    }

    /// Sets the Naming Service in which the service's name is bound, if the settings have one.
    #[must_use]
    pub fn registered_in(mut self, registry: impl Registry + 'static) -> Self {
        self.registry = Some(Box::new(registry));
        self
    }

    /// Adds a part of the process that is started when the service is served.
    #[must_use]
    pub fn with_companion(mut self, companion: Companion<S>) -> Self {
        self.companions.push(companion);
        self
    }
}

impl Ending {
    /// Blocks until the event that ends the run of the service.
    pub(super) fn wait(&mut self) {
        match self {
            Ending::Signal(signals, _) => {
                signals.forever().next();
            }
            // A sender that is dropped ends the run, too.
            Ending::Message(ended) => ended.recv().unwrap_or_default(),
        }
    }

    /// Returns the flag that is set when a signal has come that ends the run.
    pub(super) fn flag(&self) -> Option<Arc<AtomicBool>> {
        match self {
            Ending::Signal(_, flag) => Some(flag.clone()),
            Ending::Message(_) => None,
        }
    }

    /// Returns whether the event has come, at once. Then it does not come again.
    pub(super) fn has_come(&mut self) -> bool {
        match self {
            Ending::Signal(signals, _) => signals.pending().next().is_some(),
            Ending::Message(ended) => !matches!(ended.try_recv(), Err(TryRecvError::Empty)),
        }
    }
}
