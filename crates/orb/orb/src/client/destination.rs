//! Choice among a reference's endpoints by priority (O'Ryan et al. 2001, §4.2.2).

use crate::lane::Endpoint;
use crate::policy::UnmetPolicies;
use crate::priorities::Destination;
use crate::priority::Priority;
use std::cmp::Reverse;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Selects the endpoints that calls with a given priority may use, in the order in which they are
/// tried.
pub(super) fn towards(
    destination: &Destination,
    mut endpoints: Vec<Arc<Endpoint>>,
) -> Result<Vec<Arc<Endpoint>>, UnmetPolicies> {
    match destination {
        Destination::Any => Ok(endpoints),
        Destination::Nearest(wanted) => {
            endpoints.sort_by_key(|one| distance(one.qualities.priority, *wanted));
            Ok(endpoints)
        }
        Destination::Within { priorities, policy } => {
            within(priorities, &endpoints).ok_or_else(|| {
                let there: Vec<String> = endpoints.iter().map(|one| said(one)).collect();
                let why = format!(
                    "no endpoint of the reference has a priority from {} to {}: it has {}",
                    priorities.start(),
                    priorities.end(),
                    there.join(", ")
                );
                UnmetPolicies::new(&[*policy], why)
            })
        }
        Destination::Band(range) => {
            let within = within(range, &endpoints);
            Ok(within.unwrap_or_else(|| {
                let has_priority = |one: &Arc<Endpoint>| one.qualities.priority.is_some();
                let (last, mut first): (Vec<_>, Vec<_>) =
                    endpoints.into_iter().partition(has_priority);
                first.extend(last);
                first
            }))
        }
    }
}

/// Returns the endpoints whose priority is within the range; `None` if there are none.
fn within(
    range: &RangeInclusive<Priority>,
    endpoints: &[Arc<Endpoint>],
) -> Option<Vec<Arc<Endpoint>>> {
    let is_within = |one: &&Arc<Endpoint>| {
        let priority = one.qualities.priority;
        priority.is_some_and(|priority| range.contains(&priority))
    };
    let within: Vec<Arc<Endpoint>> = endpoints.iter().filter(is_within).cloned().collect();
    (!within.is_empty()).then_some(within)
}

/// Returns how far an endpoint's priority is from the wanted one, as a sort key: first equal
/// priorities, then endpoints without a priority, then higher priorities, then lower ones.
fn distance(
    priority: Option<Priority>,
    wanted: Priority,
) -> (u8, Option<Priority>, Reverse<Option<Priority>>) {
    match priority {
        Some(priority) if priority == wanted => (0, None, Reverse(None)),
        None => (1, None, Reverse(None)),
        Some(above) if above > wanted => (2, Some(above), Reverse(None)),
        Some(below) => (3, None, Reverse(Some(below))),
    }
}

fn said(endpoint: &Endpoint) -> String {
    match endpoint.qualities.priority {
        Some(priority) => format!("{} of priority {priority}", endpoint.address),
        None => format!("{} without one", endpoint.address),
    }
}
