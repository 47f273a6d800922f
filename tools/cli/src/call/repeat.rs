//! Repeated calls, and their durations.

use std::time::{Duration, Instant};

use anstyle::AnsiColor;
use hdrhistogram::Histogram;
use punctual::description::OperationDescription;
use punctual::{Any, ObjectRef};
use serde_json::json;

use super::invoke;
use super::problem::Problem;
use super::target_options::Common;

/// Calls `count` times, no more often than `rate` per second, and prints statistics of the
/// durations.
pub(super) fn many(
    object: &ObjectRef,
    operation: &OperationDescription,
    values: Vec<Any>,
    count: u64,
    rate: Option<u32>,
    common: &Common,
) -> Result<(), Problem> {
    let mut request = invoke::request(object, operation, values)?;
    // The first call connects.
    invoke::perform(&mut request, operation, common)?;
    let mut taken = Histogram::<u64>::new_with_bounds(1, LONGEST, 3)
        .map_err(|error| Problem::Usage(format!("no room for the times: {error}"), None))?;
    let begin = Instant::now();
    let mut due = Due::new(begin, rate);
    for _ in 0..count {
        let began = due.wait();
        invoke::perform(&mut request, operation, common)?;
        let nanoseconds = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        taken.saturating_record(nanoseconds);
    }
    // Calls that were due at a rate take a whole interval each, the last one too.
    let planned = due.planned(count);
    let elapsed = begin.elapsed().max(planned);
    if rate.is_some() && elapsed > planned + planned / 10 {
        eprintln!(
            "the calls did not keep up with the rate: each duration counts from when its call was due"
        );
    }
    show(&taken, count, elapsed, common);
    Ok(())
}

/// Times at which calls are due. A late call moves none of those behind it.
struct Due {
    next: Instant,
    /// Time between two calls; `None` if each is due when the last one has ended.
    interval: Option<Duration>,
}

impl Due {
    fn new(begin: Instant, rate: Option<u32>) -> Self {
        Due {
            next: begin,
            interval: rate.map(|rate| Duration::from_secs(1) / rate),
        }
    }

    /// Returns the time that calls take at the rate; none without a rate.
    fn planned(&self, count: u64) -> Duration {
        let seconds = |interval: Duration| interval.as_secs_f64() * count as f64;
        let planned = self.interval.map_or(0.0, seconds);
        Duration::try_from_secs_f64(planned).unwrap_or(Duration::MAX)
    }

    /// Waits until the next call is due; returns when that was, from which its duration counts.
    fn wait(&mut self) -> Instant {
        let Some(interval) = self.interval else {
            return Instant::now();
        };
        let due = self.next;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        self.next += interval;
        due
    }
}

/// Longest measurable duration, in nanoseconds: an hour.
const LONGEST: u64 = 3_600_000_000_000;

const SHOWN: [(&str, f64); 6] = [
    ("least", 0.0),
    ("median", 0.5),
    ("90 %", 0.9),
    ("99 %", 0.99),
    ("99.9 %", 0.999),
    ("most", 1.0),
];

fn show(taken: &Histogram<u64>, count: u64, elapsed: Duration, common: &Common) {
    let per_second = count as f64 / elapsed.as_secs_f64();
    let microseconds = |quantile: f64| taken.value_at_quantile(quantile) as f64 / 1000.0;
    if common.compact {
        let quantiles: serde_json::Map<_, _> = SHOWN
            .iter()
            .map(|(name, quantile)| ((*name).to_owned(), json!(microseconds(*quantile))))
            .collect();
        let told = json!({ "calls": count, "per_second": per_second, "microseconds": quantiles });
        println!("{told}");
        return;
    }
    let name = AnsiColor::Cyan.on_default();
    anstream::println!("{count} calls, {per_second:.0} a second");
    for (what, quantile) in SHOWN {
        anstream::println!(
            "{name}{what:>8}{name:#} {:>10.1} µs",
            microseconds(quantile)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_due_at_its_own_time_however_late_the_one_before_it_ends() {
        let begin = Instant::now();
        let mut due = Due::new(begin, Some(1000));
        let interval = Duration::from_millis(1);
        assert_eq!(due.wait(), begin);
        std::thread::sleep(5 * interval);
        assert_eq!(due.wait(), begin + interval);
        assert_eq!(due.wait(), begin + 2 * interval);
        due.next = Instant::now() + 3 * interval;
        let told = due.wait();
        assert!(Instant::now() >= told);
    }

    #[test]
    fn without_a_rate_each_call_counts_from_its_beginning() {
        let begin = Instant::now();
        let mut due = Due::new(begin, None);
        let (first, second) = (due.wait(), due.wait());
        assert!(begin <= first && first <= second);
    }
}
