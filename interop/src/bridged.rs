//! Bridge test: the peer's client calls a server of ours that listens on shared memory only,
//! through a bridge that listens on TCP and decodes no body.

use crate::Failure;
use crate::directions::from_by;
use crate::matrix::{Matrix, Version};
use crate::peer::Peer;
use crate::role::Role;
use crate::sides::{Ours, orb};
use crate::transport::Transport;
use punctual::bridge::{Bridge, BridgeOptions};
use punctual::{Interface, Orb};

/// Reason why calls with references in their bodies are not tested in GIOP 1.0.
const NO_ROOM: &str = "profiles of version 1.0 have no components that could take up what a shorter \
                       reference leaves, so references in bodies are not rewritten";

/// Runs all test cases of the peer's client.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("a bridge to shared memory");
    for version in Version::ALL {
        let ours = Ours::start(version, &Transport::SharedMemory)?;
        // Each of our two servers has a bridge of its own.
        let bridge = to_server_of(&ours.describe, version)?;
        let whole = to_server_of(&ours.whole, version)?;
        eprintln!(
            "  GIOP {}: their client, a bridge, our server",
            version.text()
        );
        let text = |object: &punctual::ObjectRef| -> Result<String, Failure> {
            let is_whole = object == ours.whole.as_object();
            let by = if is_whole { &whole } else { &bridge };
            let key = object.object_key().ok_or("a reference without a key")?;
            let there = by.reference_to(object.type_id(), &key)?;
            Ok(by.orb().object_to_string(&there)?)
        };
        let excused = (version == Version::V1_0).then_some(("references", NO_ROOM));
        from_by(
            peer,
            &Transport::Tcp,
            &ours,
            version,
            &text,
            excused,
            matrix,
        )?;
        let counts = bridge.counts();
        eprintln!(
            "  the bridge has carried {} calls, {} references rewritten",
            counts.two_way + counts.one_way,
            counts.rewritten
        );
        for bridge in [bridge, whole] {
            bridge.orb().shutdown(true)?;
        }
        ours.stop()?;
    }
    Ok(())
}

/// Makes a bridge from TCP to the server of the given object; the bridge has an ORB of its own.
fn to_server_of(object: &impl Interface, version: Version) -> Result<Bridge, Failure> {
    let orb: Orb = orb(version, &Transport::Tcp, Role::Server)?;
    let text = object
        .as_object()
        .orb()
        .object_to_string(object.as_object())?;
    let target = orb.string_to_object(&text)?;
    let options = BridgeOptions {
        rewrite_references: true,
        ..BridgeOptions::default()
    };
    Ok(Bridge::new(&orb, &target, &options)?)
}
