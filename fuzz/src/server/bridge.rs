//! A bridge before the server: what a client asks goes through it, and so does what the server answers.

use super::{PROTOCOLS, served_by, server};
use crate::wire::{self, Slices};
use punctual::bridge::{Bridge, BridgeOptions};
use punctual::{Interface, ListenEndpoint, Orb};
use punctual_cdr::Limits;
use punctual_giop::{Examined, examine, lite, sequenced};
use std::sync::{Arc, OnceLock};

/// What the bridge answers to the first message, where the server answers what the bridge asks. Were there more, other
/// threads would read them while this one asks.
pub(super) fn served(protocol: &str, octets: &[u8], piece: usize) -> Vec<u8> {
    wire::opens_answered(|asked| super::served(PROTOCOLS[0], asked, 0));
    let first = octets.get(..length(protocol, octets)).unwrap_or(octets);
    let sent = served_by(bridge().orb(), protocol, first, piece);
    wire::opens([], 0);
    sent
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

fn bridge() -> &'static Bridge {
    static BRIDGE: OnceLock<Bridge> = OnceLock::new();
    BRIDGE.get_or_init(|| {
        let mut builder = Orb::builder().link(Arc::new(Slices)).configure(|config| {
            config.client_protocols = vec![PROTOCOLS[0].to_owned()];
            config.limits.message = 1 << 16;
            config.limits.nesting = 24;
        });
        for protocol in PROTOCOLS {
            builder = builder.listen(ListenEndpoint::new(protocol, "there"));
        }
        let orb = builder.build().expect("the configuration is sound");
        let text = server().orb.object_to_string(server().raw.as_object());
        let target = text.and_then(|text| orb.string_to_object(&text));
        let options = BridgeOptions {
            rewrite_references: true,
            ..BridgeOptions::default()
        };
        Bridge::new(&orb, &target.expect("it is a reference"), &options)
            .expect("it leads elsewhere")
    })
}
