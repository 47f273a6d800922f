//! Logs of running programs.

use crate::trace::form::{FORM, Form};
use crate::trace::{text, trace};
use punctual_cdr::{ByteOrder, Encoder, GiopVersion};
use punctual_giop::{MessageKind, RequestHeader, ResponseFlags, ServiceContexts, Target};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Process that is ended when this is dropped.
struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // The process has ended already if all went well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Time limit for the start of a process, after which the test fails.
const START: Duration = Duration::from_secs(30);

fn wait_for(reference: &Path, server: &mut Owned) {
    let began = Instant::now();
    while !reference.exists() {
        assert!(server.0.try_wait().unwrap().is_none(), "it has ended");
        assert!(began.elapsed() < START, "it does not begin to serve");
        crate::support::pause();
    }
}

fn cubit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cubit/idl/cubit.idl")
}

/// Starts a server that traces its messages and writes its reference once it serves.
fn traced_server(reference: &Path) -> Owned {
    let mut server = Command::new(env!("CARGO_BIN_EXE_punctual"));
    server.args(["demo-server", "-ORBTrace", "giop,payload"]);
    server.args(["-ORBListenEndpoints", "iiop://127.0.0.1:0", "--ior-file"]);
    server.arg(reference).stderr(Stdio::piped());
    Owned(server.stdout(Stdio::null()).spawn().unwrap())
}

fn client(reference: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["demo-client", "--calls", "1", "--ior"]);
    let output = command
        .arg(format!("file://{}", reference.display()))
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

#[test]
fn what_programs_with_compiled_stubs_send_is_shown_while_they_run() {
    let folder = tempfile::tempdir().unwrap();
    let reference = folder.path().join("cubit.ior");
    let mut server = traced_server(&reference);
    let log = server.0.stderr.take().unwrap();
    let mut reader = trace(&cubit(), &[]);
    let mut reader = Owned(reader.stdin(log).stdout(Stdio::piped()).spawn().unwrap());
    wait_for(&reference, &mut server);
    // All of the output is read, as a full pipe would block the server.
    let (sender, lines) = std::sync::mpsc::channel();
    let printed_by_server = BufReader::new(reader.0.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in printed_by_server.lines() {
            // The test may have stopped reading.
            let _ = sender.send(line.unwrap());
        }
    });
    let printed = client(&reference, &["-ORBTrace", "giop,payload"]).stderr;
    // The server still runs: its output has arrived already.
    let mut of_server = Vec::new();
    loop {
        let line = lines.recv_timeout(START).unwrap();
        let is_last = line.starts_with("payload -> _non_existent");
        of_server.push(line);
        if is_last {
            break;
        }
    }
    client(&reference, &["--shutdown"]);

    let of_client = folder.path().join("client.log");
    std::fs::write(&of_client, printed).unwrap();
    let output = trace(&cubit(), &[]).arg(&of_client).output().unwrap();
    let of_client = text(&output.stdout);
    let of_client: Vec<&str> = of_client.lines().collect();
    // Each side shows the same values in opposite directions.
    let values = |lines: &[&str], turned: bool| -> Vec<String> {
        let lines = lines.iter().filter(|line| line.starts_with("payload "));
        let turn = |line: &&str| match turned {
            true => line
                .replace("->", "<>")
                .replace("<-", "->")
                .replace("<>", "<-"),
            false => (*line).to_owned(),
        };
        lines.map(turn).collect()
    };
    let of_server: Vec<&str> = of_server.iter().map(String::as_str).collect();
    let (of_server, mut of_client) = (values(&of_server, true), values(&of_client, false));
    of_client.truncate(of_server.len());
    let sorted = |mut lines: Vec<String>| {
        // One-ways and later calls may be printed in another order than called.
        lines.sort();
        lines
    };
    let sent = of_client.join("\n");
    for part in [
        "payload -> cube_long: long l = ",
        "payload <- cube_long: long $result = ",
        "payload -> cube_struct: bench::Cube values = {\"o\":",
        "payload <- echo_cubes: bench::CubeSeq $result = [{\"o\":",
        "payload <- cube_void: void $result = null",
        "payload <- cube_long: bench::TooLarge $exception = {\"value\":",
        "payload <- _get_pings: unsigned long long $result = ",
        "payload -> _is_a: string logical_type_id = \"IDL:bench/Nothing:1.0\"",
        "payload <- _is_a: boolean $result = false",
    ] {
        assert!(sent.contains(part), "{part}");
    }
    assert!(!sent.contains("do not match the declared types"), "{sent}");
    assert_eq!(sorted(of_server), sorted(of_client));
}

#[test]
fn a_message_that_the_orb_joined_of_fragments_of_giop_1_1_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let reference = folder.path().join("cubit.ior");
    let mut server = traced_server(&reference);
    wait_for(&reference, &mut server);
    let ior: punctual_ior::Ior = std::fs::read_to_string(&reference)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let profile = punctual_ior::IiopProfile::decode(&ior.profiles[0].data).unwrap();
    let form = Form {
        version: GiopVersion::V1_1,
        order: ByteOrder::Big,
        ..FORM
    };
    let head = |out: &mut Encoder<'_>| {
        let header = RequestHeader {
            request_id: 2,
            response: ResponseFlags::SYNC_WITH_TARGET,
            target: Target::ObjectKey(&profile.object_key),
            operation: "echo_64",
            contexts: ServiceContexts::none(),
        };
        header.encode(out).unwrap();
    };
    let mut first = form.message(MessageKind::Request, head, |_| {}, false);
    // Cut at a possible position of an 8-octet number: behind the next header it needs padding.
    assert_eq!(first.len() % 8, 0);
    first[6] |= 2;
    let number = 0x0102_0304_0506_0708_u64;
    let body = [[0; 4].as_slice(), &number.to_be_bytes()].concat();
    let fragment = [b"GIOP\x01\x01\x00\x07\x00\x00\x00\x0c".as_slice(), &body].concat();
    let mut connection = std::net::TcpStream::connect(("127.0.0.1", profile.port)).unwrap();
    connection.write_all(&first).unwrap();
    connection.write_all(&fragment).unwrap();
    let mut answer = [0; 12];
    connection.read_exact(&mut answer).unwrap();
    server.0.kill().unwrap();
    let mut log = String::new();
    let mut printed = server.0.stderr.take().unwrap();
    printed.read_to_string(&mut log).unwrap();
    assert!(
        log.contains(&format!(", joined at {}\n", first.len())),
        "{log}"
    );
    let path = folder.path().join("server.log");
    std::fs::write(&path, &log).unwrap();
    let shown = trace(&cubit(), &[]).arg(&path).output().unwrap();
    let shown = text(&shown.stdout);
    let values = shown.lines().filter(|line| line.starts_with("payload "));
    assert_eq!(
        values.collect::<Vec<_>>(),
        [
            format!("payload <- echo_64: unsigned long long value = {number}"),
            format!("payload -> echo_64: unsigned long long $result = {number}"),
        ]
    );
}
