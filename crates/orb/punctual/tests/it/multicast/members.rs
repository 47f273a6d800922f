//! Members of groups in POAs (`PortableGroup::GOA`).

use super::support::{
    LIMIT, Member, Server, group_address, group_at, is_absent, orb, order, seen_by, tell,
};
use crate::support::{Echo, pause, watchdog};
use punctual::multicast::{Goa, GoaError};
use punctual::{Implements, Orb, RootPoa, SystemException};
use std::sync::Arc;

#[test]
fn objects_become_members_and_cease_to_be() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let address = group_address();
    let (group, other) = (
        group_at(&server.orb, address, 1),
        group_at(&server.orb, address, 2),
    );
    let (_, a) = server.object("a");
    let (object, b) = server.object("b");
    let goa = &server.goa;
    assert_eq!(goa.reference_to_ids(&group).unwrap(), []);
    let before = server.orb.endpoints().len();
    for id in [&a, &b, &a] {
        goa.associate_reference_with_id(&group, id).unwrap();
    }
    goa.associate_reference_with_id(&other, &b).unwrap();
    assert_eq!(
        goa.reference_to_ids(&group).unwrap(),
        [a.clone(), b.clone()]
    );
    assert_eq!(
        goa.reference_to_ids(&other).unwrap(),
        std::slice::from_ref(&b)
    );
    // Groups at one address share a socket.
    assert_eq!(server.orb.endpoints().len(), before + 1);
    tell(&seen_by(&client, &group), "one").unwrap();
    tell(&seen_by(&client, &other), "two").unwrap();
    assert_eq!(server.heard.wait_for(3), ["a one", "b one", "b two"]);
    goa.disassociate_reference_with_id(&group, &b).unwrap();
    let again = goa.disassociate_reference_with_id(&group, &b);
    assert!(matches!(again, Err(GoaError::NotAMember)));
    tell(&seen_by(&client, &group), "three").unwrap();
    assert_eq!(server.heard.wait_for(4)[3..], ["a three"]);
    let none = goa.associate_reference_with_id(&object, &a).unwrap_err();
    assert!(matches!(none, GoaError::NotAGroupObject));
    assert!(
        SystemException::from(none)
            .to_string()
            .contains("INV_OBJREF")
    );
    goa.disassociate_reference_with_id(&group, &a).unwrap();
    assert_eq!(server.orb.endpoints().len(), before + 1);
    goa.disassociate_reference_with_id(&other, &b).unwrap();
    assert_eq!(server.orb.endpoints().len(), before);
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}

#[test]
fn the_address_that_was_joined_is_left_whichever_reference_ends_the_membership() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let server = Server::new();
    let here = group_at(&server.orb, group_address(), 1);
    let elsewhere = group_at(&server.orb, group_address(), 1);
    let before = server.orb.endpoints().len();
    let id = server.member("a", &here);
    let goa = &server.goa;
    goa.associate_reference_with_id(&elsewhere, &id).unwrap();
    assert_eq!(server.orb.endpoints().len(), before + 1);
    goa.disassociate_reference_with_id(&elsewhere, &id).unwrap();
    assert_eq!(server.orb.endpoints().len(), before);
    server.orb.shutdown(true).unwrap();
}

#[test]
fn ids_for_members_may_be_had_before_the_objects() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let group = group_at(&server.orb, group_address(), 1);
    server.member("a", &group);
    let id = server.goa.create_id_for_reference(&group).unwrap();
    let ids = server.goa.reference_to_ids(&group).unwrap();
    assert_eq!(ids.last(), Some(&id));
    let seen = seen_by(&client, &group);
    // An object that is not active does not keep the request from others.
    tell(&seen, "early").unwrap();
    assert_eq!(server.heard.wait_for(1)[0], "a early");
    let late = Arc::new(Member {
        name: "late",
        heard: server.heard.clone(),
    });
    let servant = <Echo as Implements<_>>::servant(late);
    server.poa.activate_object_with_id(&id, servant).unwrap();
    tell(&seen, "then").unwrap();
    while !server.heard.all().contains(&"late then".to_owned()) {
        pause();
    }
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}

#[test]
fn members_of_several_poas_serve_under_their_own_managers() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let group = group_at(&server.orb, group_address(), 1);
    let poa = server.poa.create_poa("own", None, &[]).unwrap();
    poa.manager().discard_requests(true).unwrap();
    let member = Arc::new(Member {
        name: "discards",
        heard: server.heard.clone(),
    });
    let object: Echo = poa.activate(member).unwrap();
    let id = poa.reference_to_id(&object).unwrap();
    let goa = Goa::of(&poa).unwrap();
    goa.associate_reference_with_id(&group, &id).unwrap();
    server.member("a", &group);
    assert_eq!(goa.reference_to_ids(&group).unwrap(), [id]);
    let seen = seen_by(&client, &group);
    tell(&seen, "one").unwrap();
    assert_eq!(server.heard.wait_for(1), ["a one"]);
    poa.manager().activate().unwrap();
    tell(&seen, "two").unwrap();
    assert_eq!(server.heard.wait_for(3)[1..], ["discards two", "a two"]);
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}

#[test]
fn a_member_that_fails_or_panics_does_not_keep_the_request_from_others() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let group = group_at(&server.orb, group_address(), 1);
    server.member("a", &group);
    server.member("b", &group);
    let seen = seen_by(&client, &group);
    for operation in ["panic", "refuse", "unknown", "refuse"] {
        order(&seen, operation).unwrap();
    }
    tell(&seen, "on").unwrap();
    let mut expected = [
        "a panics",
        "b panics",
        "a refuses",
        "b refuses",
        "a refuses",
        "b refuses",
        "a on",
        "b on",
    ];
    expected.sort_unstable();
    // While one request takes long, another thread begins with the next.
    let mut heard = server.heard.wait_for(expected.len());
    heard.sort_unstable();
    assert_eq!(heard, expected);
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}

#[test]
fn a_request_for_a_group_without_members_here_makes_no_connection() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let address = group_address();
    server.member("a", &group_at(&server.orb, address, 1));
    tell(&group_at(&client, address, 2), "others").unwrap();
    while server.multicast().counts().refused == 0 {
        pause();
    }
    assert_eq!(server.orb.client_connections(), 0);
    tell(&group_at(&client, address, 1), "ours").unwrap();
    assert_eq!(server.heard.wait_for(1), ["a ours"]);
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}

#[test]
fn an_orb_without_groups_has_no_group_adapter() {
    let orb = Orb::builder().build().unwrap();
    assert!(Goa::of(&orb.root_poa().unwrap()).is_none());
    orb.shutdown(true).unwrap();
}
