//! Times that a plan expects of the upcalls of a program.

use super::build::Schedule;
use punctual::rt::measurement::Expected;
use punctual_scheduling::measured::{Measurements, compare};
use std::time::Duration;

impl Schedule {
    /// Returns what the plan expects of each operation of the host, for a recording that compares upcalls with it
    /// ([`RecordingOptions::plan`](punctual::rt::measurement::RecordingOptions::plan)): the execution time without
    /// operations that it calls, the least distance of upcalls if one stream releases it, and the deadline. It is what
    /// `punctual schedule compare` compares with.
    ///
    /// Upcalls are known by the names of IDL: operations of the plan are to be named `Module::Interface::operation`.
    #[must_use]
    pub fn expected(&self) -> Vec<Expected> {
        // The planned values beside no measured ones.
        let planned = compare(self.model(), self.plan(), &Measurements::default());
        let here = planned
            .into_iter()
            .filter(|one| self.activity(&one.operation).is_ok());
        let expected = here.map(|one| Expected {
            operation: one.operation,
            wcet: one.wcet.map(Into::into),
            period: one.least_distance.map(Into::into),
            jitter: Duration::ZERO,
            deadline: one.deadline.map(Into::into),
        });
        expected.collect()
    }
}
