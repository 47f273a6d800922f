//! References inside bodies of unknown types: found ([`search`]), and replaced by others of the
//! same length ([`fit`]), so that nothing around them moves.

mod fit;
mod route;
mod search;
mod side;

pub(crate) use route::Route;

use crate::counters::{Counters, Event};
use punctual_cdr::ByteOrder;
use punctual_orb::relay::RawBody;
use search::Search;
use side::Side;

/// Rewriter of references: those that lead to one side (bridge or target) then lead to the other.
#[derive(Debug)]
pub(crate) struct Rewriter {
    bridge: Side,
    target: Side,
}

impl Rewriter {
    pub(crate) fn new(route: Route) -> Self {
        let (bridge, target) = route.sides();
        Self { bridge, target }
    }

    /// Returns a request's body with the bridge's references replaced by references to the target's
    /// server; `None` if it has none.
    pub(crate) fn to_target(&self, body: &RawBody<'_>, counters: &Counters) -> Option<Vec<u8>> {
        let octets = (body.to_vec(), body.phase());
        rewritten(octets, body.order(), (&self.bridge, &self.target), counters)
    }

    /// Rewrites a request's body, given as its octets alone, as [`Rewriter::to_target`] does.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn octets_to_target(
        &self,
        body: &[u8],
        order: ByteOrder,
        counters: &Counters,
    ) -> Option<Vec<u8>> {
        let octets = (body.to_vec(), 0);
        rewritten(octets, order, (&self.bridge, &self.target), counters)
    }

    /// Returns a reply's body with references to the target's server replaced by references to the
    /// bridge.
    pub(crate) fn to_client(&self, body: &RawBody<'_>, counters: &Counters) -> Option<Vec<u8>> {
        let octets = (body.to_vec(), body.phase());
        rewritten(octets, body.order(), (&self.target, &self.bridge), counters)
    }
}

/// Returns a body with its references rewritten from one side to the other; `None` if it has none
/// to rewrite. `phase` is the body's offset from an alignment boundary.
fn rewritten(
    (mut octets, phase): (Vec<u8>, usize),
    order: ByteOrder,
    (from, to): (&Side, &Side),
    counters: &Counters,
) -> Option<Vec<u8>> {
    let mut search = Search::new(phase, order);
    let mut changed = false;
    while let Some(reference) = search.next(&octets, |tag, data| from.key_of(tag, data)) {
        match fit::replacement(&reference, to, order) {
            Some(replacement) => {
                if let Some(place) = octets.get_mut(reference.place) {
                    place.copy_from_slice(&replacement);
                    counters.count(Event::Rewritten);
                    changed = true;
                }
            }
            None => {
                counters.count(Event::NotRewritten);
                tracing::debug!(
                    "a reference to a `{}` is not rewritten: its {} bytes have no room for the \
                     bridge's address",
                    reference.type_id,
                    reference.place.len()
                );
            }
        }
    }
    changed.then_some(octets)
}
