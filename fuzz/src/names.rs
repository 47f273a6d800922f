//! Texts and keys that name objects: `IOR:`, `corbaloc:`, keys of the IOR table and of the object adapter.

use crate::server::{self, PROTOCOLS};
use punctual::{IorTableError, RootPoa};
use punctual_cdr::{Block, ByteOrder, Coding, Encoder, GiopVersion, Limits};
use punctual_giop::{LocateRequestHeader, MessageKind, Target, begin_message, finish_message};

/// Takes one input.
///
/// # Panics
/// If something is wrong with what the input does.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    let text = String::from_utf8_lossy(octets);
    match how % 3 {
        0 => reference(&text),
        1 => bind(&text),
        _ => locate(octets, how),
    }
}

/// What is read is written, and read as the same.
fn reference(text: &str) {
    let orb = &server::server().orb;
    if let Ok(object) = orb.string_to_object(text) {
        let written = orb
            .object_to_string(&object)
            .expect("what was read is written");
        let again = orb.string_to_object(&written);
        let again = again.expect("what was written is read");
        assert_eq!(again.ior(), object.ior());
    }
}

/// What is bound is found, once.
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

/// Every key is answered.
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
