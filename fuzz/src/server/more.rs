//! Servers with other settings for propagated priorities, and bridges whose target answers as the
//! input says.

use super::full::{self, Full};
use super::{PROTOCOLS, bridge, served_by};
use crate::wire::Slices;
use punctual::rt::{DynamicScheduling, PropagatedReservations, ReservationLimit, RtOrb};
use punctual::{ListenEndpoint, Orb};
use punctual_orb::AboveHighest;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Number of servers and bridges here: a server that uses only the scheduling parameters in
/// requests and has room for few deferred replies; a server that allows no processor-time
/// reservations; and two bridges.
pub(super) const WAYS: u8 = 4;

fn way_of(how: u8) -> u8 {
    (how >> 3) % WAYS
}

/// Returns the answer of the selected server or bridge to these octets.
pub(super) fn served(how: u8, protocol: &str, octets: &[u8]) -> Vec<u8> {
    static OBEYS: OnceLock<Full> = OnceLock::new();
    static REFUSES: OnceLock<Full> = OnceLock::new();
    let server = match way_of(how) {
        0 => OBEYS.get_or_init(|| server(&full::priorities(None, None))),
        1 => REFUSES.get_or_init(|| {
            let none = ReservationLimit {
                runtime: Duration::ZERO,
                percent: 0,
            };
            let propagated = PropagatedReservations::UpTo {
                most: none,
                above: AboveHighest::Refuse,
            };
            server(&full::priorities(
                None,
                Some(DynamicScheduling {
                    propagated,
                    ..DynamicScheduling::default()
                }),
            ))
        }),
        bridge => return bridge::answered(bridge == 3, protocol, octets),
    };
    served_by(&server.server.orb, protocol, octets, 0)
}

fn server(rt: &Arc<RtOrb>) -> Full {
    let builder = Orb::builder().link(Arc::new(Slices)).configure(|config| {
        config.client_protocols = vec![PROTOCOLS[0].to_owned()];
        config.limits.message = 1 << 16;
        config.limits.nesting = 24;
        config.budgets.pending_replies = 2;
    });
    let mut builder = rt.extend(builder).expect("no policy type is taken");
    for protocol in PROTOCOLS {
        builder = builder.listen(ListenEndpoint::new(protocol, "more"));
    }
    Full::of(builder.build().expect("the configuration is sound"))
}
