//! Lanes: few priorities for the many levels of a processor, and what that costs.

use super::{Plan, Verdict, priorities};
use crate::analysis::Task;
use crate::assignment::packing::pack;
use crate::chains::{Analysis, Chains, Place, analyse};
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
    /// `true` if a stream misses its deadline that meets it with the plan's levels, or a level that
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
    /// Response time with the levels of the plan; `None` without bound.
    pub before: Option<Time>,
    /// Response time with the lanes; `None` without bound.
    pub after: Option<Time>,
}

impl Plan {
    /// Packs the levels of each processor onto at most `count` lanes, and analyses all chains again
    /// with them.
    ///
    /// # Panics
    /// If `count` is zero.
    #[must_use]
    pub fn lanes(&self, count: u32) -> Vec<LaneCost> {
        assert!(count > 0, "a processor has a lane at least");
        let analysed = &self.analysed;
        let (mut places, mut levels) = (analysed.places.clone(), analysed.levels.clone());
        for (processor, levels) in levels.iter_mut().enumerate() {
            if let Some(lanes) = self.packed(processor, count) {
                *levels = vec![Dispatching::Static; lanes.iter().max().map_or(0, |last| last + 1)];
                for (&stream, lane) in analysed.residents(processor).iter().zip(lanes) {
                    places[stream] = Some(Place {
                        processor,
                        level: lane,
                    });
                }
            }
        }
        let analysis = analyse(&Chains {
            streams: &analysed.streams,
            places: &places,
            levels: &levels,
            protocol: analysed.protocol,
            interference: &analysed.interference,
        });
        let processors = 0..self.processors.len();
        processors
            .map(|processor| {
                self.cost(
                    processor,
                    levels[processor].len(),
                    count,
                    (&places, &analysis),
                )
            })
            .collect()
    }

    /// Returns the lane of each stream of a processor; `None` if a level dispatches by deadline or
    /// laxity and so must not be merged with another.
    fn packed(&self, processor: usize, count: u32) -> Option<Vec<usize>> {
        let analysed = &self.analysed;
        let here = analysed.residents(processor);
        let levels = &analysed.levels[processor];
        if levels.iter().any(|level| *level != Dispatching::Static) {
            return None;
        }
        let tasks: Vec<Task> = here.iter().map(|&index| analysed.own(index)).collect();
        let prioritized = analysed.prioritized(processor, &tasks);
        let levels_of_platform = u32::from(prioritized.len() > here.len());
        let packed = pack(&prioritized, count.saturating_add(levels_of_platform)).ok()?;
        let of_streams = &packed.levels[..here.len()];
        let highest = of_streams.iter().copied().max().unwrap_or(0);
        let lanes = of_streams.iter().map(|level| (highest - level) as usize);
        Some(lanes.collect())
    }

    fn cost(
        &self,
        processor: usize,
        lanes: usize,
        count: u32,
        (places, analysis): (&[Option<Place>], &Analysis),
    ) -> LaneCost {
        let here = self.analysed.residents(processor);
        let streams = here.iter().map(|&stream| {
            let after = analysis.streams[stream].as_ref();
            InLane {
                stream,
                operation: self.streams[stream].operation.clone(),
                lane: places[stream].map_or(0, |place| place.level),
                before: self.streams[stream].response,
                after: after.and_then(|outcome| outcome.response.bound()),
            }
        });
        let streams: Vec<_> = streams.collect();
        let is_broken = |one: &InLane| {
            let planned = &self.streams[one.stream];
            let is_late = one.after.is_none_or(|after| after > planned.deadline);
            planned.verdict == Verdict::Fits && is_late
        };
        LaneCost {
            processor,
            priorities: lane_priorities(lanes),
            breaks: lanes > count as usize || streams.iter().any(is_broken),
            streams,
        }
    }
}

fn lane_priorities(lanes: usize) -> Vec<i16> {
    (0..lanes)
        .map(|lane| priorities::corba(lane, lanes))
        .collect()
}
