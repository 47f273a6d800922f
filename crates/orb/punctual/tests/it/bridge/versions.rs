//! GIOP versions and code sets: the bridge calls the target in those of the client, or refuses the
//! request.

use crate::bridge::bridged::{Bridged, LIMIT, Setup};
use crate::support::watchdog;
use punctual::config::GiopVersion;
use punctual::{CompletionStatus, Interface, SystemExceptionKind as Kind};
use punctual_ior::{TaggedComponent, tags};

#[test]
fn each_version_of_giop_passes_to_a_server_that_has_it() {
    let _watchdog = watchdog(LIMIT);
    for client in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        let bridged = Bridged::new(Setup {
            client,
            ..Setup::default()
        });
        assert_eq!(bridged.echo.long(-5).unwrap(), -5, "GIOP {client}");
        assert_eq!(bridged.echo.octets(&[9; 5000]).unwrap(), [9; 5000]);
        assert_eq!(bridged.echo.fail().unwrap_err().minor(), 42);
    }
}

#[test]
fn a_bridge_to_an_older_server_publishes_that_servers_version() {
    let bridged = Bridged::new(Setup {
        server: GiopVersion::V1_0,
        ..Setup::default()
    });
    let profile = bridged.echo.as_object().ior().iiop_profiles().next();
    assert_eq!(
        profile.unwrap().unwrap().version.giop(),
        Some(GiopVersion::V1_0)
    );
    assert_eq!(bridged.echo.long(1).unwrap(), 1);
}

#[test]
fn a_request_in_a_version_that_the_target_lacks_is_refused_before_it_begins() {
    let bridged = Bridged::new(Setup {
        server: GiopVersion::V1_1,
        ..Setup::default()
    });
    let newer = bridged.changed(|profile| profile.version = GiopVersion::V1_2.into());
    let refused = newer.long(1).unwrap_err();
    assert_eq!(refused.kind(), Kind::ImpLimit);
    assert_eq!(refused.completed(), CompletionStatus::No);
    assert_eq!(bridged.counts().refused, 1);
    assert_eq!(bridged.echo.long(1).unwrap(), 1, "others are served");
}

#[test]
fn a_request_in_code_sets_that_the_target_lacks_is_refused_before_it_begins() {
    // GIOPlite negotiates nothing: it has UTF-8 and UTF-16.
    let bridged = Bridged::between("iiop", "giop_lite+uiop");
    let code_sets = tags::component::CODE_SETS;
    let latin = bridged.changed(|profile| profile.components.retain(|one| one.tag != code_sets));
    let refused = latin.text("a").unwrap_err();
    assert_eq!(refused.kind(), Kind::CodesetIncompatible);
    assert_eq!(refused.completed(), CompletionStatus::No);
    assert_eq!(bridged.echo.text("ä").unwrap(), "ä");
}

#[test]
fn the_target_is_called_in_the_code_sets_that_the_client_chose() {
    let bridged = Bridged::between("iiop", "uiop");
    let latin = bridged.changed(|profile| {
        profile.components = vec![TaggedComponent::orb_type(0)];
    });
    // In ISO 8859-1 on both sides: one octet where UTF-8 has two.
    assert_eq!(latin.text("Grüße").unwrap(), "Grüße");
    assert_eq!(bridged.echo.text("世界").unwrap(), "世界");
}
