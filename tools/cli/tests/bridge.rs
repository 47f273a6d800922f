//! `punctual bridge` between two processes of the demo.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// For a process to begin to serve; then the test fails.
const START: Duration = Duration::from_secs(30);

fn punctual(part: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.arg(part);
    command
}

/// A process that is ended with the test.
struct Owned(Option<Child>);

impl Owned {
    fn start(command: &mut Command, reference: &Path) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let began = Instant::now();
        while !reference.exists() {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
            assert!(began.elapsed() < START, "it does not begin to serve");
            std::thread::yield_now();
        }
        Self(Some(child))
    }

    /// Tells it to end, and what it has printed.
    fn ended(mut self) -> String {
        let child = self.0.take().unwrap();
        let kill = Command::new("kill").arg(child.id().to_string()).status();
        assert!(kill.unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{:?}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_client_over_tcp_reaches_a_server_that_listens_on_shared_memory_only() {
    let folder = tempfile::tempdir().unwrap();
    let (direct, through) = (folder.path().join("direct"), folder.path().join("through"));
    let mut server = punctual("demo-server");
    server.args(["-ORBListenEndpoints", "shmiop://", "--ior-file"]);
    let _server = Owned::start(server.arg(&direct), &direct);
    let mut bridge = punctual("bridge");
    bridge.args(["--json", "--listen", "iiop://127.0.0.1:0"]);
    bridge
        .args(["--target-protocol", "shmiop", "--target"])
        .arg(&direct);
    let bridge = Owned::start(bridge.arg("--write-reference").arg(&through), &through);

    let reference = format!("file://{}", through.display());
    let client = punctual("demo-client")
        .args(["--calls", "20", "--shutdown", "--ior", &reference])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&client.stderr);
    assert!(client.status.success(), "{text}");

    let printed = bridge.ended();
    let lines: Vec<serde_json::Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [start, end] = lines.as_slice() else {
        panic!("{printed}");
    };
    let written = std::fs::read_to_string(&through).unwrap();
    assert_eq!(start["reference"].as_str(), Some(written.trim()));
    let counts = &end["counts"];
    assert!(counts["two_way"].as_u64().unwrap() > 100, "{counts}");
    assert!(counts["one_way"].as_u64().unwrap() >= 20, "{counts}");
    for none in ["refused", "failed"] {
        assert_eq!(counts[none], 0, "{counts}");
    }
}
