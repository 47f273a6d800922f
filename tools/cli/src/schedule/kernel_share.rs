//! Time that a plan's threads may use in a period of the kernel's real-time throttling.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::admission::{KernelAdmission, KernelShare, kernel};
use punctual_scheduling::analysis::supply::Reservation;
use punctual_scheduling::model::Host;
use punctual_scheduling::plan::{Plan, PlannedStream};
use punctual_scheduling_runtime::{Dispatching, Schedule};
use std::collections::BTreeMap;

/// Returns the processor of a host whose threads may use most of a period, and that time.
pub(super) fn busiest(plan: &Plan, host: &Host, period: Time) -> Option<(usize, Time)> {
    let mut used = BTreeMap::new();
    for stream in plan.streams.iter().filter(|one| one.host == host.name) {
        if let Some(processor) = stream.processor {
            let of_processor = used.entry(processor).or_insert(Time::ZERO);
            *of_processor = *of_processor + most_within(stream, period);
        }
    }
    let all = used.into_iter().map(|(at, time)| (at, time.min(period)));
    all.max_by_key(|&(_, time)| time)
}

/// Applies the kernel's test to the reservations of a schedule.
pub(super) fn reserved(schedule: &Schedule, host: &Host, share: KernelShare) -> KernelAdmission {
    let reservations = schedule
        .activities()
        .filter_map(|one| match one.dispatching() {
            Dispatching::Reservation(of) => {
                Reservation::new(of.runtime.into(), of.deadline.into(), of.period.into()).ok()
            }
            _ => None,
        });
    let processors = u32::try_from(host.processors).unwrap_or(u32::MAX);
    kernel(&reservations.collect::<Vec<_>>(), processors, share)
}

/// Returns the longest execution of a stream in a window: its first job as late, the others as early as they
/// may be (Bertogna, Cirinei and Lipari 2005).
fn most_within(stream: &PlannedStream, window: Time) -> Time {
    let latest = stream.response.unwrap_or(stream.deadline);
    let reach = (window + latest - stream.wcet).as_nanos();
    let period = stream.period.as_nanos().max(1);
    let last = stream.wcet.min(Time::from_nanos(reach % period));
    (stream.wcet * (reach / period) + last).min(window)
}
