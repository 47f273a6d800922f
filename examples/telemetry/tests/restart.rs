//! Runs the example in two processes, and once more after the station has been killed.
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// No other program and no other test uses this address of the loopback interface, so that a port stays free while the station is away.
const HOST: &str = "127.78.3.2";

struct Station(Child);

impl Station {
    fn start(folder: &Path, port: u16) -> Self {
        let mut station = Command::new(env!("CARGO_BIN_EXE_telemetry-station"))
            .arg(folder)
            .arg("-ORBListenEndpoints")
            .arg(format!("iiop://{HOST}:{port}"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(station.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert!(line.starts_with("serving at IOR:"), "{line}");
        Self(station)
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn watch(port: u16, sensor: &str) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_telemetry-watch"))
        .arg(format!("corbaloc::{HOST}:{port}/Station"))
        .arg(sensor)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

#[test]
fn a_sensor_is_found_watched_and_still_there_when_the_station_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let port = {
        let free = TcpListener::bind((HOST, 0)).unwrap();
        free.local_addr().unwrap().port()
    };
    let station = Station::start(folder.path(), port);
    let (done, text) = watch(port, "boiler");
    assert!(done, "{text}");
    for expected in [
        "boiler by Kessel & Sons, to 180 degC",
        "refused: not above 180",
        "refused: BAD_PARAM",
        "told that boiler has 179 degC, Good, true",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let reference = text.split_whitespace().nth(1).unwrap().to_owned();

    drop(station);
    let _again = Station::start(folder.path(), port);
    let (done, text) = watch(port, &reference);
    assert!(done, "{text}");
    assert!(text.contains("measured 179 degC"), "{text}");

    let (done, text) = watch(port, "turbine");
    assert!(!done);
    assert!(text.contains("turbine"), "{text}");
}
