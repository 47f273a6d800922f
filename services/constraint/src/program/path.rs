//! Paths to parts of an event.

use std::fmt;

use super::place::Place;
use super::step::{Root, Step};

/// Path to a part of an event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Path {
    pub(crate) root: Root,
    pub(crate) steps: Box<[Step]>,
    /// Part of a structured event that the path begins with.
    pub(crate) place: Place,
    /// Number of steps that lead to `place`; the others go on from there.
    pub(crate) taken: usize,
}

impl Path {
    pub(crate) fn new(root: Root, steps: Vec<Step>) -> Self {
        let (place, taken) = Place::of(&root, &steps);
        Self {
            root,
            steps: steps.into(),
            place,
            taken,
        }
    }

    /// Returns the steps that go on from `place`.
    pub(crate) fn rest(&self) -> &[Step] {
        self.steps.get(self.taken..).unwrap_or_default()
    }
}

/// Formats the path as it is written in a constraint.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::Event => f.write_str("$")?,
            Root::Variable(name) if &**name == "curtime" => f.write_str("$\\curtime")?,
            Root::Variable(name) => write!(f, "${name}")?,
            Root::CurrentTime => f.write_str("$curtime")?,
        }
        self.steps.iter().try_for_each(|step| write!(f, "{step}"))
    }
}
