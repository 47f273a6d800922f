//! An etcd of one member, outside of the control group.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Process of etcd, killed on drop.
#[derive(Debug)]
pub(crate) struct Etcd {
    process: Child,
    /// Address for clients.
    pub(crate) at: String,
}

/// Returns whether etcd is installed.
pub(crate) fn is_installed() -> bool {
    Command::new("etcd").arg("--version").output().is_ok()
}

impl Etcd {
    /// Starts etcd with its data in a folder, and waits until it is healthy.
    pub(crate) fn start(folder: &Path) -> Self {
        // Held until both are known, so that they differ.
        let held = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [at, peer] = held.map(|one| one.local_addr().unwrap().to_string());
        let (client_url, peer_url) = (format!("http://{at}"), format!("http://{peer}"));
        let process = Command::new("etcd")
            .arg("--data-dir")
            .arg(folder.join("etcd"))
            .args(["--listen-client-urls", &client_url])
            .args(["--advertise-client-urls", &client_url])
            .args(["--listen-peer-urls", &peer_url])
            .args(["--initial-advertise-peer-urls", &peer_url])
            .args(["--initial-cluster", &format!("default={peer_url}")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let etcd = Self { process, at };
        while !etcd.is_healthy().unwrap_or(false) {
            std::thread::sleep(Duration::from_millis(10));
        }
        etcd
    }

    fn is_healthy(&self) -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(&self.at)?;
        stream.write_all(b"GET /health HTTP/1.0\r\n\r\n")?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        Ok(reply.contains(r#""health":"true""#))
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
