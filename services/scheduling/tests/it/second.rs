//! Second implementation of response times under fixed priorities: the crate
//! `response-time-analysis`, an implementation of proofs in Coq.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::fixed_priority::Prioritized;
use punctual_scheduling::analysis::{Preemption, Task};
use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::RBF;
use response_time_analysis::fixed_priority::{
    floating_nonpreemptive, fully_nonpreemptive, fully_preemptive, limited_preemptive,
};
use response_time_analysis::time::{Duration, Service};
use response_time_analysis::wcet::Scalar;

/// Longest busy period, above what the crate checks by brute force in debug builds.
const LIMIT: u64 = 200_000;

/// Returns the response time of a task by the crate, counted from the nominal release.
pub(crate) fn by_crate(tasks: &[Prioritized<'_>], own: usize) -> Option<Time> {
    let (this, limit) = (tasks[own], Duration::from(LIMIT));
    let others = || (0..tasks.len()).filter(|&at| at != own).map(|at| tasks[at]);
    let above = others().filter(|other| other.priority >= this.priority);
    let above: Vec<_> = above.map(|other| requests(other.task)).collect();
    let below = others().filter(|other| other.priority < this.priority);
    let blocking = below.map(|other| other.task.longest_section()).max();
    let blocking = blocking.unwrap_or_default() - Time::from_nanos(1);
    let blocking_bound = Service::from(blocking.as_nanos());
    let (rbf, arrivals) = (requests(this.task), arrivals(this.task));
    let wcet = Scalar::new(Service::from(this.task.wcet.as_nanos()));
    let bound = match this.task.preemption {
        Preemption::Full if blocking.is_zero() => {
            fully_preemptive::dedicated_uniproc_rta(&rbf, &above, limit)
        }
        Preemption::Full | Preemption::Floating { .. } => {
            let own = floating_nonpreemptive::TaskUnderAnalysis {
                rbf: &rbf,
                blocking_bound,
            };
            floating_nonpreemptive::dedicated_uniproc_rta(&own, &above, limit)
        }
        Preemption::None => {
            let own = fully_nonpreemptive::TaskUnderAnalysis {
                wcet,
                arrivals: &arrivals,
                blocking_bound,
            };
            fully_nonpreemptive::dedicated_uniproc_rta(&own, &above, limit)
        }
        Preemption::Segments { last, .. } => {
            let own = limited_preemptive::TaskUnderAnalysis {
                wcet,
                arrivals: &arrivals,
                last_np_segment: Service::from(last.as_nanos()),
                blocking_bound,
            };
            limited_preemptive::dedicated_uniproc_rta(&own, &above, limit)
        }
    };
    let bound = Time::from_nanos(bound.ok()?.into());
    Some(bound + this.task.jitter)
}

fn requests(task: &Task) -> RBF<Sporadic, Scalar> {
    let wcet = Scalar::new(Service::from(task.wcet.as_nanos()));
    RBF::new(arrivals(task), wcet)
}

fn arrivals(task: &Task) -> Sporadic {
    let nanos = |time: Time| Duration::from(time.as_nanos());
    Sporadic::new(nanos(task.period), nanos(task.jitter))
}
