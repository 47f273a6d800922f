//! etcd, naming servers over it, and a host that can be cut off.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use punctual::{Interface, ObjectRef, Orb};
use punctual_naming::cos_naming::{NameComponent, NamingContext, NamingContextUnbindError};

/// A process that ends with this.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An etcd of one member.
pub(crate) struct Etcd {
    pub(crate) process: Process,
    pub(crate) at: String,
    _folder: tempfile::TempDir,
}

impl Etcd {
    /// Starts it; nothing where there is none.
    pub(crate) fn start() -> Option<Self> {
        Self::start_at("127.0.0.1")
    }

    pub(crate) fn start_at(host: &str) -> Option<Self> {
        if Command::new("etcd").arg("--version").output().is_err() {
            println!("skipped: etcd is not installed (Debian's etcd-server)");
            return None;
        }
        // No test here is of the disk.
        let memory = Some(std::path::Path::new("/dev/shm")).filter(|memory| memory.is_dir());
        let folder = match memory {
            Some(memory) => tempfile::tempdir_in(memory).unwrap(),
            None => tempfile::tempdir().unwrap(),
        };
        let free = || TcpListener::bind((host, 0)).unwrap().local_addr().unwrap();
        let (at, peer) = (free().to_string(), free().to_string());
        let (url, peer) = (format!("http://{at}"), format!("http://{peer}"));
        let mut command = Command::new("etcd");
        command.arg("--data-dir").arg(folder.path());
        command.args([
            "--listen-client-urls",
            &url,
            "--advertise-client-urls",
            &url,
        ]);
        command.args([
            "--listen-peer-urls",
            &peer,
            "--initial-advertise-peer-urls",
            &peer,
        ]);
        command.args(["--initial-cluster", &format!("default={peer}")]);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let etcd = Self {
            process: Process(process.unwrap()),
            at,
            _folder: folder,
        };
        while !etcd.is_healthy() {
            std::thread::yield_now();
        }
        Some(etcd)
    }

    pub(crate) fn is_healthy(&self) -> bool {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(&self.at)?;
            stream.write_all(b"GET /health HTTP/1.0\r\n\r\n")?;
            let mut reply = String::new();
            stream.read_to_string(&mut reply)?;
            Ok(reply)
        };
        ask().is_ok_and(|reply| reply.contains(r#""health":"true""#))
    }
}

/// A naming server over it, and its root context.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) root: NamingContext,
}

impl Server {
    pub(crate) fn start(orb: &Orb, etcd: &Etcd, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(["naming", "serve", "--listen", "iiop://127.0.0.1:0"]);
        command.args(["--etcd", &etcd.at]).args(options);
        Self::started(orb, command)
    }

    /// By a command that prints the root context's reference.
    pub(crate) fn started(orb: &Orb, mut command: Command) -> Self {
        command.stdout(Stdio::piped());
        let mut process = Process(command.spawn().unwrap());
        let mut reference = String::new();
        let mut output = BufReader::new(process.0.stdout.take().unwrap());
        output.read_line(&mut reference).unwrap();
        let root = orb.string_to_object(reference.trim()).unwrap();
        let root = NamingContext::from_object(root);
        Self { process, root }
    }

    /// The names of the root, as all servers have them now.
    pub(crate) fn listed(&self) -> Vec<String> {
        // What is refused has been looked for in all that was acknowledged by anybody.
        let missing = self.root.unbind(&name("nothing is bound so"));
        assert!(
            matches!(missing, Err(NamingContextUnbindError::NotFound(_))),
            "{missing:?}"
        );
        let (listed, _) = self.root.list(1000).unwrap();
        listed
            .iter()
            .map(|one| one.binding_name[0].id.clone())
            .collect()
    }
}

pub(crate) fn name(id: &str) -> [NameComponent; 1] {
    [NameComponent {
        id: id.to_owned(),
        kind: String::new(),
    }]
}

pub(crate) fn object(orb: &Orb, number: usize) -> ObjectRef {
    orb.string_to_object(&format!("corbaloc::127.0.0.1:1/{number}"))
        .unwrap()
}

/// A host of its own, with a cable to this one; gone when dropped.
pub(crate) struct Host(pub(crate) String);

pub(crate) const HERE: &str = "198.18.78.1";

impl Host {
    pub(crate) fn new() -> Result<Self, String> {
        let host = Self(format!("pct-n{}", std::process::id()));
        ip(&format!("netns add {}", host.0))?;
        let name = &host.0;
        for command in [
            format!("link add pctn0 type veth peer name pctn1 netns {name}"),
            format!("address add {HERE}/30 dev pctn0"),
            "link set pctn0 up".to_owned(),
            format!("-n {name} address add 198.18.78.2/30 dev pctn1"),
            format!("-n {name} link set pctn1 up"),
        ] {
            ip(&command)?;
        }
        Ok(host)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = ip("link del pctn0");
        let _ = ip(&format!("netns del {}", self.0));
    }
}

pub(crate) fn ip(arguments: &str) -> Result<(), String> {
    let done = Command::new("ip").args(arguments.split(' ')).output();
    let done = done.map_err(|error| format!("ip: {error}"))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}
