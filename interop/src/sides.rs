//! The two sides of a run: our ORBs with their objects, and the peer's process with its objects.

use crate::Failure;
use crate::matrix::Version;
use crate::native;
use crate::params as p;
use crate::peer::Peer;
use crate::process::Running;
use crate::role::Role;
use crate::servants;
use crate::transport::Transport;
use punctual::{Interface, ObjectRef, Orb, OrbConfig, Poa, RootPoa};
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::Cubit;
use punctual_ior::{Component, IiopProfile, Profile};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for one CORBA call.
const CALL: Duration = Duration::from_secs(20);

/// Time limit for a peer to start, or to answer.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Punctual's side of the tests: a server and clients.
#[derive(Debug)]
pub(crate) struct Ours {
    pub(crate) server: Orb,
    pub(crate) client: Orb,
    /// ORBs like `server` and `client`, but configured to send no fragments.
    pub(crate) whole_server: Orb,
    whole_client: Orb,
    pub(crate) parameters: p::Parameters,
    pub(crate) describe: p::Describe,
    pub(crate) whole: p::Describe,
    pub(crate) forwarder: p::Describe,
    pub(crate) unknown: p::Describe,
    pub(crate) cubit: Cubit,
}

/// Makes an ORB of ours for a role.
///
/// # Errors
/// The ORB could not be made.
pub(crate) fn orb(version: Version, transport: &Transport, role: Role) -> Result<Orb, Failure> {
    sized(version, transport, role, 64 << 10)
}

fn sized(
    version: Version,
    transport: &Transport,
    role: Role,
    fragment_size: usize,
) -> Result<Orb, Failure> {
    let configure = |config: &mut OrbConfig| {
        config.giop_version = version.giop();
        config.fragment_size = fragment_size;
        config.timeouts.call = Some(CALL);
        config.tls = transport.our_tls(role);
    };
    let orb = Orb::builder().listen(transport.our_endpoint());
    Ok(orb.configure(configure).build()?)
}

/// Activates a `Describe` servant, and passes it its own reference.
pub(crate) fn describe(poa: &Poa) -> Result<p::Describe, Failure> {
    let servant = Arc::new(servants::Describe::default());
    let reference: p::Describe = poa.activate(servant.clone())?;
    servant.is(&reference);
    Ok(reference)
}

impl Ours {
    /// Starts our side.
    ///
    /// # Errors
    /// Our side could not be started.
    pub(crate) fn start(version: Version, transport: &Transport) -> Result<Self, Failure> {
        let server = orb(version, transport, Role::Server)?;
        let client = orb(version, transport, Role::Client)?;
        let whole_server = sized(version, transport, Role::Server, 0)?;
        let whole_client = sized(version, transport, Role::Client, 0)?;
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

    /// Shuts our ORBs down after all calls have ended.
    ///
    /// # Errors
    /// Exceptions raised by the shutdown of an ORB.
    pub(crate) fn stop(self) -> Result<(), Failure> {
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

/// Server process of the peer, with the references to its objects.
#[derive(Debug)]
pub(crate) struct PeerServer {
    _process: Running,
    name: &'static str,
    publishes_utf8: bool,
    /// Port of the peer's server; 0 for a transport without ports.
    pub(crate) port: u16,
    pub(crate) parameters: String,
    pub(crate) describe: String,
    forwarder: String,
    unknown: String,
    cubit: String,
}

impl PeerServer {
    /// Starts the process, and waits until it serves.
    ///
    /// # Errors
    /// The output of a process that does not serve.
    pub(crate) fn start(
        peer: &Peer,
        version: Version,
        transport: &Transport,
        ours: &Ours,
    ) -> Result<Self, Failure> {
        let target = ours.server.object_to_string(&ours.parameters)?;
        let mut command = peer.command(version, transport, Role::Server);
        command.args(["serve", &target]);
        let process = Running::start("their server", &mut command)?;
        let mut references = announced(&process)?;
        let mut take = |name: &str| {
            references
                .remove(name)
                .ok_or_else(|| format!("their server has no `{name}`"))
        };
        let describe = take("describe")?;
        let profile = profile(&ours.client, &describe)?;
        Ok(Self {
            name: peer.name(),
            publishes_utf8: peer.publishes_utf8(&profile.version.to_string()),
            port: port(&profile),
            parameters: take("parameters")?,
            forwarder: take("forwarder")?,
            unknown: take("unknown")?,
            cubit: take("cubit")?,
            describe,
            _process: process,
        })
    }

    /// Returns references to the peer's objects, in our client's ORBs.
    ///
    /// # Errors
    /// The process printed invalid references.
    pub(crate) fn objects(
        &self,
        transport: &Transport,
        ours: &Ours,
    ) -> Result<native::Objects, Failure> {
        fn object<I: Interface>(orb: &Orb, text: &str) -> Result<I, Failure> {
            Ok(I::from_object(orb.string_to_object(text)?))
        }
        let version = profile(&ours.client, &self.describe)?.version.to_string();
        Ok(native::Objects {
            describe: object(&ours.client, &self.describe)?,
            whole: object(&ours.whole_client, &self.describe)?,
            forwarder: object(&ours.client, &self.forwarder)?,
            unknown: object(&ours.client, &self.unknown)?,
            cubit: object(&ours.client, &self.cubit)?,
            corbaloc: transport.corbaloc(&version, self.port, "well-known"),
            mine: ours.describe.clone().into(),
            orb: ours.client.clone(),
            peer: self.name,
            utf8: self.publishes_utf8,
        })
    }
}

/// Returns the names and values that a server prints until it reports that it is ready.
///
/// # Errors
/// The server ends, or prints nothing within the time limit, before it is ready.
pub(crate) fn announced(process: &Running) -> Result<BTreeMap<String, String>, Failure> {
    let mut references = BTreeMap::new();
    loop {
        let line = process.line(LIMIT)?;
        let line = line.ok_or("the server has ended at its start")?;
        match line.split_once(' ') {
            Some((name, reference)) => {
                references.insert(name.to_owned(), reference.to_owned());
            }
            None if line == "ready" => return Ok(references),
            None => eprintln!("  the server says: {line}"),
        }
    }
}

/// Returns the IIOP profile of a reference as text.
fn profile(orb: &Orb, reference: &str) -> Result<IiopProfile, Failure> {
    iiop_profile(&orb.string_to_object(reference)?)
}

/// Returns the IIOP profile of a reference.
///
/// # Errors
/// The reference has none.
pub(crate) fn iiop_profile(object: &ObjectRef) -> Result<IiopProfile, Failure> {
    let mut profiles = object.ior().profiles.iter();
    let found = profiles.find_map(|profile| match profile.decode() {
        Ok(Profile::Iiop(iiop)) => Some(iiop),
        _ => None,
    });
    found.ok_or_else(|| "a reference without IIOP profile".into())
}

/// Returns the port for TLS if the profile has one, otherwise the profile's own port.
fn port(profile: &IiopProfile) -> u16 {
    let mut components = profile.components.iter();
    let secured = components.find_map(|component| match component.decode() {
        Ok(Component::SslSecTrans(tls)) => Some(tls.port),
        _ => None,
    });
    secured.unwrap_or(profile.port)
}
