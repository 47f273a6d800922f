//! Object keys that come from a peer: stale, foreign, forged, damaged.

use super::support::Random;
use super::teller::policies::{PERSISTENT, USER_ID};
use super::teller::{Teller, World, saying, servant};
use punctual::{ObjectRef, SystemExceptionKind as Kind};

/// Returns the object key of a reference.
fn key(reference: &Teller) -> Vec<u8> {
    use punctual::Interface;
    let profile = reference.as_object().ior().iiop_profiles().next();
    profile.unwrap().unwrap().object_key
}

/// Returns a client's reference to the server with this object key, which need not be valid.
fn with_key(world: &World, key: &[u8]) -> Teller {
    use punctual::Interface;
    let escaped: String = key.iter().map(|octet| format!("%{octet:02x}")).collect();
    let port = world.server.endpoints()[0].port().unwrap();
    let url = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/{escaped}");
    let object: ObjectRef = world.client.string_to_object(&url).unwrap();
    Teller::from_object(object)
}

#[test]
fn a_key_is_all_that_a_request_needs() {
    let world = World::new();
    let mine: Teller = world.root.activate(saying("hello")).unwrap();
    assert_eq!(with_key(&world, &key(&mine)).tell().unwrap(), "hello");
}

#[test]
fn a_place_used_again_is_not_reached_by_the_old_key() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    let first: Teller = poa.activate(saying("first")).unwrap();
    let stale = world.seen(&first);
    assert_eq!(stale.tell().unwrap(), "first");
    poa.deactivate(&first).unwrap();
    let second: Teller = poa.activate(saying("second")).unwrap();
    // The same entry: all but the generation.
    assert_eq!(key(&first)[..24], key(&second)[..24]);
    assert_eq!(stale.fails(), Kind::ObjectNotExist);
    assert_eq!(world.seen(&second).tell().unwrap(), "second");
}

#[test]
fn truncated_lengthened_and_forged_keys_reach_nothing() {
    let world = World::new();
    let plain = world.poa("plain", &[]);
    let named = world.poa("named", &[USER_ID]);
    let persistent = world.poa("persistent", &[PERSISTENT, USER_ID]);
    let keys = [
        key(&plain.activate(saying("hello")).unwrap()),
        key(&named
            .activate_with_id(&"ada".into(), saying("hello"))
            .unwrap()),
        key(&persistent
            .activate_with_id(&"ada".into(), saying("hello"))
            .unwrap()),
    ];
    let mut random = Random(7);
    for key in keys {
        assert_eq!(with_key(&world, &key).tell().unwrap(), "hello");
        for length in 1..key.len() {
            assert_eq!(
                with_key(&world, &key[..length]).fails(),
                Kind::ObjectNotExist
            );
        }
        let longer = [&key[..], b"!"].concat();
        assert_eq!(with_key(&world, &longer).fails(), Kind::ObjectNotExist);
        for _ in 0..300 {
            let mut forged = key.clone();
            let (at, bit) = (random.below(forged.len()), random.below(8));
            forged[at] ^= 1 << bit;
            // The entry is only a hint if an id follows it.
            let is_hint = key.starts_with(b"PUNN") && (20..28).contains(&at);
            let forged = with_key(&world, &forged);
            match is_hint {
                true => assert_eq!(forged.tell().unwrap(), "hello"),
                false => assert_eq!(forged.fails(), Kind::ObjectNotExist, "octet {at}"),
            }
        }
    }
}

#[test]
fn a_hint_that_leads_to_another_object_is_not_trusted() {
    let world = World::new();
    let poa = world.poa("A", &[USER_ID]);
    let ada: Teller = poa.activate_with_id(&"ada".into(), saying("ada")).unwrap();
    let bob: Teller = poa.activate_with_id(&"bob".into(), saying("bob")).unwrap();
    let (mut key, other) = (key(&ada), key(&bob));
    key[20..28].copy_from_slice(&other[20..28]);
    assert_eq!(with_key(&world, &key).tell().unwrap(), "ada");
    // Nor one without an id, at an entry whose object has one.
    assert_eq!(with_key(&world, &other[..28]).fails(), Kind::ObjectNotExist);
}

#[test]
fn transient_keys_differ_from_one_life_to_the_next() {
    let (first, port) = {
        let world = World::new();
        let mine: Teller = world.root.activate(saying("first")).unwrap();
        let port = world.server.endpoints()[0].port().unwrap();
        world.server.shutdown(true).unwrap();
        (key(&mine), port)
    };
    let world = World::at(port);
    let mine: Teller = world.root.activate(saying("second")).unwrap();
    // The same adapter, the same entry; another nonce, of 64 random bits.
    assert_eq!(first[12..], key(&mine)[12..]);
    assert_ne!(first[4..12], key(&mine)[4..12]);
    assert_eq!(with_key(&world, &first).fails(), Kind::ObjectNotExist);
}

#[test]
fn an_adapter_of_the_same_name_is_not_reached_by_its_predecessors_keys() {
    let world = World::new();
    let first = world.poa("A", &[USER_ID]);
    first
        .activate_object_with_id(&"ada".into(), servant(&saying("first")))
        .unwrap();
    let stale = world.named(&first, "ada");
    first.destroy(true, true).unwrap();
    let second = world.poa("A", &[USER_ID]);
    second
        .activate_object_with_id(&"ada".into(), servant(&saying("second")))
        .unwrap();
    assert_eq!(stale.fails(), Kind::ObjectNotExist);
    assert_eq!(world.named(&second, "ada").tell().unwrap(), "second");
}
