//! The run against omniORB: for each version, both sides are started and every case is tried.

use crate::bridged;
use crate::build;
use crate::capture::Capture;
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::native;
use crate::process::{self, Running};
use crate::secured;
use crate::services;
use crate::sides::{LIMIT, Ours, PeerServer, peer};
use crate::sockets;
use crate::transport::{Role, Transport};
use crate::values;
use punctual::{Interface, ObjectRef};
use std::path::{Path, PathBuf};

/// Why a run could not be made.
pub(crate) type Failure = Box<dyn std::error::Error>;

const NO_WIDE: &str = "GIOP 1.0 has no wide characters (CORBA 3.3 part 2, 9.3.1.6)";
const NO_WIDE_IN_1_1: &str = "omniORB has no wide text in GIOP 1.1: its references say so (they \
                              publish no code sets), and its client raises INV_OBJREF";
const LONG_DOUBLE: &str = "omniORB sends the processor's own format (80 bits on x86-64) instead of \
                           the IEEE 754 quadruple of CORBA 3.3 part 2, 9.3.1.4";

/// Tries everything against omniORB.
///
/// # Errors
/// What kept the run from being made at all.
pub(crate) fn run(folder: &Path, matrix: &mut Matrix) -> Result<(), Failure> {
    eprintln!("building the peer in {}", folder.display());
    let programs = build::omniorb(folder)?;
    matrix.over("TCP");
    for version in Version::ALL {
        over_tcp(&programs.plain, folder, version, matrix)?;
    }
    sockets::run(&programs.plain, matrix)?;
    secured::run(&programs.secured, matrix)?;
    bridged::run(&programs.plain, matrix)
}

/// Everything, with what is tied to TCP: what Wireshark sees, and the peer's own services.
fn over_tcp(
    program: &Path,
    folder: &Path,
    version: Version,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    let ours = Ours::start(version, &Transport::Tcp)?;
    let server = PeerServer::start(program, version, &Transport::Tcp, &ours)?;
    let mut ports = Vec::new();
    for orb in [&ours.server, &ours.whole_server] {
        ports.extend(
            orb.endpoints()
                .iter()
                .filter_map(|endpoint| endpoint.port()),
        );
    }
    let capture = Capture::start(
        &folder.join(format!("giop-{}.pcapng", version.text())),
        server.port,
        ports,
    );
    calls(program, version, &Transport::Tcp, (&ours, &server), matrix)?;
    services::references(
        &ours.client,
        &server.describe,
        &ours.describe,
        version,
        matrix,
    );
    services::naming(&ours.describe.clone().into(), version, matrix);
    for (case, direction, outcome) in capture.end(version) {
        matrix.record(case, version, direction, outcome);
    }
    ours.stop()
}

/// Each case of calls, in each direction.
///
/// # Errors
/// What kept them from being tried.
pub(crate) fn calls(
    program: &Path,
    version: Version,
    transport: &Transport,
    (ours, server): (&Ours, &PeerServer),
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    eprintln!("  GIOP {}: our client, their server", version.text());
    to(&server.objects(transport, ours)?, version, matrix);
    eprintln!("  our client, their server, their client, our server");
    through(server, ours, version, matrix)?;
    eprintln!("  their client, our server");
    from(program, transport, ours, version, matrix)
}

/// Whether wide text can travel to and from omniORB.
fn has_wide(version: Version) -> bool {
    version == Version::V1_2
}

fn no_wide(version: Version) -> Outcome {
    let why = match version {
        Version::V1_0 => NO_WIDE,
        Version::V1_1 | Version::V1_2 => NO_WIDE_IN_1_1,
    };
    Outcome::NotApplicable(why.to_owned())
}

/// Our client calls their server.
pub(crate) fn to(objects: &native::Objects, version: Version, matrix: &mut Matrix) {
    for case in native::cases() {
        let outcome = if case.wide && !has_wide(version) {
            no_wide(version)
        } else {
            (case.run)(objects).into()
        };
        matrix.record(case.name, version, Direction::To, outcome);
    }
    if !has_wide(version) {
        let outcome = native::wide_is_refused(objects);
        matrix.record("wide text is refused", version, Direction::To, outcome);
    }
}

fn through(
    server: &PeerServer,
    ours: &Ours,
    version: Version,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    let there = Interface::narrow(ours.client.string_to_object(&server.parameters)?)?;
    let relay = values::Relay {
        there,
        here: ours.parameters.clone(),
        utf8: version > Version::V1_0,
    };
    for case in values::cases() {
        let outcome = if case.wide && !has_wide(version) {
            no_wide(version)
        } else {
            (case.run)(&relay).into()
        };
        matrix.record(case.name, version, Direction::Through, outcome);
    }
    let outcome = Outcome::NotApplicable(LONG_DOUBLE.to_owned());
    matrix.record("e_longdouble", version, Direction::Through, outcome);
    Ok(())
}

/// Their client calls our server.
///
/// # Errors
/// What kept it from being started, and an end of it that came too early.
pub(crate) fn from(
    program: &Path,
    transport: &Transport,
    ours: &Ours,
    version: Version,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    let text = |object: &ObjectRef| Ok(object.orb().object_to_string(object)?);
    from_by(program, transport, ours, version, &text, None, matrix)
}

/// The same, by references as `text` has them, without the case that is excused, for the reason given.
///
/// # Errors
/// Those of [`from`], and of `text`.
pub(crate) fn from_by(
    program: &Path,
    transport: &Transport,
    ours: &Ours,
    version: Version,
    text: &dyn Fn(&ObjectRef) -> Result<String, Failure>,
    excused: Option<(&str, &str)>,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    let mut command = peer(program, version, transport, Role::Client);
    command.arg("call");
    for object in [
        ours.parameters.as_object(),
        ours.describe.as_object(),
        ours.whole.as_object(),
        ours.forwarder.as_object(),
        ours.unknown.as_object(),
        ours.cubit.as_object(),
    ] {
        command.arg(text(object)?);
    }
    command.arg(if has_wide(version) { "wide" } else { "narrow" });
    // What our references publish from GIOP 1.1 on makes it choose UTF-8.
    let utf8 = version > Version::V1_0;
    command.arg(if utf8 { "utf-8" } else { "latin-1" });
    let client = Running::start("their client", &mut command)?;
    loop {
        let Some(line) = client.line(LIMIT)? else {
            return Err("their client has ended before its last case".into());
        };
        match line.split_once(' ') {
            Some((_, rest)) if excused.is_some_and(|(case, _)| rest.starts_with(case)) => {
                let (case, why) = excused.unwrap_or_default();
                let outcome = Outcome::NotApplicable(why.to_owned());
                matrix.record(case, version, Direction::From, outcome);
            }
            Some(("ok", case)) => {
                matrix.record(case, version, Direction::From, Outcome::Passed);
            }
            Some(("FAIL", rest)) => {
                let (case, why) = rest.split_once(": ").unwrap_or((rest, ""));
                let outcome = Outcome::Failed(why.to_owned());
                matrix.record(case, version, Direction::From, outcome);
            }
            _ if line == "done" => return Ok(()),
            _ => eprintln!("  their client says: {line}"),
        }
    }
}

/// Why omniORB cannot be tried here, if so.
pub(crate) fn missing() -> Option<String> {
    let headers = Path::new("/usr/include/omniORB4/CORBA.h");
    let mut missing: Vec<&str> = build::NEEDED
        .iter()
        .filter(|(program, _)| !process::installed(program))
        .map(|(_, package)| *package)
        .collect();
    if !headers.is_file() {
        missing.push("libomniorb4-dev");
    }
    (!missing.is_empty()).then(|| format!("not installed: {}", missing.join(", ")))
}

/// Where what is generated goes: beside this program, in the target folder.
///
/// # Errors
/// When the program does not know where it is.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let beside = program.parent().ok_or("this program is in no folder")?;
    Ok(beside.join("interop-omniorb"))
}
