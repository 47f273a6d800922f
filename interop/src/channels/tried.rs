//! Cases of our clients at a peer's service, and those that the peer fails by faults of its own.

use crate::Failure;
use crate::matrix::{Direction, Matrix, Outcome, Version};

/// Records cases of our clients at a peer's service.
#[derive(Debug)]
pub(super) struct Tried<'m> {
    matrix: &'m mut Matrix,
    lacks: &'static [Lack],
}

/// Cases that a peer's service fails, with the reason.
pub(super) type Lack = (&'static [&'static str], &'static str);

impl<'m> Tried<'m> {
    /// Records cases but for those that the peer fails.
    pub(super) fn new(matrix: &'m mut Matrix, lacks: &'static [Lack]) -> Self {
        Self { matrix, lacks }
    }

    /// Tries a case, unless the peer fails it.
    pub(super) fn case(&mut self, name: &str, body: impl FnOnce() -> Result<(), Failure>) {
        let lack = self.lacks.iter().find(|(cases, _)| cases.contains(&name));
        let outcome = match lack {
            Some((_, why)) => Outcome::NotApplicable((*why).to_owned()),
            None => body().map_err(|error| error.to_string()).into(),
        };
        let to = Direction::To;
        self.matrix.record(name, Version::V1_2, to, outcome);
    }
}

/// Cases that JacORB's Notification Service fails.
pub(super) const OF_NOTIFICATIONS: &[Lack] = &[
    (
        &["-$severity < 0"],
        "JacORB's parser takes no minus before a member",
    ),
    (
        &["$severity / 0 == 1", "$place > 3"],
        "JacORB raises UNKNOWN where an expression has no value, instead of taking it for false",
    ),
    (
        &["a wrong constraint is refused"],
        "JacORB raises UNKNOWN: its filter does not let its InvalidConstraint pass",
    ),
    (
        &["a mapping filter"],
        "JacORB raises MARSHAL where no constraint matches, instead of returning the default value",
    ),
    (
        &["batches are full"],
        "JacORB's batches are smaller now and then, though they have a minute to become full",
    ),
    (
        &["a consumer gets what it subscribes to"],
        "JacORB tells suppliers what consumers subscribe to, and delivers all events",
    ),
];
