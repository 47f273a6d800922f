//! TLS on one side of the bridge.

use crate::authority::Authority;
use crate::bridge::bridged::{Bridged, LIMIT, Setup, exercise};
use crate::support::watchdog;
use punctual::protocol::ssliop::TlsOptions;
use punctual::{CompletionStatus, Interface, OrbConfig, SystemExceptionKind as Kind};

/// Server and bridge have certificates that all three ORBs trust; the client needs none.
#[test]
fn plain_requests_leave_by_tls_and_those_by_tls_leave_plain() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    let secure = |name: &str, config: &mut OrbConfig| {
        let own = authority.options("127.0.0.1");
        config.tls = Some(match name {
            "client" => TlsOptions {
                certificate: None,
                key: None,
                ..own
            },
            _ => own,
        });
    };
    for (near, far) in [
        ("iiop", "ssliop"),
        ("ssliop", "iiop"),
        ("giop_lite+uiop", "ssliop"),
        ("ssliop", "shmiop"),
    ] {
        let bridged = Bridged::new(Setup {
            near,
            far,
            configure: &secure,
            ..Setup::default()
        });
        exercise(&bridged.echo, &format!("{near} to {far}"));
        let counts = bridged.counts();
        assert_eq!((counts.two_way, counts.refused, counts.failed), (8, 0, 0));
        let connected = bridged.echo.as_object().connected_to().unwrap();
        let link = near.rsplit('+').next().unwrap();
        assert_eq!(connected.link(), link, "{near} to {far}");
        // The server has no other endpoint.
        assert_eq!(bridged.server.client_connections(), 1);
        assert_eq!(&bridged.server.endpoints()[0].protocol, far);
    }
}

#[test]
fn a_server_that_the_bridge_does_not_trust_is_not_called() {
    let _watchdog = watchdog(LIMIT);
    let (authority, other) = (Authority::new(), Authority::new());
    let bridged = Bridged::new(Setup {
        far: "ssliop",
        configure: &|name, config| {
            let of = match name {
                "server" => &other,
                _ => &authority,
            };
            config.tls = Some(of.options("127.0.0.1"));
        },
        ..Setup::default()
    });
    let raised = bridged.echo.long(1).unwrap_err();
    assert_eq!(raised.kind(), Kind::Transient, "{raised}");
    assert_eq!(raised.completed(), CompletionStatus::No);
    assert_eq!(bridged.counts().failed, 1);
}
