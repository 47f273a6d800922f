//! Statistics: from samples to figures.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Upper bound of recorded samples, in nanoseconds: a minute. Longer samples are recorded as a
/// minute.
const LONGEST: u64 = 60_000_000_000;
/// Number of significant digits that a histogram keeps.
const DIGITS: u8 = 3;

/// Spread of the rounds above which a figure counts as unknown.
pub const NOISY: f64 = 0.10;

/// Samples of one contender at one point, separated by round and merged.
#[derive(Clone, Debug)]
pub struct Record {
    merged: Histogram<u64>,
    moments: Moments,
    medians: Vec<f64>,
    means: Vec<f64>,
    p99s: Vec<f64>,
}

/// Count, sum and sum of squares of any number of times: enough for their mean and standard
/// deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// Number of recorded call times.
    pub calls: u64,
    /// Sum of the recorded call times, in nanoseconds.
    pub sum: f64,
    /// Sum of the squares of the recorded call times, in square nanoseconds.
    pub squares: f64,
}

/// Call rates of one contender at one point, by round.
#[derive(Clone, Debug, Default)]
pub struct Rates(Vec<f64>);

/// Statistical figures of the recorded call times, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Number of call times in all rounds.
    pub samples: u64,
    /// Median of the median call times of the rounds.
    pub median: f64,
    /// Spread of the rounds' medians: their interquartile range, divided by `median`.
    pub spread: f64,
    /// Median of the call times of all rounds.
    pub p50: u64,
    /// 99th percentile of the call times of all rounds.
    pub p99: u64,
    /// 99.9th percentile of the call times of all rounds.
    pub p999: u64,
    /// Longest call time of all rounds.
    pub max: u64,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            merged: Histogram::new_with_bounds(1, LONGEST, DIGITS)
                .expect("bounds and digits are in the histogram's range"),
            moments: Moments::default(),
            medians: Vec::new(),
            means: Vec::new(),
            p99s: Vec::new(),
        }
    }
}

impl Record {
    /// Adds a round; a round without samples is ignored.
    pub fn add_round(&mut self, samples: &[u64]) {
        for &sample in samples {
            self.merged.saturating_record(sample.max(1));
        }
        let moments: Moments = samples.iter().copied().collect();
        self.moments = self.moments.and(moments);
        self.means.extend(moments.mean());
        let round: Vec<f64> = samples.iter().map(|&sample| float(sample)).collect();
        self.medians.extend(median(&round));
        self.p99s.extend(quantile(&round, 0.99));
    }

    /// Returns the median call time of each round, in order.
    #[must_use]
    pub fn medians(&self) -> &[f64] {
        &self.medians
    }

    /// Returns the mean call time of each round, in order.
    #[must_use]
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Returns the count, sum and sum of squares of all recorded call times.
    #[must_use]
    pub const fn moments(&self) -> Moments {
        self.moments
    }

    /// Returns the shortest recorded call time, in nanoseconds.
    #[must_use]
    pub fn least(&self) -> u64 {
        self.merged.min()
    }

    /// Returns whether the medians of the rounds differ too much for the figures to be known.
    #[must_use]
    pub fn is_noisy(&self) -> bool {
        is_noisy(&self.medians)
    }

    /// Returns the ratio of this record's medians to another's: the median over the rounds, which
    /// both records have in common.
    #[must_use]
    pub fn ratio_to(&self, other: &Self) -> Option<f64> {
        paired_ratio(&self.medians, &other.medians)
    }

    /// Returns the 99th percentiles of the rounds, in order.
    #[must_use]
    pub fn p99s(&self) -> &[f64] {
        &self.p99s
    }

    /// Returns the given quantile of all samples, in nanoseconds.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        self.merged.value_at_quantile(share)
    }

    /// Returns the figures of the recorded call times; `None` before the first round.
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

impl Moments {
    /// Adds a call time, in nanoseconds.
    pub fn add(&mut self, nanoseconds: u64) {
        let time = float(nanoseconds);
        self.calls += 1;
        self.sum += time;
        self.squares += time * time;
    }

    /// Returns the moments of two sets of times together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }

    /// Returns the mean call time in nanoseconds; `None` if no times were recorded.
    #[must_use]
    pub fn mean(self) -> Option<f64> {
        (self.calls > 0).then(|| self.sum / float(self.calls))
    }

    /// Returns the standard deviation, in nanoseconds: the papers' jitter.
    #[must_use]
    pub fn deviation(self) -> Option<f64> {
        let mean = self.mean()?;
        let variance = self.squares / float(self.calls) - mean * mean;
        Some(variance.max(0.0).sqrt())
    }
}

impl FromIterator<u64> for Moments {
    fn from_iter<T: IntoIterator<Item = u64>>(times: T) -> Self {
        let mut moments = Self::default();
        times.into_iter().for_each(|time| moments.add(time));
        moments
    }
}

impl Rates {
    /// Adds the rate of a round in which `calls` calls took `nanoseconds`.
    pub fn add_round(&mut self, calls: u64, nanoseconds: u64) {
        self.0.push(float(calls) * 1e9 / float(nanoseconds.max(1)));
    }

    /// Returns the median of the rounds' rates, in calls per second.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        median(&self.0)
    }

    /// Returns the spread of the rounds: their interquartile range, divided by the median.
    #[must_use]
    pub fn spread(&self) -> Option<f64> {
        spread(&self.0)
    }

    /// Returns whether the rates of the rounds differ too much for the rate to be known.
    #[must_use]
    pub fn is_noisy(&self) -> bool {
        is_noisy(&self.0)
    }

    /// Returns the ratio of these rates to another contender's: the median over the rounds, which
    /// both have in common.
    #[must_use]
    pub fn ratio_to(&self, other: &Self) -> Option<f64> {
        paired_ratio(&self.0, &other.0)
    }
}

/// Returns whether the values of the rounds differ too much to be used, or there are none.
#[must_use]
pub fn is_noisy(rounds: &[f64]) -> bool {
    spread(rounds).is_none_or(|spread| spread > NOISY)
}

/// Returns the median: the middle value, or the mean of the two middle values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Returns the interquartile range of the values divided by their median.
#[must_use]
pub fn spread(values: &[f64]) -> Option<f64> {
    let range = quantile(values, 0.75)? - quantile(values, 0.25)?;
    Some(range / median(values)?)
}

/// Returns the difference between the largest and the smallest value, as a fraction of the
/// smallest.
#[must_use]
pub fn variation(values: &[f64]) -> Option<f64> {
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().reduce(f64::max)?;
    (least > 0.0).then(|| most / least - 1.0)
}

/// Returns the median of the ratios between two contenders' values in each round: a disturbance
/// that affects both in a round cancels out.
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

/// Returns the quantile `q` of the values, interpolated between the two nearest ones.
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
    fn jitter_is_the_standard_deviation() {
        let moments = Moments::from_iter([2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(
            (moments.mean(), moments.deviation()),
            (Some(5.0), Some(2.0))
        );
        assert_eq!(Moments::default().mean(), None);
        assert_eq!(Moments::from_iter([1; 9]).deviation(), Some(0.0));
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
