//! Choice and order of the rows of a picture.

use super::{MOST_ROWS, Options};
use crate::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of one processor.
pub(super) struct Group {
    pub(super) title: String,
    pub(super) streams: Vec<usize>,
}

/// Rows of a picture.
pub(super) struct Rows {
    pub(super) groups: Vec<Group>,
    /// Number of streams that are not drawn for want of room.
    pub(super) hidden: usize,
}

impl Rows {
    pub(super) fn of(plan: &Plan, options: &Options) -> Self {
        let mut streams = ordered(plan);
        let mut hidden = 0;
        if options.operations.is_empty() {
            hidden = streams.len().saturating_sub(MOST_ROWS);
            streams.truncate(MOST_ROWS);
        } else {
            let chosen: BTreeSet<&str> = options.operations.iter().map(String::as_str).collect();
            streams.retain(|&stream| chosen.contains(plan.streams[stream].operation.as_str()));
        }
        Self {
            groups: grouped(plan, &streams),
            hidden,
        }
    }

    /// Returns all streams that are drawn.
    pub(super) fn streams(&self) -> impl Iterator<Item = usize> {
        self.groups
            .iter()
            .flat_map(|group| group.streams.iter().copied())
    }
}

/// Returns the streams by processor, then level; those that are left out are behind the others of
/// their host.
fn ordered(plan: &Plan) -> Vec<usize> {
    let mut hosts = BTreeMap::new();
    for (at, processor) in plan.processors.iter().enumerate() {
        hosts.entry(processor.host.as_str()).or_insert(at);
    }
    let mut streams: Vec<usize> = (0..plan.streams.len()).collect();
    streams.sort_by_key(|&index| {
        let stream = &plan.streams[index];
        let host = hosts.get(stream.host.as_str());
        let processor = stream.processor.unwrap_or(usize::MAX);
        (host, processor, stream.level, index)
    });
    streams
}

fn grouped(plan: &Plan, streams: &[usize]) -> Vec<Group> {
    let place = |&index: &usize| (&plan.streams[index].host, plan.streams[index].processor);
    let same = |one: &usize, other: &usize| place(one) == place(other);
    let groups = streams.chunk_by(same).filter_map(|streams| {
        let (host, number) = streams.first().map(place)?;
        Some(Group {
            title: title(plan, host, number),
            streams: streams.to_vec(),
        })
    });
    groups.collect()
}

fn title(plan: &Plan, host: &str, number: Option<usize>) -> String {
    let Some(number) = number else {
        return format!("{host}, left out");
    };
    let mut processors = plan.processors.iter();
    let processor = processors.find(|one| one.host == host && one.number == number);
    let load = processor.map_or(0.0, |processor| processor.utilisation * 100.0);
    format!("{host}, processor {number}, load {load:.1} %")
}

/// Returns the name of a stream, with its source if the operation has several streams.
pub(super) fn name(plan: &Plan, stream: usize) -> String {
    let planned = &plan.streams[stream];
    match plan.streams_of(&planned.operation).nth(1) {
        Some(_) if planned.source != planned.operation => {
            format!("{} (by {})", planned.operation, planned.source)
        }
        _ => planned.operation.clone(),
    }
}
