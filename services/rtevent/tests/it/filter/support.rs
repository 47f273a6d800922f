//! Entries of `dependencies`.

use crate::support::peers::Setting;
use punctual_rtevent::{ChannelOptions, Filter, Header, codes};

pub(super) const ALL: i32 = codes::CONJUNCTION;
pub(super) const ANY: i32 = codes::DISJUNCTION;
pub(super) const NOT: i32 = codes::NEGATION;
pub(super) const BOTH: i32 = codes::LOGICAL_AND;
pub(super) const BITMASK: i32 = codes::BITMASK;
pub(super) const MASKED: i32 = codes::MASKED_TYPE;

/// Returns an entry.
pub(super) fn entry(kind: i32, source: i32) -> Header {
    Header::new(kind, source)
}

/// Returns the entry of a timer of this many units of 100 ns.
pub(super) fn timer(kind: i32, units: u64) -> Header {
    Header {
        created: units,
        ..Header::new(kind, 0)
    }
}

/// Pushes events of these types and sources, whose data are their places, and returns the data of each push that a filter
/// passes.
pub(super) fn passed(filter: Filter, events: &[(i32, i32)]) -> Vec<Vec<u64>> {
    let setting = Setting::new(ChannelOptions::default());
    let (recorder, _) = setting.filter(filter);
    for (place, (kind, source)) in events.iter().enumerate() {
        setting.push(*kind, *source, place as u64);
    }
    recorder.pushes()
}
