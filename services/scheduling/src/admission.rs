//! Admission at run time: activities of a plan come and go while the system runs, and each is admitted
//! only if all that run meet their deadlines (on-line scheduling as the Epiq project has it, which extends TAO's off-line model).
//!
//! Where there is no room, activities of less criticality are degraded to longer periods, or suspended, before
//! one of more criticality is refused. An activity never makes one slower that is more critical, or as critical and
//! as important.
//!
//! Changes of periods take effect at once; the transition from one set of periods to another is not analysed.

use crate::model::{Model, Operation};
use crate::plan::Plan;
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Activities of a plan that run, each with its period.
#[derive(Clone, Debug)]
pub struct Admission {
    model: Model,
    plan: Plan,
    /// Members in the order in which they are served when room is given out.
    members: Vec<Member>,
    arrivals: u64,
}

#[derive(Clone, Debug)]
struct Member {
    operation: usize,
    arrival: u64,
    /// Period at which it runs; `None` while it is suspended.
    period: Option<Time>,
}

/// Change of an activity's period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Name of the activity, that of the operation from which its chain of calls starts.
    pub activity: String,
    /// Period before; `None` if the activity did not run.
    pub before: Option<Time>,
    /// Period from now on; `None` if the activity is to suspend itself.
    pub after: Option<Time>,
}

/// Reason for which an activity does not run.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// The plan has no operation of this name.
    #[error("the plan has no operation `{0}`: add it to the model")]
    Unknown(String),
    /// The operation is released by others.
    #[error("`{0}` does not release itself: admit the operation that calls it")]
    NotASource(String),
    /// The activity runs already, or is suspended.
    #[error("`{0}` has been admitted already")]
    Admitted(String),
    /// The activity has not been admitted.
    #[error("`{0}` has not been admitted")]
    NotAdmitted(String),
    /// The activity would make activities of equal or more criticality miss deadlines, or its own.
    #[error(
        "no room for `{activity}`{}: a deadline would be missed, at its longest period, too",
        if beside.is_empty() { String::new() } else { format!(" beside {}", beside.join(", ")) }
    )]
    NoRoom {
        /// Name of the activity.
        activity: String,
        /// Names of the activities that have precedence.
        beside: Vec<String>,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for AdmissionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Returns the periods at which an operation may run, the shortest first.
fn periods(operation: &Operation) -> Vec<Time> {
    let longer = operation.rates.iter().chain(&operation.degraded);
    let mut periods: Vec<Time> = operation.period.iter().chain(longer).copied().collect();
    periods.sort_unstable();
    periods.dedup();
    periods
}

impl Admission {
    /// Starts admission for a plan, with no activity admitted yet. All activities together need not be schedulable.
    #[must_use]
    pub fn new(model: Model, plan: Plan) -> Self {
        Self {
            model,
            plan,
            members: Vec::new(),
            arrivals: 0,
        }
    }

    /// Admits an activity at the shortest of its periods that fits. Returns the changes, of others too.
    ///
    /// # Errors
    /// [`AdmissionError`]; then nothing has changed.
    pub fn admit(&mut self, activity: &str) -> Result<Vec<Change>, AdmissionError> {
        let operation = self.source(activity)?;
        if self.members.iter().any(|one| one.operation == operation) {
            return Err(AdmissionError::Admitted(activity.to_owned()));
        }
        let before = self.members.clone();
        self.arrivals += 1;
        self.members.push(Member {
            operation,
            arrival: self.arrivals,
            period: None,
        });
        let model = &self.model;
        self.members.sort_by_key(|one| {
            let Operation {
                criticality,
                importance,
                ..
            } = model.operations[one.operation];
            (Reverse((criticality, importance)), one.arrival)
        });
        let own = |one: &Member| one.operation == operation;
        let place = self.members.iter().position(own).unwrap_or_default();
        self.settle(place);
        if self.members[place].period.is_none() {
            let ahead = self.members.iter().take(place);
            let beside = ahead.map(|one| self.name(one.operation).to_owned());
            let beside = beside.collect();
            self.members = before;
            return Err(AdmissionError::NoRoom {
                activity: activity.to_owned(),
                beside,
            });
        }
        Ok(self.changes(&before))
    }

    /// Ends an activity. Returns the changes: its own, and those of others that have room again.
    ///
    /// # Errors
    /// [`AdmissionError::NotAdmitted`], [`AdmissionError::Unknown`], [`AdmissionError::NotASource`].
    pub fn leave(&mut self, activity: &str) -> Result<Vec<Change>, AdmissionError> {
        let operation = self.source(activity)?;
        let before = self.members.clone();
        self.members.retain(|one| one.operation != operation);
        if self.members.len() == before.len() {
            return Err(AdmissionError::NotAdmitted(activity.to_owned()));
        }
        self.settle(0);
        Ok(self.changes(&before))
    }

    /// Returns the period of an activity; `None` if it is suspended, or not admitted.
    #[must_use]
    pub fn period(&self, activity: &str) -> Option<Time> {
        let operation = self.model.operation(activity)?;
        let mut members = self.members.iter();
        members.find(|one| one.operation == operation)?.period
    }

    fn source(&self, activity: &str) -> Result<usize, AdmissionError> {
        let unknown = || AdmissionError::Unknown(activity.to_owned());
        let operation = self.model.operation(activity).ok_or_else(unknown)?;
        let mut streams = self.plan.analysed.streams.iter();
        match streams.any(|stream| stream.source == operation) {
            true => Ok(operation),
            false => Err(AdmissionError::NotASource(activity.to_owned())),
        }
    }

    fn name(&self, operation: usize) -> &str {
        &self.model.operations[operation].name
    }

    /// Gives out room to the members from a place on, in their order: to each the shortest period that fits
    /// beside those before it.
    fn settle(&mut self, from: usize) {
        let mut active: BTreeMap<usize, Time> = BTreeMap::new();
        for (place, member) in self.members.iter_mut().enumerate() {
            if place >= from {
                member.period = None;
                let operation = &self.model.operations[member.operation];
                for period in periods(operation) {
                    active.insert(member.operation, period);
                    let plan = self.plan.while_active(&self.model, &active);
                    if plan.is_some_and(|plan| plan.fits_of(&active)) {
                        member.period = Some(period);
                        break;
                    }
                    active.remove(&member.operation);
                }
            }
            if let Some(period) = member.period {
                active.insert(member.operation, period);
            }
        }
    }

    fn changes(&self, before: &[Member]) -> Vec<Change> {
        let of = |members: &[Member], operation| {
            let mut members = members.iter();
            members
                .find(|one| one.operation == operation)
                .and_then(|one| one.period)
        };
        let mut all: Vec<usize> = before.iter().map(|one| one.operation).collect();
        let known = all.clone();
        let new = self.members.iter().map(|one| one.operation);
        all.extend(new.filter(|one| !known.contains(one)));
        all.sort_by_key(|&operation| self.name(operation));
        let changes = all.into_iter().map(|operation| Change {
            activity: self.name(operation).to_owned(),
            before: of(before, operation),
            after: of(&self.members, operation),
        });
        changes.filter(|one| one.before != one.after).collect()
    }
}
