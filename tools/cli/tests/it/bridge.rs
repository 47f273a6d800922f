//! `punctual bridge` between two processes: those of the demo, and those of omniORB.
#![allow(clippy::unwrap_used, missing_docs)]

use punctual::Orb;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit for the start of a process, after which the test fails.
const START: Duration = Duration::from_secs(30);

fn punctual(part: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.arg(part);
    command
}

/// Process that is ended when this is dropped.
struct Owned(Option<Child>);

impl Owned {
    fn start(command: &mut Command, reference: &Path) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let began = Instant::now();
        while !reference.exists() {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
            assert!(began.elapsed() < START, "it does not begin to serve");
            crate::support::pause();
        }
        Self(Some(child))
    }

    /// Ends the process, and returns its output.
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

/// No other program and no other test uses this address of the loopback interface, so that a port of omniORB's naming service stays free.
const OMNI: &str = "127.79.7.1";

/// Starts omniORB's naming service at a port of its own, or returns the reason for which there is
/// none.
fn omni_names(folder: &Path) -> Result<(Owned, u16), String> {
    let free = TcpListener::bind((OMNI, 0)).unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut command = Command::new("omniNames");
    command.args(["-start", &port.to_string(), "-ignoreport", "-ORBendPoint"]);
    command.arg(format!("giop:tcp:{OMNI}:{port}"));
    command
        .arg("-logdir")
        .arg(folder)
        .env("OMNIORB_CONFIG", "/dev/null");
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    let child = quiet
        .spawn()
        .map_err(|error| format!("omniNames: {error}"))?;
    let mut owned = Owned(Some(child));
    let began = Instant::now();
    while TcpStream::connect((OMNI, port)).is_err() {
        let ended = owned.0.as_mut().unwrap().try_wait().unwrap();
        assert!(ended.is_none() && began.elapsed() < START, "{ended:?}");
        crate::support::pause();
    }
    Ok((owned, port))
}

/// Runs omniORB's own naming client; returns whether it succeeded, and its output.
fn nameclt(service: &str, arguments: &[&str]) -> Result<(bool, String), String> {
    let output = Command::new("nameclt")
        .env("OMNIORB_CONFIG", "/dev/null")
        .arg("-ORBInitRef")
        .arg(format!("NameService={service}"))
        .args(arguments)
        .output()
        .map_err(|error| format!("nameclt: {error}"))?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok((output.status.success(), said))
}

#[test]
fn omniorbs_client_and_server_meet_through_the_bridge_and_stay_there() {
    let folder = tempfile::tempdir().unwrap();
    let names = omni_names(folder.path())
        .and_then(|names| nameclt("corbaloc::127.0.0.1:1/NameService", &["list"]).map(|_| names));
    let (_names, port) = match names {
        Ok(names) => names,
        Err(missing) => {
            eprintln!("skipped: {missing} (packages omniorb-nameserver and omniorb)");
            return;
        }
    };
    let through = folder.path().join("through");
    let target = format!("corbaloc:iiop:1.2@{OMNI}:{port}/NameService");
    let mut bridge = punctual("bridge");
    bridge.args(["--json", "--rewrite-references"]);
    bridge.args(["--listen", "iiop://127.0.0.1:0", "--target", &target]);
    let bridge = Owned::start(bridge.arg("--write-reference").arg(&through), &through);
    let service = std::fs::read_to_string(&through).unwrap();
    let client = |arguments: &[&str]| nameclt(service.trim(), arguments).unwrap();

    // The outer context's reference is returned rewritten, and is called through the bridge.
    assert!(client(&["bind_new_context", "outer"]).0);
    assert!(client(&["bind_new_context", "outer/inner"]).0);
    assert_eq!(client(&["list", "outer"]), (true, "inner/\n".to_owned()));
    let (found, said) = client(&["resolve", "missing"]);
    assert!(!found && said.contains("NotFound"), "{said}");

    let printed = bridge.ended();
    let end: serde_json::Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    let counts = &end["counts"];
    assert!(counts["rewritten"].as_u64().unwrap() >= 3, "{counts}");
    for none in ["refused", "failed", "not_rewritten"] {
        assert_eq!(counts[none], 0, "{counts}");
    }
}

#[test]
fn a_bridge_for_its_target_only_hides_the_objects_that_were_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let repository = |name: &str| {
        let reference = folder.path().join(name);
        let mut server = punctual("ifr");
        server.args([
            "serve",
            "--listen",
            "iiop://127.0.0.1:0",
            "--write-reference",
        ]);
        (Owned::start(server.arg(&reference), &reference), reference)
    };
    let (_server, direct) = repository("direct");
    let keyed = |reference: &Path, key: &str| {
        let text = std::fs::read_to_string(reference).unwrap();
        let ior: punctual_ior::Ior = text.trim().parse().unwrap();
        let profile = punctual_ior::IiopProfile::decode(&ior.profiles[0].data).unwrap();
        format!("corbaloc::127.0.0.1:{}/{key}", profile.port)
    };
    // The same object by another key, which forwards to it.
    let named = keyed(&direct, "InterfaceRepository");
    let client = Orb::builder().build().unwrap();
    for (more, is_there) in [(&[][..], false), (&["--object", &named][..], true)] {
        let through = folder.path().join(format!("through-{is_there}"));
        let mut bridge = punctual("bridge");
        bridge.args(["--listen", "iiop://127.0.0.1:0", "--target-only"]);
        bridge.args(more).arg("--target").arg(&direct);
        let _bridge = Owned::start(bridge.arg("--write-reference").arg(&through), &through);
        let is_gone = |reference: &str| {
            let object = client.string_to_object(reference).unwrap();
            object.non_existent().unwrap()
        };
        let text = std::fs::read_to_string(&through).unwrap();
        assert!(!is_gone(text.trim()));
        assert_eq!(is_gone(&keyed(&through, "InterfaceRepository")), !is_there);
    }
}
