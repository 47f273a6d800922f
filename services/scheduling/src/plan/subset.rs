//! Plans of the activities that run: some of a plan's sources, at periods of their own.

use super::Plan;
use crate::model::Model;
use crate::release;
use crate::time::Time;
use std::collections::BTreeMap;

impl Plan {
    /// Analyses the plan as it is while only these sources release jobs, each with its period. Processors
    /// and levels stay. Returns `None` where the periods contradict those of other operations.
    #[must_use]
    pub fn while_active(&self, model: &Model, active: &BTreeMap<usize, Time>) -> Option<Self> {
        let mut model = model.clone();
        for (&operation, &period) in active {
            model.operations.get_mut(operation)?.period = Some(period);
        }
        let streams = release::streams(&model).ok()?;
        let before = &self.analysed;
        let is_same = |(one, other): (&release::Stream, &release::Stream)| {
            (one.operation, one.source) == (other.operation, other.source)
        };
        if streams.len() != before.streams.len()
            || !streams.iter().zip(&before.streams).all(is_same)
        {
            return None;
        }
        let mut places = before.places.clone();
        for (stream, place) in streams.iter().zip(&mut places) {
            if !active.contains_key(&stream.source) {
                *place = None;
            }
        }
        let assigned = before.moved_to(places);
        Some(Self::of(&model, &self.strategy, streams, assigned))
    }

    /// Returns whether every stream of these sources is released, and meets its deadline.
    #[must_use]
    pub fn fits_of(&self, active: &BTreeMap<usize, Time>) -> bool {
        let streams = self.analysed.streams.iter().zip(&self.streams);
        let mut active = streams.filter(|(stream, _)| active.contains_key(&stream.source));
        active.all(|(_, planned)| planned.verdict == super::Verdict::Fits)
    }
}
