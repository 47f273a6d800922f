//! Fuzz target for texts and keys that name objects: `IOR:`, `corbaloc:`, keys of the IOR table and
//! of the object adapter.

use crate::server::{self, PROTOCOLS};
use punctual::poa::IorTableError;
use punctual::{Orb, RootPoa};
use punctual_cdr::{
    Block, ByteOrder, CodeSets, Coding, Encoder, GiopVersion, Limits, NarrowCodeSet,
};
use punctual_giop::code_sets::negotiate;
use punctual_giop::{LocateRequestHeader, MessageKind, Target, begin_message, finish_message};
use punctual_ior::{
    Component, Corbaname, Ior, Profile, TaggedComponent, UnixTrans, name_from_text, name_to_text,
};
use punctual_orb::{LaneId, Priority, Publication, relay};
use std::sync::OnceLock;

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    let text = String::from_utf8_lossy(octets);
    match how {
        NAMES.. if how & 1 == 0 => name(&text),
        NAMES.. => url(&text),
        _ => {}
    }
    match how % 3 {
        0 => reference(&text),
        1 => bind(&text),
        _ => locate(octets, how),
    }
}

/// First octets of at least this value select inputs that are also read as names of a naming
/// context or as `corbaname:` URLs.
const NAMES: u8 = 200;

/// Checks that a name is unchanged after it was written as text and read again.
fn name(text: &str) {
    match name_from_text(text) {
        Ok(name) => {
            let components = name.iter().map(|one| (&*one.id, &*one.kind));
            let written = name_to_text(components);
            assert_eq!(name_from_text(&written), Ok(name), "{written}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Checks that a `corbaname:` URL is unchanged after it was written and read again.
fn url(text: &str) {
    match text.parse::<Corbaname>() {
        Ok(url) => {
            let written = url.to_string();
            assert_eq!(written.parse::<Corbaname>(), Ok(url), "{written}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Checks that a reference is unchanged after it was written and read again.
fn reference(text: &str) {
    let orb = &server::server().orb;
    if let Ok(object) = orb.string_to_object(text) {
        let written = orb
            .object_to_string(&object)
            .expect("what was read is written");
        let again = orb.string_to_object(&written);
        let again = again.expect("what was written is read");
        assert_eq!(again.ior(), object.ior());
        leads(orb, object.ior());
        if let Some(here) = of_this_host(object.ior()) {
            leads(orb, &here);
        }
    }
}

/// Returns the reference with the host in its Unix-socket components replaced by this host, whose
/// name is not known when inputs are written; `None` without such components.
fn of_this_host(ior: &Ior) -> Option<Ior> {
    static HOST: OnceLock<Option<String>> = OnceLock::new();
    let host = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let host = HOST.get_or_init(host).as_deref()?.trim_end();
    let mut ior = ior.clone();
    let mut is_other = false;
    for tagged in &mut ior.profiles {
        let Ok(Profile::Iiop(mut iiop)) = tagged.decode() else {
            continue;
        };
        for component in &mut iiop.components {
            if let Ok(Component::UnixTrans(socket)) = component.decode() {
                let host = host.to_owned();
                *component = TaggedComponent::unix_trans(&UnixTrans { host, ..socket }).ok()?;
                is_other = true;
            }
        }
        *tagged = iiop.to_tagged(ByteOrder::NATIVE).ok()?;
    }
    is_other.then_some(ior)
}

/// Checks the endpoints to which a reference leads, and new references made for these endpoints.
fn leads(orb: &Orb, ior: &Ior) {
    let endpoints = relay::endpoints_of(orb, ior);
    for one in &endpoints {
        let demands = one.qualities.security.map(|it| it.demands_protection());
        assert!(!format!("{one:?} {demands:?}").is_empty());
        assert!(one.has_same_address(one));
    }
    let profile = match relay::first_profile(orb, ior, &["iiop".to_owned()]) {
        Ok(profile) => profile,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let code_sets = relay::offered_code_sets(orb, &profile);
    if let Some(code_sets) = &code_sets {
        let _ = negotiate(Some(code_sets), NarrowCodeSet::Utf8);
    }
    for version in [GiopVersion::V1_0, GiopVersion::V1_2] {
        let object = Publication {
            version,
            object_key: &profile.object_key,
            components: &profile.components,
        };
        // Endpoints as they are, and as those of a lane.
        let lane = LaneId { pool: 1, index: 2 };
        assert!(!lane.to_string().is_empty());
        let of_lane = endpoints
            .iter()
            .map(|one| one.clone().with_lane(lane).with_priority(Priority::MAX));
        for endpoints in [endpoints.clone(), of_lane.collect()] {
            // Our references may be unable to express what others' contain.
            if let Ok(profiles) = relay::profiles_at(orb, &endpoints, &object) {
                let type_id = ior.type_id.clone();
                let led = Ior { type_id, profiles };
                let _ = relay::endpoints_of(orb, &led);
            }
        }
        let terms = relay::Terms {
            version,
            code_sets: CodeSets::NATIVE,
        };
        for key in [None, Some(&b"other"[..])] {
            let adapted = relay::on_terms(orb, ior, key, terms);
            assert!(
                adapted.profiles.len()
                    >= usize::from(!relay::endpoints_of(orb, &adapted).is_empty())
            );
        }
    }
}

/// Checks that a key is found after it was bound, and cannot be bound twice.
fn bind(key: &str) {
    let server = server::server();
    let table = server.orb.ior_table().expect("there is a root");
    match table.bind(key, &server.every) {
        Ok(()) => {
            assert!(table.bind(key, &server.every).is_err());
            locate(key.as_bytes(), 0);
            assert!(table.unbind(key).is_ok());
        }
        Err(IorTableError::AlreadyBound(bound)) => assert_eq!(bound, "E"),
        Err(_) => {}
    }
}

/// Checks that a LocateRequest for any key is answered.
fn locate(key: &[u8], how: u8) {
    let limits = Limits::default();
    let version = match how & 4 {
        0 => GiopVersion::V1_2,
        _ => GiopVersion::V1_0,
    };
    let mut out = Encoder::new(
        Block::default(),
        ByteOrder::Big,
        Coding::new(version, &limits),
    );
    begin_message(&mut out, MessageKind::LocateRequest);
    let header = LocateRequestHeader {
        request_id: 4,
        target: Target::ObjectKey(key),
    };
    header.encode(&mut out).expect("a key has a length");
    let mut block = out.into_block();
    finish_message(&mut block).expect("it is short");
    assert!(!server::served(PROTOCOLS[0], &block, 0).is_empty());
}
