//! Members of etcd clusters.

#![allow(dead_code, reason = "no test program uses all of it")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::Process;

/// Reason for skipping a test that needs etcd.
pub(crate) const MISSING: &str = "etcd is not installed (Debian's etcd-server)";

/// Returns whether etcd is installed.
pub(crate) fn is_installed() -> bool {
    Command::new("etcd").arg("--version").output().is_ok()
}

/// A member of an etcd cluster, usually of one member.
#[derive(Debug)]
pub(crate) struct Etcd {
    pub(crate) process: Process,
    pub(crate) at: String,
    launch: Launch,
    folder: tempfile::TempDir,
}

/// Options for starting a member.
#[derive(Debug)]
struct Launch {
    name: String,
    scheme: &'static str,
    at: String,
    peer: String,
    /// Address at which the member reports its health by HTTP, separate from the address for
    /// clients.
    health: String,
    cluster: String,
    options: Vec<String>,
}

impl Launch {
    fn new(host: &str, name: &str, scheme: &'static str, options: &[&str]) -> Self {
        // Held until all are known, so that they differ.
        let held = [(); 3].map(|()| TcpListener::bind((host, 0)).unwrap());
        let [at, peer, health] = held.map(|one| one.local_addr().unwrap().to_string());
        Self {
            cluster: format!("{name}=http://{peer}"),
            name: name.to_owned(),
            options: options.iter().map(|&option| option.to_owned()).collect(),
            scheme,
            at,
            peer,
            health,
        }
    }

    fn launched(&self, data: &Path) -> Process {
        let (url, peer) = (
            format!("{}://{}", self.scheme, self.at),
            format!("http://{}", self.peer),
        );
        let mut command = Command::new("etcd");
        command.arg("--data-dir").arg(data);
        command.args(["--name", &self.name]);
        command.args(["--listen-client-urls", &url]);
        command.args(["--advertise-client-urls", &url]);
        command.args(["--listen-peer-urls", &peer]);
        command.args(["--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &self.cluster]);
        command.args(["--listen-metrics-urls", &format!("http://{}", self.health)]);
        command.args(&self.options);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Process(process.unwrap())
    }
}

impl Etcd {
    /// Starts a single member; returns `None` if etcd is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_at("127.0.0.1")
    }

    pub(crate) fn start_at(host: &str) -> Option<Self> {
        let etcd = Self::begun(Launch::new(host, "default", "http", &[]))?;
        etcd.wait();
        Some(etcd)
    }

    /// Starts a member that clients reach by this scheme, with more options.
    pub(crate) fn start_with(scheme: &'static str, options: &[&str]) -> Option<Self> {
        let etcd = Self::begun(Launch::new("127.0.0.1", "default", scheme, options))?;
        etcd.wait();
        Some(etcd)
    }

    /// Starts a cluster of `count` members.
    pub(crate) fn cluster(count: usize) -> Option<Vec<Self>> {
        let launch = |at| Launch::new("127.0.0.1", &format!("member{at}"), "http", &[]);
        let mut members: Vec<Launch> = (0..count).map(launch).collect();
        let all: Vec<String> = members.iter().map(|one| one.cluster.clone()).collect();
        for member in &mut members {
            member.cluster = all.join(",");
        }
        let members: Option<Vec<Self>> = members.into_iter().map(Self::begun).collect();
        // Each is healthy once there is a majority.
        members.as_ref()?.iter().for_each(Self::wait);
        members
    }

    fn begun(launch: Launch) -> Option<Self> {
        if !is_installed() {
            println!("skipped: {MISSING}");
            return None;
        }
        // No test here concerns the disk.
        let memory = Some(Path::new("/dev/shm")).filter(|memory| memory.is_dir());
        let folder = match memory {
            Some(memory) => tempfile::tempdir_in(memory).unwrap(),
            None => tempfile::tempdir().unwrap(),
        };
        Some(Self {
            process: launch.launched(&folder.path().join("data")),
            at: launch.at.clone(),
            launch,
            folder,
        })
    }

    /// Kills the member, calls `meanwhile` with its data folder, and restarts it with the folder
    /// `data` below that.
    pub(crate) fn restart(&mut self, data: &str, meanwhile: impl FnOnce(&Path)) {
        self.process.signal("-KILL");
        self.process.0.wait().unwrap();
        meanwhile(self.folder.path());
        self.process = self.launch.launched(&self.folder.path().join(data));
        self.wait();
    }

    fn wait(&self) {
        while !self.is_healthy() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn is_healthy(&self) -> bool {
        let reply = asked(&self.launch.health, "GET /health HTTP/1.0\r\n\r\n");
        reply.is_ok_and(|reply| reply.contains(r#""health":"true""#))
    }

    /// Posts JSON to the member by unencrypted HTTP; returns the reply, including its head.
    pub(crate) fn post(&self, path: &str, body: &str) -> String {
        let length = body.len();
        let request = format!("POST {path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}");
        asked(&self.at, &request).unwrap()
    }

    /// Compacts etcd: removes all earlier revisions.
    pub(crate) fn compact(&self) {
        let reply = self.post("/v3/kv/range", r#"{"key":"AA=="}"#);
        let (_, revision) = reply.split_once(r#""revision":""#).unwrap();
        let (revision, _) = revision.split_once('"').unwrap();
        let compact = format!(r#"{{"revision":"{revision}","physical":true}}"#);
        let reply = self.post("/v3/kv/compaction", &compact);
        assert!(reply.contains("200 OK"), "{reply}");
    }
}

fn asked(address: &str, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(request.as_bytes())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    Ok(reply)
}
