//! What Wireshark makes of it: a capture of the run decodes as GIOP without a malformed packet.

use crate::matrix::Outcome;
use crate::process::{self, Running};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

const GIOP: &str = "tshark: GIOP, nothing malformed";
const LOCATE: &str = "tshark: LocateRequest each way";
const FORWARD: &str = "tshark: LOCATION_FORWARD each way";
const FRAGMENTS: &str = "tshark: fragments";
const CASES: [&str; 4] = [GIOP, LOCATE, FORWARD, FRAGMENTS];

/// A capture in progress, or why there is none.
#[derive(Debug)]
pub(crate) enum Capture {
    /// The process, its file, the ports.
    Running(Running, PathBuf, Vec<u16>),
    /// It cannot be.
    Impossible(String),
}

impl Capture {
    /// Captures what goes to and from the ports of this machine.
    ///
    /// `ports` are the peer's server, then ours.
    pub(crate) fn start(file: &Path, ports: &[u16]) -> Self {
        if !process::installed("tshark") {
            return Self::Impossible("not installed: tshark".to_owned());
        }
        // An old one would be taken for this one.
        let _ = std::fs::remove_file(file);
        let filter: Vec<String> = ports
            .iter()
            .map(|port| format!("tcp port {port}"))
            .collect();
        let mut tshark = Command::new("tshark");
        tshark
            .args([
                "-i",
                "lo",
                "-B",
                "256",
                "-q",
                "-f",
                &filter.join(" or "),
                "-w",
            ])
            .arg(file);
        // It says "Capturing on" before it does; its file appears when it has begun.
        tshark.stderr(std::process::Stdio::null());
        let mut running = match Running::start("tshark", &mut tshark) {
            Ok(running) => running,
            Err(why) => return Self::Impossible(why),
        };
        for _ in 0..400 {
            if file.metadata().is_ok_and(|metadata| metadata.len() > 0) {
                return Self::Running(running, file.to_owned(), ports.to_vec());
            }
            if running.wait(Duration::from_millis(25)) {
                break;
            }
        }
        Self::Impossible("tshark cannot capture on lo (it needs CAP_NET_RAW)".to_owned())
    }

    /// Ends the capture and says what is in it.
    pub(crate) fn end(self) -> Vec<(&'static str, Outcome)> {
        let (mut running, file, ports) = match self {
            Self::Running(running, file, ports) => (running, file, ports),
            Self::Impossible(why) => {
                return CASES
                    .map(|case| (case, Outcome::Skipped(why.clone())))
                    .to_vec();
            }
        };
        // What was sent last is written out when the capture is told to end.
        std::thread::sleep(Duration::from_millis(300));
        let mut kill = Command::new("kill");
        kill.args(["-INT", &running.id().to_string()]);
        let told = process::succeed("kill", &mut kill, LIMIT);
        if told.is_err() || !running.wait(LIMIT) {
            let why = Outcome::Failed("tshark does not end".to_owned());
            return vec![(GIOP, why)];
        }
        read(&file, &ports)
    }
}

/// The messages of a capture, a line each: ports, then what was asked for.
fn list(file: &Path, ports: &[u16], filter: &str, fields: &[&str]) -> Result<Vec<String>, String> {
    let mut tshark = Command::new("tshark");
    tshark
        .arg("-r")
        .arg(file)
        .args(["-Y", filter, "-T", "fields", "-E", "separator= "]);
    for port in ports {
        tshark.args(["-d", &format!("tcp.port=={port},giop")]);
    }
    for field in fields {
        tshark.args(["-e", field]);
    }
    let text = process::succeed("tshark", &mut tshark, LIMIT)?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn read(file: &Path, ports: &[u16]) -> Vec<(&'static str, Outcome)> {
    vec![(GIOP, giop(file, ports).into())]
}

fn giop(file: &Path, ports: &[u16]) -> Result<(), String> {
    let messages = list(file, ports, "giop", &["frame.number"])?;
    if messages.is_empty() {
        return Err("no GIOP message was captured".to_owned());
    }
    let malformed = list(file, ports, "_ws.malformed", &["frame.number"])?;
    if malformed.is_empty() {
        return Ok(());
    }
    let first: Vec<&str> = malformed.iter().take(8).map(String::as_str).collect();
    Err(format!(
        "{} of {} are malformed, the first in frames {} of {}",
        malformed.len(),
        messages.len(),
        first.join(", "),
        file.display()
    ))
}
