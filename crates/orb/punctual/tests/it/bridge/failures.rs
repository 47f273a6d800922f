//! Failures of a target as its client sees them, and requests that a bridge refuses.

use crate::bridge::bridged::{Bridged, LIMIT, Setup, moved, orb};
use crate::support::{Echo, watchdog};
use punctual::bridge::{Bridge, BridgeOptions};
use punctual::config::GiopVersion;
use punctual::{CompletionStatus, Interface, Orb, SystemExceptionKind as Kind};
use std::net::TcpListener;
use std::time::Duration;

#[test]
fn system_exceptions_come_back_with_their_minor_code_and_completion() {
    let bridged = Bridged::between("iiop", "uiop");
    let raised = bridged.echo.fail().unwrap_err();
    assert_eq!(raised.kind(), Kind::NoPermission);
    assert_eq!(
        (raised.minor(), raised.completed()),
        (42, CompletionStatus::Yes)
    );
    let unknown = bridged.echo.unknown().unwrap_err();
    assert_eq!(unknown.kind(), Kind::BadOperation);
    assert_eq!(unknown.completed(), CompletionStatus::No);
    // The target has answered, so this is no failure.
    assert_eq!(bridged.counts().failed, 0);
}

/// Makes a bridge to a target at this port; returns the bridge's ORB, the bridge, and the reference
/// to the target through the bridge.
fn bridged_to(port: u16) -> (Orb, Bridge, Echo) {
    let middle = orb(Some("iiop"), GiopVersion::V1_2);
    let target = middle.string_to_object(&format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x"));
    let bridge = Bridge::new(&middle, &target.unwrap(), &BridgeOptions::default()).unwrap();
    let client = orb(None, GiopVersion::V1_2);
    let echo = Echo::from_object(moved(&bridge.reference().unwrap(), &client));
    (middle, bridge, echo)
}

#[test]
fn a_target_that_cannot_be_reached_is_transient_and_not_begun() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (middle, bridge, echo) = bridged_to(port);
    let raised = echo.long(1).unwrap_err();
    assert_eq!(raised.kind(), Kind::Transient);
    assert_eq!(raised.completed(), CompletionStatus::No);
    assert_eq!(bridge.counts().failed, 1);
    middle.shutdown(false).unwrap();
}

#[test]
fn a_target_that_dies_in_mid_call_may_have_completed_it() {
    let _watchdog = watchdog(LIMIT);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let dying = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut begun = [0; 12];
        std::io::Read::read_exact(&mut stream, &mut begun).unwrap();
    });
    let (middle, _bridge, echo) = bridged_to(port);
    let raised = echo.long(1).unwrap_err();
    assert_eq!(raised.kind(), Kind::CommFailure);
    assert_eq!(raised.completed(), CompletionStatus::Maybe);
    dying.join().unwrap();
    middle.shutdown(false).unwrap();
}

#[test]
fn a_target_that_has_said_goodbye_has_not_begun_what_comes_after() {
    let bridged = Bridged::between("iiop", "uiop");
    assert_eq!(bridged.echo.long(1).unwrap(), 1);
    bridged.server.shutdown(true).unwrap();
    let raised = bridged.echo.long(1).unwrap_err();
    assert_eq!(raised.kind(), Kind::Transient);
    assert_eq!(raised.completed(), CompletionStatus::No);
}

#[test]
fn the_bridges_own_time_limit_ends_a_call_that_takes_longer() {
    let _watchdog = watchdog(LIMIT);
    let mut limit = Duration::from_millis(30);
    loop {
        let bridged = Bridged::new(Setup {
            options: BridgeOptions {
                timeout: Some(limit),
                ..BridgeOptions::default()
            },
            ..Setup::default()
        });
        let raised = bridged.echo.wait().unwrap_err();
        assert_eq!(raised.kind(), Kind::Timeout);
        if raised.completed() == CompletionStatus::Maybe {
            break;
        }
        // On a busy machine the request may not even have left by then.
        limit *= 2;
        assert!(limit < LIMIT, "the request never leaves");
    }
}

#[test]
fn a_bridge_to_itself_is_refused_and_bridges_in_a_ring_end_with_a_transient() {
    let _watchdog = watchdog(LIMIT);
    let rings: Vec<Orb> = (0..2)
        .map(|_| orb(Some("iiop"), GiopVersion::V1_2))
        .collect();
    let targets: Vec<String> = rings
        .iter()
        .map(|orb| {
            orb.listen().unwrap();
            let port = orb.endpoints()[0].port().unwrap();
            format!("corbaloc:iiop:1.2@127.0.0.1:{port}/ring")
        })
        .collect();
    let to = |orb: &Orb, target: &str| {
        let target = orb.string_to_object(target).unwrap();
        Bridge::new(orb, &target, &BridgeOptions::default())
    };
    let alone = orb(Some("iiop"), GiopVersion::V1_2);
    alone.listen().unwrap();
    let port = alone.endpoints()[0].port().unwrap();
    let itself = to(&alone, &format!("corbaloc:iiop:1.2@127.0.0.1:{port}/x"));
    assert_eq!(itself.unwrap_err().kind(), Kind::BadParam);
    let bridges = [
        to(&rings[0], &targets[1]).unwrap(),
        to(&rings[1], &targets[0]).unwrap(),
    ];
    let client = orb(None, GiopVersion::V1_2);
    let echo = Echo::from_object(client.string_to_object(&targets[0]).unwrap());
    let raised = echo.long(1).unwrap_err();
    assert_eq!(raised.kind(), Kind::Transient);
    assert!(bridges[0].counts().two_way + bridges[0].counts().failed <= 16);
    for orb in rings.iter().chain([&alone]) {
        orb.shutdown(false).unwrap();
    }
}

#[test]
fn an_orb_with_objects_of_its_own_cannot_be_a_bridge() {
    let bridged = Bridged::between("iiop", "uiop");
    let target = moved(bridged.echo.as_object(), &bridged.server);
    let refused = Bridge::new(&bridged.server, &target, &BridgeOptions::default());
    assert_eq!(refused.unwrap_err().kind(), Kind::BadInvOrder);
}
