//! Logs without bytes, truncated logs, inconsistent logs and noise.

use crate::trace::form::{FORM, Form, PEER, string};
use crate::trace::{added, idl, read, text};

#[test]
fn a_log_without_octets_gets_one_line() {
    let hint = "no octets in this log: run the program with -ORBTrace giop,payload";
    for hex in [false, true] {
        let form = Form {
            hex,
            payload: false,
            ..FORM
        };
        let request = form.shown("-> to", &form.request(4, "status", &[string("all")]));
        let reply = form.shown("<- from", &form.results(4, &[string("fine")]));
        let log = [request.clone(), reply, request].concat();
        assert_eq!(added(&log), Vec::<String>::new());
        let said = text(&read(log.as_bytes(), &[]).stderr);
        assert_eq!(said.matches(hint).count(), 1, "{said}");
    }
    let other = text(&read(b"nothing of the kind\n", &[]).stderr);
    assert!(other.contains("no messages in this log"), "{other}");
    let foreign =
        b"giop -> to udp://x\n  frame 0 of stream 0x00000001, operation push, 40 octets\n";
    let said = text(&read(foreign, &[]).stderr);
    assert!(said.contains("other protocols than GIOP"), "{said}");
}

#[test]
fn damaged_logs_are_passed_on_and_told_of() {
    let whole = FORM.shown(
        "-> to",
        &FORM.request(4, "status", &[string("quite a long text")]),
    );
    let values = added(&whole);
    assert_eq!(values.len(), 1, "{values:?}");
    let damaged = "payload -> status: its octets in the log are incomplete or damaged";
    let at = whole.find("  00000000").unwrap();
    // Rows that end within a byte, are missing, have other positions, or are no rows.
    let rows = [
        whole.replace(" 71 75", " 71 7"),
        whole[..at + 30].to_owned() + "\n",
        whole.replace("  00000010", "  00000020"),
        whole.replace("  00000010", "  0000001x"),
    ];
    for log in rows {
        assert_ne!(log, whole);
        assert_eq!(added(&log), [damaged], "{log}");
    }
    // Fragments cannot have been joined at these positions.
    for seams in ["90 80", "80 80", "99999999999"] {
        let joined = whole.replacen(PEER, &format!("{PEER}, joined at {seams}"), 1);
        assert_eq!(added(&joined), [damaged], "{joined}");
    }
    // The next message ends an incomplete one, and is read.
    let cut = whole[..at + 30].to_owned() + "\n" + &whole;
    assert_eq!(added(&cut), [damaged, &values[0]]);
}

#[test]
fn noise_never_ends_the_command_and_leaves_as_it_came() {
    let form = Form { hex: true, ..FORM };
    let log = FORM.shown(
        "-> to",
        &FORM.request(4, "status", &[string("all is well")]),
    ) + &form.shown("<- from", &form.results(4, &[string("fine")]));
    // A generator of its own: failures are reproducible.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let mut all = vec![0xff, 0xfe, b'\n', 0, b'\n'];
    for _ in 0..400 {
        let mut damaged = log.clone().into_bytes();
        for _ in 0..=random(8) {
            let at = random(damaged.len());
            match random(4) {
                0 => damaged[at] = u8::try_from(random(256)).unwrap(),
                1 => drop(damaged.remove(at)),
                2 => damaged.insert(at, b'\n'),
                _ => damaged.truncate(at.max(1)),
            }
        }
        all.extend(damaged);
    }
    all.extend(vec![b'x'; 300_000]);
    let output = read(&all, &[]).stdout;
    let lines = |octets: &[u8]| -> Vec<Vec<u8>> {
        let lines = octets.split(|octet| *octet == b'\n');
        let own = lines.filter(|line| !line.starts_with(b"payload "));
        own.map(<[u8]>::to_vec).collect()
    };
    assert_eq!(lines(&output), lines(&all));
    assert!(text(&output).contains("payload <- status"));
    read(&all, &["--json"]);
}

#[test]
fn a_lie_about_lengths_costs_nothing() {
    let log = "giop -> to x\nGIOP 1.2 Request, Little-endian, 4294967295 octets after the header\n  \
               request 4, operation \"status\", a reply is expected (flags 0x03)\n  body: 4294967200 octets\n  \
               00000000  05 00 00 00 66 69 6e 65  00                       ....fine.\n";
    assert_eq!(
        added(log),
        ["payload -> status: it has more octets than are decoded here"]
    );
    let log = log.replace("body: 4294967200", "body: 99999999999");
    assert_eq!(
        added(&log),
        ["payload -> status: its octets in the log are incomplete or damaged"]
    );
}

#[test]
fn without_types_and_without_a_log_the_command_says_what_it_needs() {
    let fails = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_punctual"));
        let output = command.arg("trace").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr)
    };
    let said = fails(&[]);
    assert!(
        said.contains("--idl FILE") && said.contains("--ifr"),
        "{said}"
    );
    let said = fails(&["--idl", idl().to_str().unwrap(), "nothing.log"]);
    assert!(said.contains("nothing.log: No such file"), "{said}");
}
