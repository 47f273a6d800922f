//! References in bodies that pass through the bridge: unchanged, or rewritten.

use crate::bridge::bridged::{Bridged, Setup, exercise, moved};
use crate::support::Echo;
use punctual::Interface;
use punctual::bridge::BridgeOptions;

fn rewriting(near: &str, far: &str) -> Bridged {
    Bridged::new(Setup {
        near,
        far,
        options: BridgeOptions {
            rewrite_references: true,
            ..BridgeOptions::default()
        },
        ..Setup::default()
    })
}

#[test]
fn references_in_bodies_stay_as_they_are_unless_told_otherwise() {
    let bridged = Bridged::between("iiop", "uiop");
    let direct = moved(
        &bridged
            .echo
            .same(Some(bridged.echo.as_object()))
            .unwrap()
            .unwrap(),
        &bridged.client,
    );
    assert_eq!(direct.ior(), bridged.echo.as_object().ior());
    // Each of the nested calls comes back through the bridge.
    assert_eq!(bridged.echo.bounce(&bridged.echo, 3).unwrap(), 3);
    assert_eq!(bridged.counts().two_way, 1 + 4);
}

#[test]
fn rewritten_references_lead_through_the_bridge_there_and_to_the_server_here() {
    for (near, far) in [
        ("iiop", "uiop"),
        ("uiop", "iiop"),
        ("iiop", "shmiop"),
        ("shmiop", "uiop"),
    ] {
        let bridged = rewriting(near, far);
        let back = bridged
            .echo
            .same(Some(bridged.echo.as_object()))
            .unwrap()
            .unwrap();
        assert!(
            back.is_equivalent(bridged.echo.as_object()),
            "{near} to {far}"
        );
        let counts = bridged.counts();
        assert_eq!(
            (counts.rewritten, counts.not_rewritten),
            (2, 0),
            "{near} to {far}"
        );
        assert_eq!(Echo::from_object(back).long(4).unwrap(), 4);
        // To the server the reference is its own: nested calls do not leave it.
        assert_eq!(bridged.echo.bounce(&bridged.echo, 3).unwrap(), 3);
        assert_eq!(bridged.counts().two_way, 3);
    }
}

#[test]
fn references_to_others_are_not_rewritten() {
    let bridged = rewriting("iiop", "uiop");
    let other = bridged
        .client
        .string_to_object("corbaloc:iiop:1.2@192.0.2.1:7/other");
    let back = bridged.echo.same(Some(&other.unwrap())).unwrap().unwrap();
    let profile = back.ior().iiop_profiles().next().unwrap().unwrap();
    assert_eq!((profile.host.as_str(), profile.port), ("192.0.2.1", 7));
    assert_eq!(bridged.counts().rewritten, 0);
    // Octets that are no reference are unchanged, too.
    exercise(&bridged.echo, "with rewriting");
}
