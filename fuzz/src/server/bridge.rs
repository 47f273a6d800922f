//! Bridge between the client and the server, which forwards the client's requests and the server's
//! replies.

use super::{PROTOCOLS, full, served_by, server};
use crate::wire::{self, Named, Slices};
use punctual::bridge::{Bridge, BridgeOptions};
use punctual::interceptor::{ClientRequestInfo, ClientRequestInterceptor, InterceptorError};
use punctual::policy::Otherwise;
use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, Policy, SetOverride};
use punctual_cdr::{ByteOrder, GiopVersion, Limits};
use punctual_giop::{Examined, MessageKind, examine, lite, sequenced};
use punctual_ior::{IiopProfile, Ior};
use punctual_orb::{ProtocolBundle, relay};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Time limit for each step of the fuzz target for bridges.
const LONG: Duration = Duration::from_secs(3600);

/// Returns the bridge's answer to the first message; the server answers the bridge's own requests.
/// Further messages are left out, since other threads would read them during the first call.
pub(super) fn served(is_guarded: bool, protocol: &str, octets: &[u8], piece: usize) -> Vec<u8> {
    wire::opens_answered(|asked| super::served(PROTOCOLS[0], asked, 0));
    let first = octets.get(..length(protocol, octets)).unwrap_or(octets);
    let sent = served_by(bridge(is_guarded).orb(), protocol, first, piece);
    wire::opens([], 0);
    sent
}

/// Returns the bridge's answer to octets of which a run is lent (kept in separate memory).
pub(super) fn served_lent(protocol: &str, octets: &[u8]) -> Vec<u8> {
    wire::opens_answered(|asked| super::served(PROTOCOLS[0], asked, 0));
    let end = 4 + length(protocol, octets.get(4..).unwrap_or_default());
    let first = octets.get(..end).unwrap_or(octets);
    let sent = super::served_lent(bridge(false).orb(), protocol, first);
    wire::opens([], 0);
    sent
}

/// Returns the bridge's answer to the first message; the other messages serve as the target's
/// answers.
pub(super) fn answered(is_guarded: bool, protocol: &str, octets: &[u8]) -> Vec<u8> {
    let (first, answers) = octets.split_at(length(protocol, octets).min(octets.len()));
    wire::opens((0..2).map(|_| answers.to_vec()), 0);
    let sent = served_by(bridge_to_other(is_guarded).orb(), protocol, first, 0);
    wire::opens([], 0);
    sent
}

/// Interceptor that inspects the calls made by the bridge's ORB.
struct Looks;

impl ClientRequestInterceptor for Looks {
    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        Ok(info.add_request_service_context(full::TELLS, b"\x09\x09", true)?)
    }
}

/// Returns the length of the first message with its fragments, computed from the length fields; if
/// there is no message, the length of all octets.
fn length(protocol: &str, octets: &[u8]) -> usize {
    const FLAGS: usize = 6;
    const KIND: usize = 7;
    const MORE: u8 = 2;
    let mut length = length_of_first(protocol, octets);
    let mut last = octets;
    while !protocol.contains('+') && last.get(FLAGS).is_some_and(|flags| flags & MORE != 0) {
        last = match octets.get(length..) {
            Some(rest) if rest.get(KIND) == Some(&(MessageKind::Fragment as u8)) => rest,
            _ => break,
        };
        length += length_of_first(protocol, last);
    }
    length
}

fn length_of_first(protocol: &str, octets: &[u8]) -> usize {
    let limits = Limits::default();
    let length = match protocol.split_once('+') {
        None => match examine(octets, &limits) {
            Ok(Examined::Complete(header)) => Some(header.message_len()),
            _ => None,
        },
        Some(("frames", _)) => match sequenced::examine(octets, octets.len(), &limits) {
            Ok(sequenced::Examined::Complete(header)) => Some(header.message_len()),
            _ => None,
        },
        Some(_) => match lite::examine(octets, octets.len(), &limits) {
            Ok(lite::Examined::Complete(header)) => Some(header.message_len()),
            _ => None,
        },
    };
    length.unwrap_or(octets.len())
}

/// Returns one of two bridges: one gives access to every object; the guarded one gives access to
/// its target alone, and has interceptors.
fn bridge(is_guarded: bool) -> &'static Bridge {
    static BRIDGES: [OnceLock<Bridge>; 2] = [OnceLock::new(), OnceLock::new()];
    BRIDGES[usize::from(is_guarded)].get_or_init(|| {
        let orb = orb(is_guarded, &[PROTOCOLS[0]]);
        let text = server().orb.object_to_string(server().raw.as_object());
        let target = text.and_then(|text| orb.string_to_object(&text));
        let target = target.expect("it is a reference");
        let options = BridgeOptions {
            rewrite_references: true,
            ..options(is_guarded)
        };
        made(&orb, &target, &options)
    })
}

/// Returns one of two bridges, guarded or not, to a target that supports IIOP in every version.
fn bridge_to_other(is_guarded: bool) -> &'static Bridge {
    static BRIDGES: [OnceLock<Bridge>; 2] = [OnceLock::new(), OnceLock::new()];
    BRIDGES[usize::from(is_guarded)].get_or_init(|| {
        let orb = orb(is_guarded, &[]);
        orb.retire_protocol("iiop").expect("nobody uses it");
        let bundle = ProtocolBundle::default().link(Arc::new(Named("iiop")));
        orb.add_protocols(&bundle).expect("the name is free");
        let key = server().raw.as_object().object_key().expect("it has one");
        let profile = IiopProfile {
            version: GiopVersion::V1_2.into(),
            host: "nowhere".to_owned(),
            port: 1,
            object_key: key,
            components: Vec::new(),
        };
        let target = Ior {
            type_id: "IDL:all_types/Every:1.0".to_owned(),
            profiles: vec![profile.to_tagged(ByteOrder::NATIVE).expect("it is short")],
        };
        let options = BridgeOptions {
            timeout: Some(LONG),
            remembered_objects: 2,
            ..options(is_guarded)
        };
        let target = relay::reference_to(&orb, target);
        let by = Policy::protocols(&["iiop"], Otherwise::Raise);
        let target = target.set_policy_overrides(&[by], SetOverride::Add);
        made(&orb, &target.expect("it can be obeyed"), &options)
    })
}

fn options(is_guarded: bool) -> BridgeOptions {
    BridgeOptions {
        objects: is_guarded.then(Vec::new),
        ..BridgeOptions::default()
    }
}

fn orb(is_guarded: bool, client_protocols: &[&str]) -> Orb {
    let builder = Orb::builder().link(Arc::new(Slices));
    let mut builder = builder.configure(|config| {
        config.client_protocols = client_protocols.iter().map(ToString::to_string).collect();
        config.limits.message = 1 << 16;
        config.limits.nesting = 24;
    });
    if is_guarded {
        builder = builder
            .initializer(full::watches())
            .client_interceptor(Arc::new(Looks));
    }
    for protocol in PROTOCOLS {
        builder = builder.listen(ListenEndpoint::new(protocol, "there"));
    }
    builder.build().expect("the configuration is sound")
}

fn made(orb: &Orb, target: &ObjectRef, options: &BridgeOptions) -> Bridge {
    let bridge = Bridge::new(orb, target, options).expect("it leads elsewhere");
    let through = bridge.reference().expect("it listens");
    assert_eq!(through.object_key(), target.object_key());
    assert!(!through.is_equivalent(target) && !format!("{bridge:?}").is_empty());
    bridge
}
