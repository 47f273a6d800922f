//! Common priority of all streams of an operation: an object adapter serves an operation at one priority, where a
//! plan may have several streams of it.

use super::Plan;
use crate::model::Model;
use std::collections::BTreeMap;

impl Plan {
    /// Returns a plan in which the streams of an operation on one processor share the most urgent of their
    /// levels, with all response times computed again.
    #[must_use]
    pub fn united(&self, model: &Model) -> Self {
        let analysed = &self.analysed;
        let mut places = analysed.places.clone();
        let mut most_urgent = BTreeMap::new();
        for (stream, place) in analysed.streams.iter().zip(&places) {
            if let Some(place) = place {
                let key = (stream.operation, place.processor);
                let level = most_urgent.entry(key).or_insert(place.level);
                *level = place.level.min(*level);
            }
        }
        for (stream, place) in analysed.streams.iter().zip(&mut places) {
            if let Some(place) = place {
                place.level = most_urgent[&(stream.operation, place.processor)];
            }
        }
        let assigned = analysed.moved_to(places);
        Self::of(model, &self.strategy, analysed.streams.clone(), assigned)
    }
}
