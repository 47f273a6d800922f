//! A bridge before the server: what a client asks goes through it, and so does what the server answers.

use super::{Every, PROTOCOLS, full, served_by, server};
use crate::wire::{self, Slices};
use punctual::bridge::{Bridge, BridgeOptions};
use punctual::interceptor::{ClientRequestInfo, ClientRequestInterceptor, InterceptorError};
use punctual::{Interface, ListenEndpoint, Orb};
use punctual_cdr::Limits;
use punctual_giop::{Examined, examine, lite, sequenced};
use punctual_ior::Ior;
use std::sync::{Arc, OnceLock};

/// What the bridge answers to the first message, where the server answers what the bridge asks. Were there more, other
/// threads would read them while this one asks.
pub(super) fn served(is_guarded: bool, protocol: &str, octets: &[u8], piece: usize) -> Vec<u8> {
    wire::opens_answered(|asked| super::served(PROTOCOLS[0], asked, 0));
    let first = octets.get(..length(protocol, octets)).unwrap_or(octets);
    let sent = served_by(bridge(is_guarded).orb(), protocol, first, piece);
    wire::opens([], 0);
    sent
}

/// The same of octets of which a run is lent.
pub(super) fn served_lent(protocol: &str, octets: &[u8]) -> Vec<u8> {
    wire::opens_answered(|asked| super::served(PROTOCOLS[0], asked, 0));
    let end = 4 + length(protocol, octets.get(4..).unwrap_or_default());
    let first = octets.get(..end).unwrap_or(octets);
    let sent = super::served_lent(bridge(false).orb(), protocol, first);
    wire::opens([], 0);
    sent
}

/// Calls by the bridge's ORB are seen by somebody.
struct Looks;

impl ClientRequestInterceptor for Looks {
    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        Ok(info.add_request_service_context(full::TELLS, b"\x09\x09", true)?)
    }
}

/// The reference by which clients reach an object of the server through the bridge.
pub(super) fn through(object: &Every) -> Ior {
    let key = object.as_object().object_key().expect("it has one");
    let through = bridge(false).reference_to(object.as_object().type_id(), &key);
    through.expect("it listens").ior().clone()
}

/// How long the first message is, by its own word; all there is, where it is none.
fn length(protocol: &str, octets: &[u8]) -> usize {
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

/// Of two: one through which every object is reached, and one that lets through to the target alone, and has interceptors.
fn bridge(is_guarded: bool) -> &'static Bridge {
    static BRIDGES: [OnceLock<Bridge>; 2] = [OnceLock::new(), OnceLock::new()];
    BRIDGES[usize::from(is_guarded)].get_or_init(|| made(is_guarded))
}

fn made(is_guarded: bool) -> Bridge {
    let mut builder = Orb::builder().link(Arc::new(Slices)).configure(|config| {
        config.client_protocols = vec![PROTOCOLS[0].to_owned()];
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
    let orb = builder.build().expect("the configuration is sound");
    let text = server().orb.object_to_string(server().raw.as_object());
    let target = text.and_then(|text| orb.string_to_object(&text));
    let options = BridgeOptions {
        rewrite_references: true,
        objects: is_guarded.then(Vec::new),
        ..BridgeOptions::default()
    };
    let bridge = Bridge::new(&orb, &target.expect("it is a reference"), &options)
        .expect("it leads elsewhere");
    let through = bridge.reference().expect("it listens");
    let target = server().raw.as_object();
    assert_eq!(through.object_key(), target.object_key());
    assert!(!through.is_equivalent(target) && !format!("{bridge:?}").is_empty());
    bridge
}
