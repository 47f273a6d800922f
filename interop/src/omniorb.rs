//! The run against omniORB: for each version, both sides are started and every case is tried.

use crate::build;
use crate::capture::Capture;
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::native;
use crate::params as p;
use crate::process::{self, Running};
use crate::servants;
use crate::services;
use crate::values;
use punctual::{GiopVersion, Interface, ListenEndpoint, Orb, Poa, RootPoa};
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::Cubit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// For one call.
const CALL: Duration = Duration::from_secs(20);

type Failure = Box<dyn std::error::Error>;

/// For a peer to start, or to answer.
const LIMIT: Duration = Duration::from_secs(60);

/// Options of every omniORB process.
const OPTIONS: [&str; 6] = [
    "-ORBgiopMaxMsgSize",
    "134217728",
    "-ORBverifyObjectExistsAndType",
    "1",
    "-ORBtraceLevel",
    "1",
];

const NO_WIDE: &str = "GIOP 1.0 has no wide characters (CORBA 3.3 part 2, 9.3.1.6)";
const NO_WIDE_IN_1_1: &str = "omniORB has no wide text in GIOP 1.1: its references say so (they \
                              publish no code sets), and its client raises INV_OBJREF";
const LONG_DOUBLE: &str = "omniORB sends the processor's own format (80 bits on x86-64) instead of \
                           the IEEE 754 quadruple of CORBA 3.3 part 2, 9.3.1.4";

/// Our side: a server and clients.
#[derive(Debug)]
struct Ours {
    server: Orb,
    client: Orb,
    /// As `server` and `client`, but sending no fragments.
    whole_server: Orb,
    whole_client: Orb,
    parameters: p::Parameters,
    describe: p::Describe,
    whole: p::Describe,
    forwarder: p::Describe,
    unknown: p::Describe,
    cubit: Cubit,
}

/// Tries everything against omniORB.
///
/// # Errors
/// What kept the run from being made at all.
pub(crate) fn run(folder: &Path, matrix: &mut Matrix) -> Result<(), Failure> {
    eprintln!("building the peer in {}", folder.display());
    let program = build::omniorb(folder)?;
    for version in Version::ALL {
        eprintln!("GIOP {}", version.text());
        one_version(&program, folder, version, matrix)?;
    }
    Ok(())
}

fn one_version(
    program: &Path,
    folder: &Path,
    version: Version,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    let ours = Ours::start(version)?;
    let server = PeerServer::start(program, version, &ours)?;
    let objects = server.objects(&ours)?;
    let mut ports = Vec::new();
    for orb in [&ours.server, &ours.whole_server] {
        ports.extend(orb.endpoints().iter().map(|endpoint| endpoint.port));
    }
    let capture = Capture::start(
        &folder.join(format!("giop-{}.pcapng", version.text())),
        server.port,
        ports,
    );

    eprintln!("  our client, their server");
    to(&objects, version, matrix);
    eprintln!("  our client, their server, their client, our server");
    through(&server, &ours, version, matrix)?;
    eprintln!("  their client, our server");
    from(program, &ours, version, matrix)?;

    services::references(
        &ours.client,
        &server.describe,
        &ours.describe,
        version,
        matrix,
    );
    services::naming(&objects.mine, version, matrix);
    for (case, direction, outcome) in capture.end(version) {
        matrix.record(case, version, direction, outcome);
    }
    ours.stop()
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

fn to(objects: &native::Objects, version: Version, matrix: &mut Matrix) {
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

fn from(program: &Path, ours: &Ours, version: Version, matrix: &mut Matrix) -> Result<(), Failure> {
    let mut command = Command::new(program);
    command.arg("call");
    for object in [
        ours.parameters.as_object(),
        ours.describe.as_object(),
        ours.whole.as_object(),
        ours.forwarder.as_object(),
        ours.unknown.as_object(),
        ours.cubit.as_object(),
    ] {
        command.arg(object.orb().object_to_string(object)?);
    }
    command.arg(if has_wide(version) { "wide" } else { "narrow" });
    // What our references publish from GIOP 1.1 on makes it choose UTF-8.
    let utf8 = version > Version::V1_0;
    command.arg(if utf8 { "utf-8" } else { "latin-1" });
    command
        .args(OPTIONS)
        .args(["-ORBmaxGIOPVersion", version.text()]);
    let client = Running::start("their client", &mut command)?;
    loop {
        let Some(line) = client.line(LIMIT)? else {
            return Err("their client has ended before its last case".into());
        };
        match line.split_once(' ') {
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

fn orb(version: Version, fragment_size: usize) -> Result<Orb, Failure> {
    let orb = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
    let orb = orb.configure(|config| {
        config.giop_version = match version {
            Version::V1_0 => GiopVersion::V1_0,
            Version::V1_1 => GiopVersion::V1_1,
            Version::V1_2 => GiopVersion::V1_2,
        };
        config.fragment_size = fragment_size;
        config.timeouts.call = Some(CALL);
    });
    Ok(orb.build()?)
}

/// Activates a Describe that knows itself.
fn describe(poa: &Poa) -> Result<p::Describe, Failure> {
    let servant = Arc::new(servants::Describe::default());
    let reference: p::Describe = poa.activate(servant.clone())?;
    servant.is(&reference);
    Ok(reference)
}

impl Ours {
    fn start(version: Version) -> Result<Self, Failure> {
        let (server, client) = (orb(version, 64 << 10)?, orb(version, 64 << 10)?);
        let (whole_server, whole_client) = (orb(version, 0)?, orb(version, 0)?);
        let poa = server.root_poa()?;
        let cubit = poa.activate(CubitImpl::new(server.clone()))?;
        let parameters = poa.activate(servants::Parameters::default())?;
        let (known, forwarder, unknown) = (describe(&poa)?, describe(&poa)?, describe(&poa)?);
        poa.forward(&forwarder, &known)?;
        poa.deactivate(&unknown)?;
        poa.manager().activate()?;
        let whole_poa = whole_server.root_poa()?;
        let whole = describe(&whole_poa)?;
        whole_poa.manager().activate()?;
        Ok(Self {
            server,
            client,
            whole_server,
            whole_client,
            parameters,
            describe: known,
            whole,
            forwarder,
            unknown,
            cubit,
        })
    }

    fn stop(self) -> Result<(), Failure> {
        for orb in [
            self.client,
            self.whole_client,
            self.server,
            self.whole_server,
        ] {
            orb.shutdown(true)?;
        }
        Ok(())
    }
}

/// Their server process, and what it serves.
#[derive(Debug)]
struct PeerServer {
    _process: Running,
    port: u16,
    parameters: String,
    describe: String,
    forwarder: String,
    unknown: String,
    cubit: String,
}

impl PeerServer {
    fn start(program: &Path, version: Version, ours: &Ours) -> Result<Self, Failure> {
        let target = ours.server.object_to_string(&ours.parameters)?;
        let mut command = Command::new(program);
        command.args(["serve", &target]).args(OPTIONS);
        command.args(["-ORBmaxGIOPVersion", version.text()]);
        command.args(["-ORBendPoint", "giop:tcp:127.0.0.1:"]);
        let process = Running::start("their server", &mut command)?;
        let mut references = BTreeMap::new();
        loop {
            let line = process.line(LIMIT)?;
            let line = line.ok_or("their server has ended at its start")?;
            match line.split_once(' ') {
                Some((name, reference)) => {
                    references.insert(name.to_owned(), reference.to_owned());
                }
                None if line == "ready" => break,
                None => eprintln!("  their server says: {line}"),
            }
        }
        let mut take = |name: &str| {
            references
                .remove(name)
                .ok_or_else(|| format!("their server has no `{name}`"))
        };
        let describe = take("describe")?;
        Ok(Self {
            port: services::address(&ours.client, &describe)?.1,
            parameters: take("parameters")?,
            forwarder: take("forwarder")?,
            unknown: take("unknown")?,
            cubit: take("cubit")?,
            describe,
            _process: process,
        })
    }

    fn objects(&self, ours: &Ours) -> Result<native::Objects, Failure> {
        fn object<I: Interface>(orb: &Orb, text: &str) -> Result<I, Failure> {
            Ok(I::from_object(orb.string_to_object(text)?))
        }
        let version = services::version(&ours.client, &self.describe)?;
        Ok(native::Objects {
            describe: object(&ours.client, &self.describe)?,
            whole: object(&ours.whole_client, &self.describe)?,
            forwarder: object(&ours.client, &self.forwarder)?,
            unknown: object(&ours.client, &self.unknown)?,
            cubit: object(&ours.client, &self.cubit)?,
            corbaloc: format!("corbaloc:iiop:{version}@127.0.0.1:{}/well-known", self.port),
            mine: ours.describe.clone().into(),
            orb: ours.client.clone(),
            // Before GIOP 1.2 omniORB publishes no code sets, which means ISO 8859-1.
            utf8: version == "1.2",
        })
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
