//! References with Real-time CORBA components (TAO's endpoints and a priority model), which peers
//! that support neither must be able to use.

use crate::Failure;
use crate::matrix::{Direction, Matrix, Version};
use crate::peer::Peer;
use crate::process;
use crate::role::Role;
use crate::sides::{LIMIT, describe};
use crate::transport::Transport;
use punctual::poa::PoaPolicy;
use punctual::rt::{NativePolicy, Priority, PriorityModelPolicy, RtConfig, RtOrb};
use punctual::{ListenEndpoint, Orb, RootPoa};

/// Tests the peer's client against a server of ours that listens only at the endpoints of two
/// lanes.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) {
    let outcome = from_lanes(peer).map_err(|error| error.to_string());
    let row = "a reference with lanes";
    matrix.record(row, Version::V1_2, Direction::From, outcome);
}

fn from_lanes(peer: &Peer) -> Result<(), Failure> {
    let rt = RtOrb::new(RtConfig {
        policy: NativePolicy::Other,
        ..RtConfig::default()
    })?;
    let lane = |priority: i16| ListenEndpoint::iiop("127.0.0.1", 0).option("priority", priority);
    let builder = Orb::builder().listen(lane(100)).listen(lane(20_000));
    let server = rt.extend(builder)?.build()?;
    let root = server.root_poa()?;
    let model = PriorityModelPolicy::client_propagated(Priority::MIN);
    let poa = root.create_poa("lanes", Some(root.manager()), &[PoaPolicy::of(model)])?;
    let object = describe(&poa)?;
    root.manager().activate()?;
    let mut command = peer.command(Version::V1_2, &Transport::Tcp, Role::Client);
    command.arg("ask").arg(server.object_to_string(&object)?);
    let said = process::run("their client", &mut command, LIMIT)?;
    server.shutdown(true)?;
    match String::from_utf8_lossy(&said.stdout).trim() {
        "name Punctual" => Ok(()),
        other => Err(format!("their client says `{other}`").into()),
    }
}
