//! Cost of activation: time, and memory beside servant and id.

use super::super::interfaces::servant;
use super::super::setup::{Strategy, id};
use super::{Clock, Line, count};
use crate::Result;
use crate::process::Observed;
use punctual::{Orb, Poa, RootPoa, Servant};
use std::sync::Arc;

/// Goal: upper bound of the time of an activation without making a reference, in nanoseconds.
const TIME: f64 = 500.0;
/// Goal: upper bound of the memory of an active object, its servant and its id excluded, in bytes.
const OCTETS: f64 = 100.0;

/// Number of active objects for which the time and memory goals must hold.
const MANY: u32 = 1_000_000;

pub(super) fn measure() -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for strategy in [Strategy::Active, Strategy::DynamicHash] {
        let orb = Orb::builder().build()?;
        let root = orb.root_poa()?;
        let policies = strategy.policies(MANY);
        let poa = root.create_poa(strategy.name(), None, &policies)?;
        lines.extend(activate(&poa, strategy)?);
        drop((poa, root));
        orb.shutdown(true)?;
    }
    Ok(lines)
}

fn activate(poa: &Poa, strategy: Strategy) -> Result<[Line; 2]> {
    // The servants are made before, so that they are not in the figures; an id of this length is
    // stored in the map itself.
    let servants: Vec<Arc<dyn Servant>> = (0..MANY).map(|_| servant(1, None)).collect();
    let before = memory()?;
    let began = Clock::now();
    for (object, servant) in (0_u32..).zip(&servants) {
        match strategy {
            Strategy::Active => drop(poa.activate_object(servant.clone())?),
            _ => poa.activate_object_with_id(&id(object), servant.clone())?,
        }
    }
    let each = began.nanoseconds() / count(servants.len());
    let octets = (memory()? - before) / count(servants.len());
    let name = strategy.name();
    let line =
        |what: &str, unit, value| Line::new(format!("{what}, {name}, {MANY} objects"), unit, value);
    let time = line("activation", "ns", each);
    let octets = line("an active object beside servant and id", "octets", octets);
    Ok(match strategy {
        Strategy::Active => [time.at_most(TIME), octets.at_most(OCTETS)],
        _ => [time, octets.at_most(OCTETS)],
    })
}

/// Returns the private memory of the calling process, in bytes.
#[allow(clippy::cast_precision_loss)]
pub(super) fn memory() -> Result<f64> {
    Ok(Observed::of(std::process::id()).memory()?.anonymous as f64)
}
