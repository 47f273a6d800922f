//! `punctual naming serve --web`: the page beside the names. Built with the feature `web`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use punctual::{Interface, Orb};
use punctual_naming::cos_naming::{NameComponent, NamingContext};

/// A process that ends with this.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serving(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args([
        "naming",
        "serve",
        "--memory",
        "--listen",
        "iiop://127.0.0.1:0",
    ]);
    command.args(options);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn the_page_is_served_beside_the_names_and_ends_with_them() {
    let mut command = serving(&["--web", "127.0.0.1:0", "--allow", "=10.0.0.0/8"]);
    let mut server = Process(command.spawn().unwrap());
    let mut lines = BufReader::new(server.0.stderr.take().unwrap()).lines();
    let page = lines.find_map(|line| {
        let line = line.unwrap();
        Some(
            line.strip_prefix("web page at http://")?
                .trim_end_matches('/')
                .to_owned(),
        )
    });
    let page = page.unwrap();
    // Nobody waits for a reader of what else it says.
    std::thread::spawn(move || lines.for_each(drop));
    let mut reference = String::new();
    let mut output = BufReader::new(server.0.stdout.take().unwrap());
    output.read_line(&mut reference).unwrap();
    let orb = Orb::builder().build().unwrap();
    let root = NamingContext::from_object(orb.string_to_object(reference.trim()).unwrap());
    let name = NameComponent {
        id: "pump".to_owned(),
        kind: String::new(),
    };
    // Neither this client nor a browser of this machine was granted anything.
    assert!(root.bind(&[name], Some(root.as_object())).is_err());
    let mut peer = TcpStream::connect(&page).unwrap();
    let request = format!("GET /naming HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\n\r\n");
    peer.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    peer.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert!(reply.contains("You come from 127.0.0.1"), "{reply}");
    // A page that is looked at delays no end.
    let mut live = TcpStream::connect(&page).unwrap();
    live.write_all(format!("GET /naming/live HTTP/1.1\r\nHost: {page}\r\n\r\n").as_bytes())
        .unwrap();
    live.read_exact(&mut [0; 12]).unwrap();
    let id = server.0.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    assert!(server.0.wait().unwrap().success());
}

#[test]
fn an_address_for_other_machines_wants_to_be_said() {
    let refused = serving(&["--web", "0.0.0.0:0"]).output().unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("may be reached from other machines") && said.contains("--web-remote"),
        "{said}"
    );
}
