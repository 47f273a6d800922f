//! Processes of the example, and the JSON of the manager's page.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Time after which something that has to happen counts as not happening.
const LIMIT: Duration = Duration::from_secs(120);

/// Returns a port that stays free, as no other program and no other test uses this address of the loopback interface.
pub(crate) fn place(host: &str) -> (&str, u16) {
    let free = TcpListener::bind((host, 0)).unwrap();
    (host, free.local_addr().unwrap().port())
}

/// Runs `alarm-element`.
pub(crate) fn element(factory: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alarm-element"));
    command.arg(factory).args(arguments).output().unwrap()
}

/// Runs `alarm-element`, which has to succeed.
pub(crate) fn pushes(factory: &str, arguments: &[&str]) {
    let output = element(factory, arguments);
    assert!(output.status.success(), "{output:?}");
}

/// Runs `alarm-manager` to its end, with a page at a free port unless the arguments name one.
pub(crate) fn managed(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alarm-manager"));
    if !arguments.contains(&"--web") {
        command.args(["--web", "127.0.0.1:0"]);
    }
    command.args(arguments).output().unwrap()
}

/// `alarm-manager`, which is killed when this is dropped.
pub(crate) struct Manager {
    process: Child,
    address: String,
    lines: Receiver<String>,
}

impl Manager {
    /// Starts it, and waits until it is connected.
    pub(crate) fn start(factory: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alarm-manager"));
        command.arg(factory).args(["--web", "127.0.0.1:0"]);
        let started = command.args(arguments).stdout(Stdio::piped()).spawn();
        let mut process = started.unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (told, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = told.send(line);
            }
        });
        let mut manager = Self {
            process,
            address: String::new(),
            lines,
        };
        let page = manager.says("page at http://");
        page.strip_suffix("/alarms")
            .unwrap()
            .clone_into(&mut manager.address);
        manager.says("connected");
        manager
    }

    /// Waits for a line that begins with a text, and returns its rest.
    pub(crate) fn says(&self, begin: &str) -> String {
        let until = Instant::now() + LIMIT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("no line begins with `{begin}`"));
            if let Some(rest) = line.strip_prefix(begin) {
                return rest.to_owned();
            }
        }
    }

    /// Requests a path of the page, and returns the reply.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut peer = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        peer.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        peer.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        reply
    }

    pub(crate) fn json(&self) -> Value {
        let reply = self.get("/alarms.json");
        let (_, body) = reply.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }

    /// Waits until something holds for the JSON, and returns it.
    pub(crate) fn until(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + LIMIT;
        loop {
            let json = self.json();
            if holds(&json) {
                return json;
            }
            assert!(Instant::now() < until, "{what}: {json}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the end of the process, and returns its exit status.
    pub(crate) fn ended(mut self) -> Option<i32> {
        self.process.wait().unwrap().code()
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns object, cause and severity of each alarm, sorted.
pub(crate) fn alarms(json: &Value) -> Vec<[String; 3]> {
    let one = |alarm: &Value| {
        ["object", "cause", "severity"].map(|name| alarm[name].as_str().unwrap().to_owned())
    };
    let mut all: Vec<_> = json["alarms"].as_array().unwrap().iter().map(one).collect();
    all.sort();
    all
}
