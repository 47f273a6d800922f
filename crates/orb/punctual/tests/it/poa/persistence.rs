//! References that outlive the process.

use super::teller::policies::{PERSISTENT, USER_ID};
use super::teller::{Teller, World, saying, servant};
use punctual::{Interface, SystemExceptionKind as Kind};

#[test]
fn a_persistent_reference_made_before_a_restart_works_after_it_and_is_the_same() {
    let (text, port) = {
        let world = World::new();
        let poa = world.poa("plant", &[PERSISTENT, USER_ID]);
        let inner = poa
            .create_poa("hall", Some(world.root.manager()), &[PERSISTENT, USER_ID])
            .unwrap();
        let mine: Teller = inner
            .activate_with_id(&"pump".into(), saying("before"))
            .unwrap();
        assert_eq!(world.seen(&mine).tell().unwrap(), "before");
        let text = world.server.object_to_string(&mine).unwrap();
        let port = world.server.endpoints()[0].port().unwrap();
        world.server.shutdown(true).unwrap();
        (text, port)
    };
    let world = World::at(port);
    let old = Teller::from_object(world.client.string_to_object(&text).unwrap());
    assert_eq!(old.fails(), Kind::ObjectNotExist);
    let policies = [PERSISTENT, USER_ID];
    let poa = world.poa("plant", &policies);
    let inner = poa
        .create_poa("hall", Some(world.root.manager()), &policies)
        .unwrap();
    assert_eq!(old.fails(), Kind::ObjectNotExist);
    inner
        .activate_object_with_id(&"pump".into(), servant(&saying("after")))
        .unwrap();
    assert_eq!(old.tell().unwrap(), "after");
    let new: Teller = inner.id_to_reference(&"pump".into()).unwrap();
    assert_eq!(world.server.object_to_string(&new).unwrap(), text);
}

#[test]
fn ids_that_the_adapter_assigns_are_not_assigned_again_after_a_restart() {
    let mut ids = Vec::new();
    for _ in 0..2 {
        let world = World::new();
        let poa = world.poa("plant", &[PERSISTENT]);
        ids.push(poa.activate_object(servant(&saying("hello"))).unwrap());
        // An id from before is accepted: this adapter may have assigned it.
        if let [before, _] = &ids[..] {
            let again = servant(&saying("again"));
            poa.activate_object_with_id(before, again).unwrap();
            let reference: Teller = poa.id_to_reference(before).unwrap();
            assert_eq!(world.seen(&reference).tell().unwrap(), "again");
        }
    }
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn a_persistent_adapter_destroyed_and_made_anew_serves_its_old_references() {
    let world = World::new();
    let policies = [PERSISTENT, USER_ID];
    let poa = world.poa("plant", &policies);
    poa.activate_object_with_id(&"pump".into(), servant(&saying("first")))
        .unwrap();
    let theirs = world.named(&poa, "pump");
    assert_eq!(theirs.tell().unwrap(), "first");
    poa.destroy(true, true).unwrap();
    assert_eq!(theirs.fails(), Kind::ObjectNotExist);
    let poa = world.poa("plant", &policies);
    poa.activate_object_with_id(&"pump".into(), servant(&saying("second")))
        .unwrap();
    assert_eq!(theirs.tell().unwrap(), "second");
}
