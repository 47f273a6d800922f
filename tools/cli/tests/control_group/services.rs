//! The services, each as a process in a control group of its own.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use punctual_ior::{IiopProfile, Ior};
use rustix::process::{Pid, Signal, kill_process};

use crate::MEMORY;
use crate::client::{Client, Place};
use crate::etcd::{self, Etcd};
use crate::group::Group;
use crate::table::{SERVICES, Service};

/// Returns the services that can be started here, and prints the reason why others are left out.
pub(crate) fn present() -> impl Iterator<Item = &'static Service> {
    let has_etcd = etcd::is_installed();
    SERVICES.iter().filter(move |service| {
        let is_present = has_etcd || !service.needs_etcd();
        if !is_present {
            eprintln!("skipped: {}: {}", service.name, etcd::MISSING);
        }
        is_present
    })
}

/// A service in its control group.
#[derive(Debug)]
pub(crate) struct Served {
    process: Mutex<Child>,
    pub(crate) place: Place,
    pub(crate) service: &'static Service,
    pub(crate) group: Group,
    /// The etcd that the service uses, outside of the control group.
    _etcd: Option<Etcd>,
    _folder: tempfile::TempDir,
}

impl Served {
    /// Starts a service; with `refuses`, it refuses all changes.
    pub(crate) fn start(service: &'static Service, refuses: bool) -> Self {
        Self::listening(service, refuses, "iiop://127.0.0.1:0")
    }

    /// Starts a service that listens at an endpoint of its own.
    pub(crate) fn listening(service: &'static Service, refuses: bool, endpoint: &str) -> Self {
        let group = Group::new("service", MEMORY).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("large.idl"), large_idl()).unwrap();
        std::fs::write(folder.path().join("orb.toml"), "[timeouts]\nreply_ms = 0\n").unwrap();
        let etcd = service.needs_etcd().then(|| Etcd::start().unwrap());
        let etcd_address = etcd.as_ref().map_or("", |etcd| &etcd.at);
        let command = std::env::var("PUNCTUAL_COMMAND");
        let command = command.unwrap_or_else(|_| env!("CARGO_BIN_EXE_punctual").to_owned());
        let arguments = service.arguments.iter().map(|argument| {
            argument
                .replace("{folder}", folder.path().to_str().unwrap())
                .replace("{etcd}", etcd_address)
        });
        let mut process = Command::new("sh")
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(group.processes())
            .arg(command)
            .args(arguments)
            .args(["--listen", endpoint, "--log", "error"])
            .args(["--stop-deadline", "2s", "--config"])
            .arg(folder.path().join("orb.toml"))
            .args(if refuses {
                service.refusing
            } else {
                service.changing
            })
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut reference = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut reference).unwrap();
        let served = Self {
            place: place_of(reference.trim()),
            process: Mutex::new(process),
            service,
            group,
            _etcd: etcd,
            _folder: folder,
        };
        if !refuses {
            (service.prepare)(&served.place);
        }
        served
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.process.lock().unwrap().try_wait().unwrap().is_none()
    }

    /// Sends SIGTERM, and returns how the process ends, and after which time.
    pub(crate) fn terminate(&self) -> (ExitStatus, Duration) {
        let mut process = self.process.lock().unwrap();
        let begun = Instant::now();
        let id = Pid::from_child(&process);
        kill_process(id, Signal::TERM).unwrap();
        (process.wait().unwrap(), begun.elapsed())
    }

    /// Returns how the process has ended, for people.
    pub(crate) fn end(&self) -> String {
        match self.process.lock().unwrap().try_wait().unwrap() {
            Some(status) => format!("it ended with {status}"),
            None => "it is there, and does not answer".to_owned(),
        }
    }

    /// Makes a short call; returns `true` if it is answered.
    pub(crate) fn call(&self) -> bool {
        Client::new(&self.place)
            .and_then(|mut client| client.call("_non_existent", |_| {}))
            .is_ok()
    }

    /// Makes short calls from now on, from another address of this host.
    pub(crate) fn call_meanwhile(&self) -> Others {
        let ends = Arc::new(AtomicBool::new(false));
        let (place, ending) = (self.place.clone(), ends.clone());
        let calls = std::thread::spawn(move || {
            let mut calls = Calls::default();
            let mut client = None;
            while !ending.load(Ordering::Relaxed) {
                let begun = Instant::now();
                let open = match client.take() {
                    Some(open) => Ok(open),
                    None => Client::from_elsewhere(&place),
                };
                let called = open.and_then(|mut open| {
                    open.call("_non_existent", |_| {})?;
                    Ok(open)
                });
                calls.longest = calls.longest.max(begun.elapsed());
                match called {
                    Ok(open) => {
                        calls.count += 1;
                        client = Some(open);
                    }
                    Err(_) => calls.failed += 1,
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            calls
        });
        Others { ends, calls }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let mut process = self.process.lock().unwrap();
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// Well-behaved clients during an attack.
#[derive(Debug)]
pub(crate) struct Others {
    ends: Arc<AtomicBool>,
    calls: JoinHandle<Calls>,
}

impl Others {
    pub(crate) fn end(self) -> Calls {
        self.ends.store(true, Ordering::Relaxed);
        self.calls.join().unwrap()
    }
}

/// Calls of well-behaved clients.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) count: u32,
    failed: u32,
    longest: Duration,
}

impl fmt::Display for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            count,
            failed,
            longest,
        } = self;
        write!(
            f,
            "{count} calls, {failed} failed, the longest took {longest:.1?}"
        )
    }
}

/// Returns IDL that is described at great length.
fn large_idl() -> String {
    let labels: Vec<String> = (0..20_000).map(|label| format!("e{label}")).collect();
    let uses = (0..100).map(|number| format!("typedef E T{number};\n"));
    format!(
        "enum E {{ {} }};\n{}",
        labels.join(", "),
        uses.collect::<String>()
    )
}

fn place_of(reference: &str) -> Place {
    let ior: Ior = reference.parse().unwrap();
    let profile = IiopProfile::decode(&ior.profiles[0].data).unwrap();
    Place {
        address: SocketAddr::from(([127, 0, 0, 1], profile.port)),
        key: profile.object_key.into(),
    }
}
