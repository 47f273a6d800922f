//! Members that stand by or refuse, and clients with another version of the group's reference.

use crate::contexts::{Contexts, now};
use crate::group::{Server, add, client, client_of, group_of, number, seen_by, through};
use crate::proxy::Proxy;
use punctual::SystemExceptionKind as Kind;
use punctual::fault_tolerance::Role;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

#[test]
fn a_client_with_an_older_reference_goes_on_by_the_current_one() {
    let (old, new, client) = (Server::new(), Server::new(), client());
    let (to_old, to_new) = (Proxy::to(old.port()), Proxy::to(new.port()));
    let (old_ior, new_ior) = (
        through(&old.ior(), to_old.port),
        through(&new.ior(), to_new.port),
    );
    let group = seen_by(&client, &group_of(std::slice::from_ref(&old_ior), 1));
    assert_eq!(add(&group), Ok(1));
    let current = group_of(&[new_ior, old_ior], 2);
    assert!(old.member.set_reference(&current) && new.member.set_reference(&current));
    assert_eq!((add(&group), add(&group)), (Ok(1), Ok(2)));
    assert_eq!((old.servant.upcalls(), new.servant.upcalls()), (1, 2));
    let versions = |proxy: &Proxy| -> Vec<Option<u32>> {
        proxy
            .requests()
            .iter()
            .map(crate::proxy::Recorded::version)
            .collect()
    };
    assert_eq!(versions(&to_old), [Some(1), Some(1)]);
    assert_eq!(versions(&to_new), [Some(2), Some(2)]);
    // The forwarded call has kept its id.
    let ids = (to_old.requests(), to_new.requests());
    assert_eq!(ids.0[1].ft_request(), ids.1[0].ft_request());
}

#[test]
fn a_client_with_a_newer_reference_is_served_once_the_member_knows_it() {
    let (server, client) = (Server::new(), client());
    server.member.set_reference(&group_of(&[server.ior()], 1));
    let newer = group_of(&[server.ior()], 2);
    let short = client_of(Duration::from_millis(100));
    let error = add(&seen_by(&short, &newer)).unwrap_err();
    assert!(
        matches!(error.kind(), Kind::Transient | Kind::Timeout),
        "{error}"
    );
    assert_eq!(server.servant.upcalls(), 0);
    let asked = Arc::new(AtomicU32::new(0));
    let (of_hook, member, known) = (asked.clone(), Arc::downgrade(&server.member), newer.clone());
    server.member.on_newer_version(move |version| {
        of_hook.store(version, Ordering::SeqCst);
        if let Some(member) = member.upgrade() {
            member.set_reference(&known);
        }
    });
    assert_eq!(add(&seen_by(&client, &newer)), Ok(1));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[test]
fn a_member_that_stands_by_forwards_clients_of_any_orb_to_the_group() {
    let (primary, backup) = (Server::new(), Server::new());
    let current = group_of(&[primary.ior(), backup.ior()], 1);
    for member in [&primary.member, &backup.member] {
        member.set_reference(&current);
    }
    backup.member.set_role(Role::Backup);
    let other = punctual::Orb::builder().build().unwrap();
    assert_eq!(add(&seen_by(&other, &backup.ior())), Ok(1));
    assert_eq!(primary.servant.upcalls(), 1);
    let at_backup = seen_by(&other, &backup.ior());
    // What belongs to every object, and to the management of groups, is served here.
    assert_eq!(at_backup.is_a("IDL:test/Echo:1.0"), Ok(true));
    assert_eq!(at_backup.non_existent(), Ok(false));
    assert_eq!(number(&at_backup, "is_alive"), Ok(1));
    assert_eq!(backup.servant.upcalls(), 1);
}

#[test]
fn a_client_of_the_group_goes_on_from_members_that_do_not_serve() {
    let (first, second, third, client) = (Server::new(), Server::new(), Server::new(), client());
    let servers = [&first, &second, &third];
    let current = group_of(&servers.map(Server::ior), 1);
    for server in servers {
        server.member.set_reference(&current);
    }
    first.member.set_role(Role::Backup);
    // The second has lost its lease.
    second.member.serve_until(1);
    assert_eq!(second.member.role(), Role::Refusing);
    assert_eq!(add(&seen_by(&client, &current)), Ok(1));
    assert_eq!(servers.map(|one| one.servant.upcalls()), [0, 0, 1]);
    second.member.serve_for(Duration::from_secs(600));
    third.member.set_role(Role::Refusing);
    assert_eq!(add(&seen_by(&client, &current)), Ok(1));
    assert_eq!(servers.map(|one| one.servant.upcalls()), [0, 1, 1]);
}

#[test]
fn a_repeat_at_a_member_that_serves_no_longer_is_not_answered_there() {
    let server = Server::new();
    let (contexts, client) = Contexts::client();
    let object = seen_by(&client, &server.ior());
    contexts.set_request("client", 1, now() + Duration::from_secs(60));
    assert_eq!(add(&object), Ok(1));
    server.member.set_role(Role::Refusing);
    assert_eq!(add(&object).unwrap_err().kind(), Kind::Transient);
}
