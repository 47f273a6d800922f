//! Statistics: from samples to figures.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Upper bound of recorded samples, in nanoseconds: a minute. Longer ones count as this.
const LONGEST: u64 = 60_000_000_000;
/// Significant digits that a histogram keeps.
const DIGITS: u8 = 3;

/// Samples of one contender in one case: by round, and merged.
#[derive(Clone, Debug)]
pub struct Record {
    merged: Histogram<u64>,
    medians: Vec<f64>,
    p99s: Vec<f64>,
}

/// Figures of a record, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Number of all samples.
    pub samples: u64,
    /// Median of the rounds' medians.
    pub median: f64,
    /// Spread of the rounds' medians: their interquartile range, divided by `median`.
    pub spread: f64,
    /// Median of all samples.
    pub p50: u64,
    /// 99th percentile of all samples.
    pub p99: u64,
    /// 99.9th percentile of all samples.
    pub p999: u64,
    /// Longest sample.
    pub max: u64,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            merged: Histogram::new_with_bounds(1, LONGEST, DIGITS)
                .expect("bounds and digits are in the histogram's range"),
            medians: Vec::new(),
            p99s: Vec::new(),
        }
    }
}

impl Record {
    /// Adds a round; one without samples is left out.
    pub fn add_round(&mut self, samples: &[u64]) {
        for &sample in samples {
            self.merged.saturating_record(sample.max(1));
        }
        let round: Vec<f64> = samples.iter().map(|&sample| float(sample)).collect();
        self.medians.extend(median(&round));
        self.p99s.extend(quantile(&round, 0.99));
    }

    /// Returns the medians of the rounds, in order.
    #[must_use]
    pub fn medians(&self) -> &[f64] {
        &self.medians
    }

    /// Returns the 99th percentiles of the rounds, in order.
    #[must_use]
    pub fn p99s(&self) -> &[f64] {
        &self.p99s
    }

    /// Returns the sample that this share of all samples does not exceed, in nanoseconds.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        self.merged.value_at_quantile(share)
    }

    /// Returns the figures; `None` before the first round.
    #[must_use]
    pub fn figures(&self) -> Option<Figures> {
        Some(Figures {
            samples: self.merged.len(),
            median: median(&self.medians)?,
            spread: spread(&self.medians)?,
            p50: self.merged.value_at_quantile(0.5),
            p99: self.merged.value_at_quantile(0.99),
            p999: self.merged.value_at_quantile(0.999),
            max: self.merged.max(),
        })
    }
}

/// Returns the value in the middle, or the mean of the two there.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Returns the interquartile range divided by the median.
#[must_use]
pub fn spread(values: &[f64]) -> Option<f64> {
    let range = quantile(values, 0.75)? - quantile(values, 0.25)?;
    Some(range / median(values)?)
}

/// Returns the median of the ratios of two contenders' values, round by round: a disturbance of
/// both in a round cancels.
#[must_use]
pub fn paired_ratio(values: &[f64], floors: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> = values
        .iter()
        .zip(floors)
        .filter(|(_, floor)| **floor > 0.0)
        .map(|(value, floor)| value / floor)
        .collect();
    median(&ratios)
}

/// Returns the quantile `q`, interpolated between two values.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]
fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = q * last as f64;
    let (low, high) = (
        sorted.get(place.floor() as usize)?,
        sorted.get(place.ceil() as usize)?,
    );
    Some(low + (high - low) * place.fract())
}

#[allow(clippy::cast_precision_loss)]
fn float(nanoseconds: u64) -> f64 {
    nanoseconds as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-9)
    }

    #[test]
    fn a_median_is_the_middle_or_between_the_two_there() {
        assert!(close(median(&[3.0, 1.0, 2.0]), 2.0));
        assert!(close(median(&[4.0, 1.0, 2.0, 3.0]), 2.5));
        assert!(close(median(&[7.0]), 7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn spread_is_the_interquartile_range_over_the_median() {
        assert!(close(spread(&[1.0, 2.0, 3.0, 4.0, 5.0]), 2.0 / 3.0));
        assert!(close(spread(&[5.0; 9]), 0.0));
    }

    #[test]
    fn one_wild_round_moves_neither_median_nor_spread_much() {
        let mut rounds = vec![100.0; 15];
        rounds[7] = 100_000.0;
        assert!(close(median(&rounds), 100.0));
        assert!(close(spread(&rounds), 0.0));
    }

    #[test]
    fn a_disturbance_that_hits_both_in_a_round_leaves_the_ratio() {
        let floor = [10.0, 30.0, 10.0, 20.0];
        let ours = [12.0, 36.0, 12.0, 24.0];
        assert!(close(paired_ratio(&ours, &floor), 1.2));
        assert_eq!(paired_ratio(&[], &floor), None);
    }

    #[test]
    fn rounds_merge_into_one_histogram() {
        let mut record = Record::default();
        assert!(record.figures().is_none());
        record.add_round(&[100, 100, 100]);
        record.add_round(&[200, 200, 200, 200]);
        record.add_round(&[]);
        record.add_round(&[0, 150, u64::MAX]);
        assert_eq!(record.medians(), [100.0, 200.0, 150.0]);
        assert_eq!(record.p99s()[..2], [100.0, 200.0]);
        let figures = record.figures().unwrap();
        assert_eq!(figures.samples, 10);
        assert!(close(Some(figures.median), 150.0));
        assert_eq!(figures.p50, 150);
        assert!(figures.max >= LONGEST);
    }
}
