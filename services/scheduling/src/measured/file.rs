//! Form of the file that an ORB writes.

use super::arrivals::Arrivals;
use super::nanos::nanos;
use crate::time::Time;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Times of all operations of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Measurements {
    /// Version of the form; this is version 1.
    pub version: u32,
    /// Number of jobs of operations for which there was no room.
    pub not_recorded: u64,
    /// Operations with at least one job.
    pub operations: Vec<MeasuredOperation>,
}

/// Times of one operation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct MeasuredOperation {
    /// Scoped name in IDL: `Module::Interface::operation`.
    pub name: String,
    /// Execution times of jobs, without operations that they called in the same thread.
    pub execution: Times,
    /// Response times, from the beginning of a job to its end.
    pub response: Times,
    /// Distances of the beginnings of jobs that follow one another.
    pub distance: Times,
    /// Period and jitter within which all jobs came; `None` of a single job, and in files of earlier versions.
    #[serde(default)]
    pub arrivals: Option<Arrivals>,
}

/// Distribution of times. All are zero if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Times {
    /// Number of times.
    pub count: u64,
    /// Shortest time.
    #[serde(deserialize_with = "nanos")]
    pub min: Time,
    /// Mean of all times.
    #[serde(deserialize_with = "nanos")]
    pub mean: Time,
    /// Median.
    #[serde(deserialize_with = "nanos")]
    pub p50: Time,
    /// Time that 99 of 100 do not exceed.
    #[serde(deserialize_with = "nanos")]
    pub p99: Time,
    /// Longest time.
    #[serde(deserialize_with = "nanos")]
    pub max: Time,
}

impl Measurements {
    /// Returns the operations by name. Interfaces of one name with several versions are one
    /// operation, with the worst times of all.
    pub(super) fn by_name(&self) -> BTreeMap<&str, MeasuredOperation> {
        let mut all: BTreeMap<&str, MeasuredOperation> = BTreeMap::new();
        for one in &self.operations {
            match all.get_mut(one.name.as_str()) {
                Some(known) => known.merge(one),
                None => {
                    all.insert(&one.name, one.clone());
                }
            }
        }
        all
    }
}

impl MeasuredOperation {
    fn merge(&mut self, other: &Self) {
        self.arrivals = self.united_arrivals(other);
        self.execution.merge(&other.execution);
        self.response.merge(&other.response);
        self.distance.merge(&other.distance);
    }

    /// Returns the period and the jitter of the jobs of two operations together; `None` if those of one are not known.
    fn united_arrivals(&self, other: &Self) -> Option<Arrivals> {
        let single = |operation: &Self| operation.distance.count == 0;
        match (self.arrivals, other.arrivals) {
            (Some(one), Some(two)) => Some(one.united(two)),
            // A job more, at any time, is one that comes a period early.
            (Some(arrivals), None) if single(other) => Some(arrivals.with_one()),
            (None, Some(arrivals)) if single(self) => Some(arrivals.with_one()),
            _ => None,
        }
    }

    /// Returns the jitter: the longest distance minus the shortest.
    #[must_use]
    pub fn jitter(&self) -> Time {
        self.distance.max - self.distance.min
    }
}

impl Times {
    /// Makes the distribution of these times.
    pub(super) fn of(mut times: Vec<Time>) -> Self {
        times.sort_unstable();
        let (Some(min), Some(max)) = (times.first().copied(), times.last().copied()) else {
            return Self::default();
        };
        let sum: u128 = times.iter().map(|time| u128::from(time.as_nanos())).sum();
        let mean = u64::try_from(sum / times.len() as u128).unwrap_or(u64::MAX);
        // The time that this many hundredths do not exceed.
        let quantile = |hundredths: usize| {
            let rank = (times.len().saturating_mul(hundredths)).div_ceil(100);
            times.get(rank.saturating_sub(1)).copied().unwrap_or(max)
        };
        Self {
            count: times.len() as u64,
            min,
            mean: Time::from_nanos(mean),
            p50: quantile(50),
            p99: quantile(99),
            max,
        }
    }

    fn merge(&mut self, other: &Self) {
        if self.count == 0 || other.count == 0 {
            *self = if self.count == 0 { *other } else { *self };
            return;
        }
        self.count = self.count.saturating_add(other.count);
        self.min = self.min.min(other.min);
        self.mean = self.mean.min(other.mean);
        self.p50 = self.p50.max(other.p50);
        self.p99 = self.p99.max(other.p99);
        self.max = self.max.max(other.max);
    }
}
