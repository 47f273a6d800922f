//! Processes on the hosts: members of etcd, NATS servers, group services, members of groups.

use crate::net::{HOSTS, NAME, Net, address};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Styles of the groups, and their names.
pub(crate) const STYLES: [&str; 5] = [
    "stateless",
    "cold-passive",
    "warm-passive",
    "logged",
    "active",
];

/// Place of the group whose primary logs its requests. It is warm passive, too.
pub(crate) const LOGGED: usize = 3;

/// Place of the active group, the last one: it is left out where there is no NATS server for its log.
pub(crate) const ACTIVE: usize = 4;

/// Returns the replication style of a group by the name of its place.
pub(crate) fn replication(style: &str) -> &str {
    match style {
        "logged" => "warm-passive",
        style => style,
    }
}

/// What a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Etcd,
    /// NATS server, with the log of the active group.
    Nats,
    Service,
    /// Member of the group with this place in [`STYLES`].
    Member(usize),
}

/// Process that is started again when it has ended.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) role: Role,
    pub(crate) host: usize,
    command: Vec<String>,
    log: std::path::PathBuf,
    child: Option<Child>,
    pub(crate) starts: u32,
    /// True while a fault holds it: killed, or stopped.
    pub(crate) is_held: bool,
}

impl Process {
    /// Returns its name, for people.
    pub(crate) fn name(&self) -> String {
        let role = match self.role {
            Role::Etcd => "etcd",
            Role::Nats => "NATS",
            Role::Service => "service",
            Role::Member(group) => STYLES.get(group).copied().unwrap_or_default(),
        };
        format!("{role} of host {}", self.host + 1)
    }

    /// Returns the number of the process, while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Starts it. On the thread that lives as long as the run: the process ends with it.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn start(&mut self) -> Result<(), String> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log);
        let log = log.map_err(|error| format!("{}: {error}", self.log.display()))?;
        let errors = log.try_clone().map_err(|error| error.to_string())?;
        let (program, arguments) = self.command.split_first().ok_or("no command")?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors);
        let child = command.spawn();
        self.child = Some(child.map_err(|error| format!("{}: {error}", self.name()))?);
        self.starts += 1;
        Ok(())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = self.pid().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            // It may have ended.
            let _ = kill_process(pid, signal);
        }
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Returns whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        let child = self.child.as_mut();
        let ended =
            child.is_some_and(|child| child.try_wait().is_ok_and(|status| status.is_some()));
        if ended {
            self.child = None;
        }
        ended
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the addresses of all services, for members and clients.
pub(crate) fn services() -> String {
    let all = (0..HOSTS).map(|host| format!("iiop:1.2@{}:2817", address(host)));
    format!(
        "corbaloc:{}/ReplicationManager",
        all.collect::<Vec<_>>().join(",")
    )
}

/// Returns the program of the NATS server, if there is one: in the path, or named by `PUNCTUAL_NATS_SERVER`.
pub(crate) fn nats_server() -> Option<String> {
    let program =
        std::env::var("PUNCTUAL_NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned());
    let is_there = Command::new(&program).arg("--version").output().is_ok();
    is_there.then_some(program)
}

/// Makes all processes but the members, which need groups; NATS servers by their program, if there is one.
pub(crate) fn servers(
    net: &Net,
    folder: &Path,
    nats: Option<&str>,
) -> Result<Vec<Process>, String> {
    let mut all = Vec::new();
    for host in 0..HOSTS {
        all.push(process(
            net,
            folder,
            (Role::Etcd, host),
            etcd(host, folder),
        )?);
    }
    if let Some(program) = nats {
        for host in 0..HOSTS {
            let command = of_nats(program, host, folder);
            all.push(process(net, folder, (Role::Nats, host), command)?);
        }
    }
    for host in 0..HOSTS {
        let settings = folder.join(format!("service-{host}.toml"));
        std::fs::write(&settings, of_service(host, folder)).map_err(|error| error.to_string())?;
        let arguments = vec!["serve".to_owned(), settings.display().to_string()];
        let command = own(arguments)?;
        all.push(process(net, folder, (Role::Service, host), command)?);
    }
    Ok(all)
}

/// Makes the member of a group on a host.
pub(crate) fn member(
    net: &Net,
    folder: &Path,
    (group, host): (usize, usize),
    reference: &str,
) -> Result<Process, String> {
    let arguments = ["member", &services(), reference, &format!("h{}", host + 1)];
    let mut arguments: Vec<String> = arguments.map(str::to_owned).into();
    arguments.push(address(host));
    match group {
        0 => {}
        ACTIVE => {
            // The nearest server first.
            let servers =
                (0..HOSTS).map(|step| format!("nats://{}:4222", address((host + step) % HOSTS)));
            arguments.extend(["--log".to_owned(), servers.collect::<Vec<_>>().join(",")]);
        }
        LOGGED => arguments.push("--logged".to_owned()),
        _ => arguments.push("--passive".to_owned()),
    }
    process(net, folder, (Role::Member(group), host), own(arguments)?)
}

fn process(
    net: &Net,
    folder: &Path,
    (role, host): (Role, usize),
    command: Vec<String>,
) -> Result<Process, String> {
    let within = [
        "ip",
        "netns",
        "exec",
        &net.space(host),
        "setpriv",
        "--pdeathsig",
        "KILL",
    ];
    let mut made = Process {
        role,
        host,
        command: within
            .map(str::to_owned)
            .into_iter()
            .chain(command)
            .collect(),
        log: folder.to_owned(),
        child: None,
        starts: 0,
        is_held: false,
    };
    made.log = folder.join(format!("{}.log", made.name().replace(' ', "-")));
    Ok(made)
}

fn own(arguments: Vec<String>) -> Result<Vec<String>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = program.display().to_string();
    Ok(std::iter::once(program).chain(arguments).collect())
}

fn etcd(host: usize, folder: &Path) -> Vec<String> {
    let at = |host: usize, port: u16| format!("http://{}:{port}", address(host));
    let all = (0..HOSTS).map(|host| format!("e{host}={}", at(host, 2380)));
    let mut command = vec!["etcd".to_owned()];
    for (flag, value) in [
        ("--name", format!("e{host}")),
        (
            "--data-dir",
            folder.join(format!("etcd-{host}")).display().to_string(),
        ),
        ("--listen-client-urls", at(host, 2379)),
        ("--advertise-client-urls", at(host, 2379)),
        ("--listen-peer-urls", at(host, 2380)),
        ("--initial-advertise-peer-urls", at(host, 2380)),
        ("--initial-cluster", all.collect::<Vec<_>>().join(",")),
        ("--auto-compaction-mode", "revision".to_owned()),
        ("--auto-compaction-retention", "1000".to_owned()),
        ("--log-level", "error".to_owned()),
    ] {
        command.extend([flag.to_owned(), value]);
    }
    command
}

fn of_nats(program: &str, host: usize, folder: &Path) -> Vec<String> {
    let route = |host: usize| format!("nats://{}:6222", address(host));
    let routes = (0..HOSTS).map(route).collect::<Vec<_>>().join(",");
    let mut command = vec![program.to_owned(), "-js".to_owned()];
    for (flag, value) in [
        ("-n", format!("n{host}")),
        ("-a", address(host)),
        ("-p", "4222".to_owned()),
        ("--cluster_name", "chaos".to_owned()),
        ("--cluster", route(host)),
        ("--routes", routes),
        (
            "-sd",
            folder.join(format!("nats-{host}")).display().to_string(),
        ),
    ] {
        command.extend([flag.to_owned(), value]);
    }
    command
}

fn of_service(host: usize, folder: &Path) -> String {
    // The nearest member of etcd first.
    let members = (0..HOSTS).map(|step| format!("\"{}:2379\"", address((host + step) % HOSTS)));
    format!(
        "listen = [\"iiop://:2817/hostname_in_ior={NAME}\"]\nstore = \"{}\"\netcd = [{}]\n\
         etcd_timeout = \"1s\"\netcd_take_over = \"2s\"\nwait_time = \"2s\"\n",
        folder.join(format!("service-{host}.redb")).display(),
        members.collect::<Vec<_>>().join(", ")
    )
}
