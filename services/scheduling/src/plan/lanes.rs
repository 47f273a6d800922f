//! Lanes: few priorities for the many levels of a processor, and what that costs.

use super::{Plan, priorities};
use crate::analysis::Task;
use crate::analysis::fixed_priority::Prioritized;
use crate::assignment::packing::pack;
use crate::strategy::Dispatching;
use crate::time::Time;
use serde::Serialize;

/// Lanes of a processor, and the streams that become slower by sharing them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneCost {
    /// Index of the processor in [`Plan::processors`].
    pub processor: usize,
    /// Real-time CORBA priority of each lane, the highest first.
    pub priorities: Vec<i16>,
    /// Lane of each stream of the processor.
    pub streams: Vec<InLane>,
    /// `true` if a stream misses its deadline that met it with a level of its own, or a level that
    /// dispatches by deadline or laxity has no lane.
    pub breaks: bool,
}

/// Stream in its lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InLane {
    /// Index of the stream.
    pub stream: usize,
    /// Name of the operation.
    pub operation: String,
    /// Number of the lane; lane 0 is served first.
    pub lane: usize,
    /// Response time with a level of its own; `None` without bound or in a level that dispatches by
    /// deadline or laxity.
    pub before: Option<Time>,
    /// Response time in the lane.
    pub after: Option<Time>,
}

impl Plan {
    /// Packs the levels of each processor onto at most `count` lanes.
    ///
    /// Response times count from actual releases, and contain the release jitter of the plan as it is.
    ///
    /// # Panics
    /// If `count` is zero.
    #[must_use]
    pub fn lanes(&self, count: u32) -> Vec<LaneCost> {
        assert!(count > 0, "a processor has a lane at least");
        let processors = 0..self.processors.len();
        processors
            .map(|processor| self.lanes_of(processor, count))
            .collect()
    }

    fn lanes_of(&self, processor: usize, count: u32) -> LaneCost {
        let analysed = &self.analysed;
        let here = analysed.residents(processor);
        let levels = &analysed.levels[processor];
        let tasks: Vec<Task> = here.iter().map(|&index| analysed.own(index)).collect();
        let prioritized = here.iter().zip(&tasks).map(|(&index, task)| Prioritized {
            task,
            priority: analysed.priority(index),
        });
        let is_static = levels.iter().all(|level| *level == Dispatching::Static);
        let packed = pack(&prioritized.collect::<Vec<_>>(), count).ok();
        let Some(packed) = packed.filter(|_| is_static) else {
            return self.unpacked(processor, &here, levels.len() > count as usize);
        };
        let highest = packed
            .levels
            .iter()
            .copied()
            .max()
            .map_or(0, |top| top as usize);
        let streams = here.iter().enumerate().map(|(at, &stream)| InLane {
            stream,
            operation: self.streams[stream].operation.clone(),
            lane: highest - packed.levels[at] as usize,
            before: packed.before[at].bound(),
            after: packed.after[at].bound(),
        });
        LaneCost {
            processor,
            priorities: lane_priorities(if here.is_empty() { 0 } else { highest + 1 }),
            streams: streams.collect(),
            breaks: !packed.broken.is_empty(),
        }
    }

    /// Returns one lane for each level, where levels must not be merged.
    fn unpacked(&self, processor: usize, here: &[usize], breaks: bool) -> LaneCost {
        let streams = here.iter().map(|&stream| InLane {
            stream,
            operation: self.streams[stream].operation.clone(),
            lane: self.streams[stream].level.unwrap_or(0),
            before: None,
            after: None,
        });
        LaneCost {
            processor,
            priorities: lane_priorities(self.processors[processor].levels.len()),
            streams: streams.collect(),
            breaks,
        }
    }
}

fn lane_priorities(lanes: usize) -> Vec<i16> {
    (0..lanes)
        .map(|lane| priorities::corba(lane, lanes))
        .collect()
}
