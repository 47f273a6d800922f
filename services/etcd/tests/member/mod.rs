//! A cluster of etcd with one member, for tests of services that share what they have by it.
//!
//! Tests are skipped, with the reason printed, where `etcd` is not installed.

use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use data_encoding::BASE64;
use punctual_etcd::{Client, ClientOptions};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

/// The member, until this is dropped.
#[derive(Debug)]
pub(crate) struct Etcd {
    process: Child,
    /// `host:port` at which clients call it.
    pub(crate) address: String,
    _folder: TempDir,
}

/// Returns the address of this process's servers: each process has one of its own in 127.64.0.0/10, so that a port stays
/// its server's also while that one is away. Ports that the kernel chose could be taken by others meanwhile.
fn host() -> Ipv4Addr {
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, 64 | high, middle, low)
}

/// Returns an address, as `host:port`, that no other server has.
pub(crate) fn address() -> String {
    // Below those that the kernel chooses for connections.
    static PORT: AtomicU16 = AtomicU16::new(12_379);
    format!("{}:{}", host(), PORT.fetch_add(1, Ordering::Relaxed))
}

/// Returns how clients call the member at an address.
pub(crate) fn client_of(address: &str) -> ClientOptions {
    ClientOptions {
        endpoints: vec![address.to_owned()],
        patience: Duration::from_secs(5),
        tls: None,
        user: None,
    }
}

impl Etcd {
    /// Starts it; `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let address = address();
        let (url, peer) = (
            format!("http://{address}"),
            format!("http://{}", self::address()),
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
        let mut etcd = Self {
            process,
            address,
            _folder: folder,
        };
        let client = Client::new(&etcd.client()).unwrap();
        // It answers when it has a leader.
        let range = json!({ "key": BASE64.encode(b"any") });
        while client.call("/v3/kv/range", &range).is_err() {
            let ended = etcd.process.try_wait().unwrap();
            assert!(ended.is_none(), "etcd has ended: {ended:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
        Some(etcd)
    }

    /// Returns how clients call it.
    pub(crate) fn client(&self) -> ClientOptions {
        client_of(&self.address)
    }

    pub(crate) fn signal(&self, which: Signal) {
        let pid = i32::try_from(self.process.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), which).unwrap();
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
