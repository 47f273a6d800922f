//! Interceptors of each ORB read the service contexts that the other ORB's interceptors have added
//! to requests and replies. omniORB is not tested: it has only proprietary interceptors, for
//! programs that are linked with it.

use crate::Failure;
use crate::matrix::{Direction, Matrix, Version};
use crate::params as p;
use crate::peer::Peer;
use crate::process::{self, Running};
use crate::role::Role;
use crate::sides::{LIMIT, announced, describe};
use crate::transport::Transport;
use punctual::interceptor::{
    ClientRequestInfo, ClientRequestInterceptor, InterceptorError, ServerRequestInfo,
    ServerRequestInterceptor,
};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa, SystemException};
use std::sync::{Arc, Mutex};

/// Service context id in the peer's requests and replies (`Hooks.java`).
const THEIRS: u32 = 0x4a41_4301;
const THEIR_REPLY: u32 = 0x4a41_4302;
/// Id of the service context that Punctual's client interceptor adds to requests.
const OURS: u32 = 0x5055_4e98;
const OUR_REPLY: u32 = 0x5055_4e99;

/// Server interceptor of ours: returns the request's service context in the reply.
struct AtServer;

impl ServerRequestInterceptor for AtServer {
    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        let came = info.get_request_service_context(THEIRS)?;
        info.add_reply_service_context(OUR_REPLY, &[b"seen ", came].concat(), false)
    }
}

/// Client interceptor of ours: records the service context of the reply.
struct AtClient(Arc<Mutex<Vec<u8>>>);

impl ClientRequestInterceptor for AtClient {
    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        Ok(info.add_request_service_context(OURS, b"from Punctual", false)?)
    }

    fn receive_reply(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        let came = info.get_reply_service_context(THEIR_REPLY)?.to_vec();
        if let Ok(mut noted) = self.0.lock() {
            *noted = came;
        }
        Ok(())
    }
}

/// Tests both directions, in the GIOP versions in which these ORBs send service contexts.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) {
    matrix.over("TCP, interceptors");
    let row = "service contexts of the other side's";
    for version in [Version::V1_1, Version::V1_2] {
        let from = from(peer, version).map_err(|error| error.to_string());
        matrix.record(row, version, Direction::From, from);
        let to = to(peer, version).map_err(|error| error.to_string());
        matrix.record(row, version, Direction::To, to);
    }
}

/// Tests the interceptors with the peer's client and Punctual's server.
fn from(peer: &Peer, version: Version) -> Result<(), Failure> {
    let server = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.giop_version = version.giop())
        .server_interceptor(Arc::new(AtServer))
        .build()?;
    let root = server.root_poa()?;
    let object = describe(&root)?;
    root.manager().activate()?;
    let mut command = peer.command(version, &Transport::Tcp, Role::Client);
    command
        .arg("hooked-ask")
        .arg(server.object_to_string(&object)?);
    let said = process::run("their client", &mut command, LIMIT)?;
    server.shutdown(true)?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    match lines[..] {
        ["context seen from JacORB", "name Punctual"] => Ok(()),
        _ => Err(format!("their client says `{said}`").into()),
    }
}

/// Tests the interceptors with Punctual's client and the peer's server.
fn to(peer: &Peer, version: Version) -> Result<(), Failure> {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let client = Orb::builder()
        .configure(|config| config.giop_version = version.giop())
        .client_interceptor(Arc::new(AtClient(noted.clone())))
        .build()?;
    let mut command = peer.command(version, &Transport::Tcp, Role::Server);
    // The server requires a target for its relay, which this test never calls.
    command.args(["hooked-serve", "corbaloc:iiop:127.0.0.1:1/nobody"]);
    let server = Running::start("their server", &mut command)?;
    let reference = announced(&server)?.remove("describe");
    let reference = reference.ok_or("their server has no `describe`")?;
    let object = p::Describe::from_object(client.string_to_object(&reference)?);
    let name = object.name()?;
    client.shutdown(true)?;
    let noted = noted.lock().map_err(|_| "the interceptor panicked")?;
    let came = String::from_utf8_lossy(&noted).into_owned();
    match (&*name, &*came) {
        ("JacORB", "seen from Punctual") => Ok(()),
        _ => Err(format!("`{name}` has answered with the context `{came}`").into()),
    }
}
