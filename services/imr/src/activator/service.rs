//! An activator as a service process runs it.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use punctual::{Interface, ObjectRef, Poa, SystemException, SystemExceptionKind};
use punctual_exec::thread::JoinHandle;
use punctual_host::access::Rules;
use punctual_host::metrics::Exposition;
use punctual_host::{ServeError, Service};

use super::link::Link;
use super::processes::Processes;
use super::servant::{End, Starter};
use crate::access::Access;
use crate::implementation_repository::ActivatorExt;

/// An activator: it starts processes of this host for an Implementation Repository.
pub struct ActivatorService {
    name: String,
    processes: Processes,
    link: Arc<Link>,
    /// Reference of the repository as text; without it, the ORB's initial reference.
    locator: Option<String>,
    allowed: Mutex<Rules<()>>,
    end: Mutex<Option<End>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for ActivatorService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActivatorService")
            .field("name", &self.name)
            .field("processes", &self.processes)
            .finish_non_exhaustive()
    }
}

impl ActivatorService {
    /// Makes an activator that registers under a name with a repository, given as text; without it, with the ORB's initial
    /// reference. With `by_shell`, command lines are run by `/bin/sh`.
    ///
    /// # Errors
    /// The thread that waits for the ends of processes cannot be started.
    pub fn new(name: &str, locator: Option<String>, by_shell: bool) -> std::io::Result<Self> {
        let link = Arc::new(Link::default());
        let told = link.clone();
        let processes = Processes::new(by_shell, move |name, pid| told.ended(name, pid))?;
        Ok(Self {
            name: name.to_owned(),
            processes,
            link,
            locator,
            allowed: Mutex::new(Access::default().administrators),
            end: Mutex::new(None),
            thread: Mutex::new(None),
        })
    }

    /// Sets who may start and end processes. Takes effect when it is served. Default: who runs as the user of the activator and
    /// comes by a Unix socket.
    pub fn set_allowed(&self, allowed: Rules<()>) {
        *self.allowed.lock() = allowed;
    }

    /// Sets what ends the process of the activator, when the repository asks for that. Takes effect when it is served.
    pub fn set_end(&self, end: impl Fn() + Send + Sync + 'static) {
        *self.end.lock() = Some(Arc::new(end));
    }

    /// Activates the object of the activator, and begins to register it.
    fn activate(&self, parent: &Poa) -> Result<ObjectRef, SystemException> {
        let orb = parent.orb();
        let locator = match &self.locator {
            Some(text) => orb.string_to_object(text)?,
            None => orb.resolve_initial_references("ImplRepoService")?,
        };
        let text = orb.object_to_string(&locator)?;
        self.processes.set_repository(&self.name, text);
        self.processes
            .take_over(|server, pid| self.link.started(server, pid));
        let starter = Starter {
            processes: self.processes.clone(),
            allowed: self.allowed.lock().clone(),
            link: self.link.clone(),
            end: self.end.lock().clone(),
        };
        let activator: ActivatorExt = parent.activate(starter)?;
        let object = activator.as_object().clone();
        let thread = self
            .link
            .start(&self.name, &object, &locator, self.processes.clone())
            .map_err(|error| {
                SystemExceptionKind::NoResources.because(format!("no thread for the link: {error}"))
            })?;
        *self.thread.lock() = Some(thread);
        Ok(object)
    }
}

impl Service for ActivatorService {
    const NAME: &'static str = "imr_activator";
    const INITIAL_REFERENCE: &'static str = "ImplRepoActivator";

    fn summary(&self) -> Option<String> {
        Some(format!("activator `{}`", self.name))
    }

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        self.activate(parent).map_err(ServeError::of::<Self>)
    }

    fn metrics(&self, out: &mut Exposition) {
        let running = self.processes.running();
        out.gauge("processes", "Processes that run.", running as u64);
    }

    fn end_waiting(&self) {
        // While calls can be made.
        self.link.stop();
        if let Some(thread) = self.thread.lock().take() {
            let _ = thread.join();
        }
    }

    fn stop(&self) {
        self.processes.stop();
    }
}
