//! Shared code of the tests: a repository that is served, its administrator, and clients of its servers.

use std::path::Path;
use std::time::Duration;

use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, RootPoa};
use punctual_host::Service;
use punctual_imr::implementation_repository::{
    ActivationMode, EnvironmentVariable, Locator, StartupOptions,
};
use punctual_imr::{Limits, LocatorService};
use tempfile::TempDir;

use crate::idl::Works;
use crate::server::{DELAY, FAULT, FOLDER, ID, NAMES, REPOSITORY, SERVER_ID, STARTED};

/// Name of the activator in the repository's process.
pub(crate) const HERE: &str = "here";

/// A repository with an activator in its process, until this is dropped.
pub(crate) struct Served {
    pub(crate) folder: TempDir,
    pub(crate) service: LocatorService,
    orb: Orb,
    /// ORB of the administrator and of clients.
    pub(crate) client: Orb,
    /// The repository as its administrator calls it.
    pub(crate) locator: Locator,
}

impl Served {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// Serves a repository with other limits.
    pub(crate) fn with(change: impl FnOnce(&mut Limits)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let service = LocatorService::in_memory();
        service.set_activator(HERE, false).unwrap();
        let mut limits = Limits::default();
        change(&mut limits);
        service.set_limits(limits);
        Self::serve(folder, service)
    }

    /// Serves a repository at a Unix socket.
    pub(crate) fn serve(folder: TempDir, service: LocatorService) -> Self {
        let socket = socket(folder.path());
        Self::serve_at(folder, service, &[socket])
    }

    /// Serves a repository by one thread, with an activator in its process.
    pub(crate) fn reactive() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let service = LocatorService::in_memory();
        service.set_activator(HERE, false).unwrap();
        let mut socket = socket(folder.path());
        let strategy = ("concurrency".to_owned(), "reactive".to_owned());
        socket.options.extend([strategy]);
        Self::serve_at(folder, service, &[socket])
    }

    /// Serves a repository over TCP, too. A client that is refused at one endpoint tries the other one.
    pub(crate) fn also_over_tcp(service: LocatorService) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let endpoints = [socket(folder.path()), ListenEndpoint::iiop("127.0.0.1", 0)];
        Self::serve_at(folder, service, &endpoints)
    }

    fn serve_at(folder: TempDir, service: LocatorService, endpoints: &[ListenEndpoint]) -> Self {
        let (orb, locator) = served(&service, endpoints);
        let client = client();
        let text = orb.object_to_string(&locator).unwrap();
        let object = client.string_to_object(&text).unwrap();
        Self {
            folder,
            service,
            orb,
            client,
            locator: Locator::from_object(object),
        }
    }

    /// Returns the repository's reference as text.
    pub(crate) fn reference(&self) -> String {
        self.client.object_to_string(&self.locator).unwrap()
    }

    /// Returns the port of the repository's TCP endpoint.
    pub(crate) fn port(&self) -> u16 {
        let endpoints = self.orb.endpoints();
        let tcp = endpoints.iter().find(|one| one.protocol == "iiop");
        tcp.unwrap().port().unwrap()
    }

    /// Makes the repository known by its plain key, as `punctual imr serve` does.
    pub(crate) fn bind_name(&self) {
        let table = self.orb.ior_table().unwrap();
        table.bind("ImplRepoService", &self.locator).unwrap();
    }

    /// Adds a server with the POA of a name.
    pub(crate) fn add(&self, name: &str, change: impl FnOnce(&mut Start)) {
        let mut start = Start::of(name);
        change(&mut start);
        let options = start.options(&self.reference(), self.folder.path());
        self.locator.add_or_update_server(name, &options).unwrap();
    }

    /// Returns the object of a server, whether or not the server runs.
    pub(crate) fn works(&self, name: &str) -> Works {
        works(self.locator.as_object(), "", name)
    }

    /// Returns the numbers of the processes that have been started.
    pub(crate) fn started(&self) -> Vec<i32> {
        started(self.folder.path())
    }

    /// Waits until a condition of the server as the repository knows it holds.
    pub(crate) fn until_running(&self, name: &str, is_running: bool) {
        until(|| self.locator.find(name).unwrap().partial_ior.is_empty() != is_running);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.client.shutdown(true);
        let _ = self.orb.shutdown(true);
        self.service.stop();
        end_started(self.folder.path());
    }
}

/// Options of a server's start.
pub(crate) struct Start {
    pub(crate) names: String,
    pub(crate) id: Option<String>,
    pub(crate) delay: Duration,
    pub(crate) fault: &'static str,
    pub(crate) mode: ActivationMode,
    pub(crate) limit: i32,
    pub(crate) activator: String,
}

impl Start {
    pub(crate) fn of(name: &str) -> Self {
        Self {
            names: name.to_owned(),
            id: None,
            delay: Duration::ZERO,
            fault: "",
            mode: ActivationMode::Normal,
            limit: 0,
            activator: String::new(),
        }
    }

    pub(crate) fn options(&self, repository: &str, folder: &Path) -> StartupOptions {
        let mut environment = vec![
            (REPOSITORY, repository.to_owned()),
            (NAMES, self.names.clone()),
            (FOLDER, folder.display().to_string()),
            (DELAY, self.delay.as_millis().to_string()),
            (FAULT, self.fault.to_owned()),
        ];
        environment.extend(self.id.clone().map(|id| (SERVER_ID, id)));
        let variable = |(name, value): (&str, String)| EnvironmentVariable {
            name: name.to_owned(),
            value,
        };
        let program = std::env::current_exe().unwrap();
        StartupOptions {
            command_line: format!(
                "'{}' --exact server::process_of_a_server --nocapture",
                program.display()
            ),
            environment: environment.into_iter().map(variable).collect(),
            activation: self.mode,
            start_limit: self.limit,
            activator: self.activator.clone(),
            ..StartupOptions::default()
        }
    }
}

/// Serves a repository at endpoints.
pub(crate) fn served(service: &LocatorService, endpoints: &[ListenEndpoint]) -> (Orb, Locator) {
    let builder = Orb::builder().configure(|config| {
        config.collocation = Collocation::None;
        config.listen = endpoints.to_vec();
    });
    let orb = builder.build().unwrap();
    let poa = orb.root_poa().unwrap();
    let object = Service::serve(service, &poa).unwrap();
    poa.manager().activate().unwrap();
    (orb, Locator::from_object(object))
}

/// Returns whether a repository can have processes started by an activator: one of a program that is not there fails by its name.
pub(crate) fn is_activator(locator: &Locator, activator: &str) -> bool {
    let name = "probe";
    let options = StartupOptions {
        command_line: "/no/such/program".to_owned(),
        activator: activator.to_owned(),
        ..StartupOptions::default()
    };
    locator.add_or_update_server(name, &options).unwrap();
    let refused = locator.activate_server(name).unwrap_err().to_string();
    refused.contains("/no/such/program")
}

/// Returns the endpoint of a repository in a folder.
pub(crate) fn socket(folder: &Path) -> ListenEndpoint {
    ListenEndpoint::new("uiop", &folder.join("imr.orb").display().to_string())
}

/// Returns an ORB of clients, which sends requests even to objects in this process.
pub(crate) fn client() -> Orb {
    let builder = Orb::builder().configure(|config| config.collocation = Collocation::None);
    builder.build().unwrap()
}

/// Returns the object of a server at the endpoints of a repository.
pub(crate) fn works(repository: &ObjectRef, id: &str, name: &str) -> Works {
    let key = key(id, name, ID);
    Works::from_object(
        repository
            .with_object_key(&key, Works::REPOSITORY_ID)
            .unwrap(),
    )
}

/// Returns the key of an object of a server.
pub(crate) fn key(id: &str, name: &str, object: &str) -> Vec<u8> {
    punctual::poa::persistent_key(id, &[name], object.as_bytes()).unwrap()
}

/// Returns the numbers of the processes that servers have written into the folder.
pub(crate) fn started(folder: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(folder.join(STARTED)).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Ends the processes of servers that are still there.
pub(crate) fn end_started(folder: &Path) {
    let own = std::env::current_exe().unwrap();
    for pid in started(folder) {
        // Its number may be another process's by now.
        let program = std::fs::read_link(format!("/proc/{pid}/exe"));
        if program.is_ok_and(|program| program == own) {
            kill(pid);
        }
    }
}

/// Ends a process at once.
pub(crate) fn kill(pid: i32) {
    signal(pid, rustix::process::Signal::KILL);
}

pub(crate) fn signal(pid: i32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    let _ = rustix::process::kill_process(pid, signal);
}

/// Waits for a condition.
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        std::thread::sleep(Duration::from_millis(2));
    }
}
