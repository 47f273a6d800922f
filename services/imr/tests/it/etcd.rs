//! A cluster of one, and repositories that share it: in this process, or processes of their own that can be killed.
//!
//! Tests are skipped, with the reason printed, where `etcd` is not installed.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use data_encoding::BASE64;
use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, RootPoa};
use punctual_etcd::Client;
use punctual_host::Service;
use punctual_imr::implementation_repository::Locator;
use punctual_imr::{Access, ActivatorService, ClientOptions, EtcdOptions, Limits, LocatorService};
use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{Start, client, served, signal, until};

/// Variables that say what a repository of a process of its own has.
const ETCD: &str = "IMR_TEST_ETCD";
const PORT: &str = "IMR_TEST_PORT";

/// Who may change repositories and have activators start processes in these tests.
const WHO: &str = "127.0.0.0/8";

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A member of a cluster of one, until this is dropped.
pub(crate) struct Etcd {
    process: Child,
    pub(crate) address: String,
    _folder: TempDir,
}

impl Etcd {
    /// Starts etcd; `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("127.0.0.1:{}", free_port());
        let (url, peer) = (
            format!("http://{address}"),
            format!("http://127.0.0.1:{}", free_port()),
        );
        let mut command = Command::new("etcd");
        let cluster = format!("default={peer}");
        for (option, value) in [
            ("--data-dir", &*folder.path().display().to_string()),
            ("--listen-client-urls", &url),
            ("--advertise-client-urls", &url),
            ("--listen-peer-urls", &peer),
            ("--initial-advertise-peer-urls", &peer),
            ("--initial-cluster", &cluster),
        ] {
            command.args([option, value]);
        }
        command.stdin(Stdio::null());
        let Ok(process) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
            println!("skipped: etcd is not installed");
            return None;
        };
        let etcd = Self {
            process,
            address,
            _folder: folder,
        };
        let client = Client::new(&options(&etcd.address).client).unwrap();
        // It answers when it has a leader.
        let range = json!({ "key": BASE64.encode(b"any") });
        until(|| client.call("/v3/kv/range", &range).is_ok());
        Some(etcd)
    }

    pub(crate) fn signal(&self, which: Signal) {
        signal(i32::try_from(self.process.id()).unwrap(), which);
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn options(address: &str) -> EtcdOptions {
    EtcdOptions {
        client: ClientOptions {
            endpoints: vec![address.to_owned()],
            patience: Duration::from_secs(5),
            tls: None,
            user: None,
        },
        prefix: "/test".to_owned(),
        lease: Duration::from_secs(1),
    }
}

/// Serves a repository of a cluster.
fn serve(
    address: &str,
    port: u16,
    change: impl FnOnce(&mut Limits),
) -> (LocatorService, Orb, Locator) {
    let service = LocatorService::in_etcd(&options(address)).unwrap();
    let mut limits = Limits::default();
    change(&mut limits);
    service.set_limits(limits);
    service.set_access(Access::of(&[WHO.to_owned()], &[]).unwrap());
    let (orb, locator) = served(&service, &[ListenEndpoint::iiop("127.0.0.1", port)]);
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

/// Two repositories that share a cluster, by the ports at which they are called, and what calls them.
pub(crate) struct Two {
    pub(crate) etcd: Etcd,
    pub(crate) ports: [u16; 2],
    pub(crate) client: Orb,
    pub(crate) folder: TempDir,
}

impl Two {
    /// Starts a cluster for them; `None` if etcd is not installed.
    pub(crate) fn start() -> Option<Self> {
        Some(Self {
            etcd: Etcd::start()?,
            ports: [free_port(), free_port()],
            client: client(),
            folder: tempfile::tempdir().unwrap(),
        })
    }

    /// Returns the reference of both, or of one, as text.
    pub(crate) fn reference(&self, which: &[usize]) -> String {
        let address = |which: &usize| format!("iiop:1.2@127.0.0.1:{}", self.ports[*which]);
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
        let (service, orb, _) = serve(&self.etcd.address, self.ports[which], change);
        Here { service, orb }
    }

    /// Starts one of them as a process of its own, and waits until it serves.
    pub(crate) fn apart(&self, which: usize) -> Apart {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "etcd::process_of_a_repository", "--nocapture"])
            .env(ETCD, &self.etcd.address)
            .env(PORT, self.ports[which].to_string())
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
    let (Ok(address), Ok(port)) = (std::env::var(ETCD), std::env::var(PORT)) else {
        return;
    };
    let (_service, orb, _) = serve(&address, port.parse().unwrap(), |_| {});
    println!("it serves");
    orb.run();
}

/// Returns whether a file of a folder has appeared.
pub(crate) fn has(folder: &Path, name: &str) -> bool {
    folder.join(name).exists()
}
