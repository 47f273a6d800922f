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
    let mut next = begin;
    for _ in 0..count {
        if let Some(rate) = rate {
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            next += Duration::from_secs(1) / rate;
        }
        let before = Instant::now();
        invoke::perform(&mut request, operation, common)?;
        // The duration of a delayed call counts from its due time.
        let began = if rate.is_some() {
            before.min(next)
        } else {
            before
        };
        let nanoseconds = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        taken.saturating_record(nanoseconds);
    }
    show(&taken, count, begin.elapsed(), common);
    Ok(())
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
