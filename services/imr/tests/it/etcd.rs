//! Repositories that share a cluster of one: in this process, or processes of their own that can be killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, RootPoa};
use punctual_host::Service;
use punctual_imr::implementation_repository::Locator;
use punctual_imr::{Access, ActivatorService, ClientOptions, EtcdOptions, Limits, LocatorService};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::etcd_member::{Etcd, address, client_of};
use crate::support::{Start, client, served, signal};

/// Variables that say what a repository of a process of its own has.
const ETCD: &str = "IMR_TEST_ETCD";
const PLACE: &str = "IMR_TEST_PLACE";

/// Who may change repositories and have activators start processes in these tests.
const WHO: &str = "127.0.0.0/8";

fn options(client: ClientOptions) -> EtcdOptions {
    EtcdOptions {
        client,
        prefix: "/test".to_owned(),
        lease: Duration::from_secs(1),
    }
}

/// Serves a repository of a cluster at a place, as `host:port`.
fn serve(
    etcd: ClientOptions,
    place: &str,
    change: impl FnOnce(&mut Limits),
) -> (LocatorService, Orb, Locator) {
    let service = LocatorService::in_etcd(&options(etcd)).unwrap();
    let mut limits = Limits::default();
    change(&mut limits);
    service.set_limits(limits);
    service.set_access(Access::of(&[WHO.to_owned()], &[]).unwrap());
    let (orb, locator) = served(&service, &[ListenEndpoint::new("iiop", place)]);
    // As `punctual imr serve` does.
    let table = orb.ior_table().unwrap();
    table.bind("ImplRepoService", &locator).unwrap();
    (service, orb, locator)
}

/// A repository in this process, until this is dropped.
pub(crate) struct Here {
    pub(crate) service: LocatorService,
    orb: Orb,
}

impl Drop for Here {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

/// A repository that is a process of its own, until this is dropped.
pub(crate) struct Apart(Child);

impl Apart {
    pub(crate) fn signal(&self, which: Signal) {
        signal(i32::try_from(self.0.id()).unwrap(), which);
    }

    /// Kills the process, and waits for its end.
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        self.kill();
    }
}

/// An activator, until this is dropped.
pub(crate) struct Activating {
    service: ActivatorService,
    orb: Orb,
}

impl Drop for Activating {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

/// Two repositories that share a cluster, by the places at which they are called, and what calls them.
pub(crate) struct Two {
    pub(crate) etcd: Etcd,
    places: [String; 2],
    pub(crate) client: Orb,
    pub(crate) folder: TempDir,
}

impl Two {
    /// Starts a cluster for them; `None` if etcd is not installed.
    pub(crate) fn start() -> Option<Self> {
        Some(Self {
            etcd: Etcd::start()?,
            places: [address(), address()],
            client: client(),
            folder: tempfile::tempdir().unwrap(),
        })
    }

    /// Returns the reference of both, or of one, as text.
    pub(crate) fn reference(&self, which: &[usize]) -> String {
        let address = |which: &usize| format!("iiop:1.2@{}", self.places[*which]);
        let addresses: Vec<String> = which.iter().map(address).collect();
        format!("corbaloc:{}/ImplRepoService", addresses.join(","))
    }

    pub(crate) fn object(&self, which: &[usize]) -> ObjectRef {
        self.client
            .string_to_object(&self.reference(which))
            .unwrap()
    }

    /// Returns one of the two, as its administrator calls it.
    pub(crate) fn locator(&self, which: usize) -> Locator {
        Locator::from_object(self.object(&[which]))
    }

    pub(crate) fn here(&self, which: usize) -> Here {
        self.here_with(which, |_| {})
    }

    pub(crate) fn here_with(&self, which: usize, change: impl FnOnce(&mut Limits)) -> Here {
        let (service, orb, _) = serve(self.etcd.client(), &self.places[which], change);
        Here { service, orb }
    }

    /// Starts one of them as a process of its own, and waits until it serves.
    pub(crate) fn apart(&self, which: usize) -> Apart {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "etcd::process_of_a_repository", "--nocapture"])
            .env(ETCD, &self.etcd.address)
            .env(PLACE, &self.places[which])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut lines = output.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.ends_with("it serves")));
        Apart(process)
    }

    /// Starts an activator that registers with whichever it reaches, and waits until both know it.
    pub(crate) fn activating(&self) -> Activating {
        let reference = self.reference(&[0, 1]);
        let service = ActivatorService::new("desk", Some(reference), false).unwrap();
        service.set_allowed(Access::of(&[WHO.to_owned()], &[]).unwrap().administrators);
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        service.serve(&poa).unwrap();
        poa.manager().activate().unwrap();
        Activating { service, orb }
    }

    /// Adds a server at one of the two, and waits until the other one knows it.
    pub(crate) fn add(&self, which: usize, name: &str, change: impl FnOnce(&mut Start)) {
        let mut start = Start::of(name);
        start.activator = "desk".to_owned();
        change(&mut start);
        // It registers with the second one if that is there.
        let options = start.options(&self.reference(&[1, 0]), self.folder.path());
        let locator = self.locator(which);
        locator.add_or_update_server(name, &options).unwrap();
    }

    pub(crate) fn started(&self) -> Vec<i32> {
        crate::support::started(self.folder.path())
    }
}

impl Drop for Two {
    fn drop(&mut self) {
        let _ = self.client.shutdown(true);
        crate::support::end_started(self.folder.path());
    }
}

/// A repository, when this program was started to be one.
#[test]
fn process_of_a_repository() {
    let (Ok(address), Ok(place)) = (std::env::var(ETCD), std::env::var(PLACE)) else {
        return;
    };
    let (_service, orb, _) = serve(client_of(&address), &place, |_| {});
    println!("it serves");
    orb.run();
}

/// Returns whether a file of a folder has appeared.
pub(crate) fn has(folder: &Path, name: &str) -> bool {
    folder.join(name).exists()
}
