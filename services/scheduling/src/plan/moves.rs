//! Operations that meet all deadlines on another processor of their host.

use super::{Plan, Verdict, placement};
use crate::analysis::Task;
use crate::assignment::partition;
use crate::model::Model;
use crate::strategy::{Dispatching, Strategy};
use serde::Serialize;
use std::collections::BTreeSet;

/// Maximum number of streams of a plan whose moves are searched.
const MOST_STREAMS: usize = 1_000;

/// Number of plans that are made at most.
const MOST_PLANS: usize = 32;

/// Move of one operation to another processor, after which both processors meet their deadlines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    /// Index of the processor in [`Plan::processors`] that misses deadlines.
    pub processor: usize,
    /// Name of the operation.
    pub operation: String,
    /// Number of the other processor on the host: the value of the key `processor`.
    pub to: usize,
}

impl Plan {
    /// Returns moves of single operations, each of which alone mends a processor that misses deadlines. Each was
    /// found by a plan with that move, in which all others stay where they are.
    ///
    /// Plans of more than 1,000 streams are not searched, nor those with an operation on several processors; 32
    /// moves are tried at most.
    #[must_use]
    pub fn moves(&self, model: &Model, strategy: &dyn Strategy) -> Vec<Move> {
        if self.fits() || self.streams.len() > MOST_STREAMS {
            return Vec::new();
        }
        let Some(model) = self.pinned(model) else {
            return Vec::new();
        };
        let processors = 0..self.processors.len();
        let late = processors.filter(|&processor| self.misses(processor));
        let candidates = late.flat_map(|processor| self.candidates(&model, processor));
        let tried = candidates.take(MOST_PLANS);
        tried
            .filter(|one| self.is_mended_by(&model, strategy, one))
            .collect()
    }

    /// Returns the model with each operation pinned where the plan has it; `None` if one is on several processors.
    fn pinned(&self, model: &Model) -> Option<Model> {
        let mut pinned = model.clone();
        let mut seen = BTreeSet::new();
        for (stream, planned) in self.analysed.streams.iter().zip(&self.streams) {
            let operation = &mut pinned.operations[stream.operation];
            let is_first = seen.insert(stream.operation);
            if !is_first && operation.processor != planned.processor {
                return None;
            }
            operation.processor = planned.processor;
        }
        Some(pinned)
    }

    fn misses(&self, processor: usize) -> bool {
        let mut here = self.analysed.residents(processor).iter();
        here.any(|&stream| self.streams[stream].verdict == Verdict::Misses)
    }

    /// Returns the moves of a processor's operations to other processors that have room for them.
    fn candidates(&self, model: &Model, processor: usize) -> Vec<Move> {
        let name = &self.processors[processor].host;
        let of_host = |at: &usize| self.processors[*at].host == *name;
        let there: Vec<usize> = (0..self.processors.len()).filter(of_host).collect();
        let analysed = &self.analysed;
        let (mut tasks, mut places, mut streams) = (Vec::new(), Vec::new(), Vec::new());
        for &at in &there {
            for &stream in analysed.residents(at) {
                tasks.push(analysed.own(stream));
                places.push(self.processors[at].number);
                streams.push(stream);
            }
        }
        let levels = there.iter().flat_map(|&at| &analysed.levels[at]);
        let is_static = levels
            .into_iter()
            .all(|level| *level == Dispatching::Static);
        let platform = analysed.interference[processor].as_ref();
        let admits = |tasks: &[&Task]| placement::admits(tasks, is_static, platform);
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for (at, &stream) in streams.iter().enumerate() {
            let operation = analysed.streams[stream].operation;
            if !analysed.residents(processor).contains(&stream) || !seen.insert(operation) {
                continue;
            }
            let room = partition::moves(&tasks, &places, there.len(), at, &admits);
            found.extend(room.into_iter().map(|to| Move {
                processor,
                operation: model.operations[operation].name.clone(),
                to,
            }));
        }
        found
    }

    /// Returns whether both processors meet their deadlines after a move, and all that met them before do.
    fn is_mended_by(&self, model: &Model, strategy: &dyn Strategy, one: &Move) -> bool {
        let mut moved = model.clone();
        let Some(operation) = moved.operation(&one.operation) else {
            return false;
        };
        moved.operations[operation].processor = Some(one.to);
        // Operations that share a mutex stay together, for example.
        let Ok(after) = self.after_change(&moved, strategy) else {
            return false;
        };
        let from = &self.processors[one.processor];
        let pairs = self.streams.iter().zip(&after.streams);
        let mut all = pairs.map(|(before, after)| {
            let concerned = [Some(from.number), Some(one.to)].contains(&after.processor);
            let is_here = after.host == from.host && concerned;
            let has_to = is_here || before.verdict == Verdict::Fits;
            !has_to || after.verdict == Verdict::Fits
        });
        all.all(|is_so| is_so)
    }
}
