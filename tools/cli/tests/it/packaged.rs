//! Unit and container files of the services: the commands in them start a server, which tells systemd so, and ends in order.

use crate::support::Process;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Longest wait for a message.
const LIMIT: Duration = Duration::from_secs(60);

fn packaging(service: &str) -> std::path::PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("services").join(service).join("packaging")
}

/// Returns the arguments of a unit's `ExecStart`.
fn unit(service: &str) -> Vec<String> {
    let file = packaging(service).join(format!("punctual-{service}.service"));
    let text = std::fs::read_to_string(file).unwrap().replace("\\\n", " ");
    let command = text
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    command
        .unwrap()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// Returns the arguments of a container file's `ENTRYPOINT`.
fn container(service: &str) -> Vec<String> {
    let text = std::fs::read_to_string(packaging(service).join("Containerfile")).unwrap();
    let command = text
        .lines()
        .find_map(|line| line.strip_prefix("ENTRYPOINT "));
    serde_json::from_str(command.unwrap()).unwrap()
}

/// Returns the command with files of a folder, and any free ports.
fn here(arguments: &[String], folder: &Path) -> Command {
    let (program, arguments) = arguments.split_first().unwrap();
    assert_eq!(program, "/usr/bin/punctual");
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    for argument in arguments {
        if argument.starts_with("/var/lib/") {
            let name = Path::new(argument).file_name().unwrap();
            command.arg(folder.join(name));
        } else if argument.ends_with("_LISTEN") || argument.starts_with("iiop://") {
            command.arg("iiop://127.0.0.1:0");
        } else if argument
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok())
        {
            command.arg("127.0.0.1:0");
        } else if !argument.starts_with('$') {
            command.arg(argument);
        }
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Returns the next message to systemd with this beginning.
fn told(socket: &UnixDatagram, beginning: &str) -> String {
    let mut buffer = [0; 4096];
    loop {
        let length = socket.recv(&mut buffer).unwrap();
        let message = String::from_utf8(buffer[..length].to_vec()).unwrap();
        if message.starts_with(beginning) {
            return message;
        }
    }
}

fn runs(arguments: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("notify");
    let systemd = UnixDatagram::bind(&socket).unwrap();
    systemd.set_read_timeout(Some(LIMIT)).unwrap();
    let mut command = here(arguments, folder.path());
    let mut server = Process(command.env("NOTIFY_SOCKET", &socket).spawn().unwrap());
    let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
    let reference = lines.next().unwrap().unwrap();
    assert!(reference.starts_with("IOR:"), "{arguments:?}: {reference}");
    told(&systemd, "READY=1");
    server.signal("-TERM");
    told(&systemd, "STOPPING=1");
    assert!(server.0.wait().unwrap().success(), "{arguments:?}");
    let kept = std::fs::read_dir(folder.path()).unwrap();
    let kept = kept.map(|entry| entry.unwrap().file_name());
    let stores = kept.filter(|name| Path::new(name).extension().is_some_and(|one| one == "redb"));
    assert_eq!(stores.count(), 1, "{arguments:?}");
}

#[test]
fn units_start_servers_that_tell_systemd_when_they_serve_and_end() {
    for service in ["naming", "notification"] {
        runs(&unit(service));
    }
}

#[test]
fn the_commands_of_container_files_start_servers() {
    for service in ["naming", "notification"] {
        runs(&container(service));
    }
}
