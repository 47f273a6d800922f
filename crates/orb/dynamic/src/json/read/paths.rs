//! Paths in JSON text to valuetypes that are shared: the text refers to such a value by its path,
//! in a member `$ref`.
//!
//! Paths are long where values nest, and few values are referred to. So the reader does not
//! assemble the path of every value. It sorts the paths that `$ref` members name, and with each
//! step into a value it narrows them to those that begin with the path of this value.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::ops::Range;

use punctual_cdr::{OpenValue, ValueRef};

/// One step of a path: to a member or to an element of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'s> {
    Member(&'s str),
    Element(usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(name) => write!(f, ".{name}"),
            Self::Element(index) => write!(f, "[{index}]"),
        }
    }
}

/// Valuetype that has been read, or is being read.
#[derive(Clone, Debug)]
pub(super) enum StartedValue {
    Value(ValueRef),
    /// Valuetype written into the outermost octets, not into an Any within them.
    Octets(OpenValue),
}

/// Paths that `$ref` members name, with the valuetypes that have been read at them.
#[derive(Default)]
pub(super) struct Paths<'t> {
    all: Vec<(Cow<'t, str>, Option<StartedValue>)>,
    here: PathRange,
    /// Buffer for the text of one step of a path.
    step: String,
}

/// Range of the sorted paths that begin with the path of the value being read, and the length of
/// that path.
#[derive(Clone, Debug, Default)]
pub(super) struct PathRange {
    range: Range<usize>,
    length: usize,
}

impl<'t> Paths<'t> {
    pub(super) fn new(paths: Vec<Cow<'t, str>>) -> Self {
        let mut all: Vec<_> = paths.into_iter().map(|path| (path, None)).collect();
        all.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        all.dedup_by(|(one, _), (other, _)| one == other);
        let here = PathRange {
            range: 0..all.len(),
            length: 0,
        };
        let step = String::new();
        Self { all, here, step }
    }

    /// Returns whether the text refers to no valuetype by a path.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Takes a step into a value; returns the range before it, to be passed to [`Paths::go_back`].
    pub(super) fn enter(&mut self, step: Step<'_>) -> PathRange {
        let outer = self.here.clone();
        let Some(paths) = self.all.get(outer.range.clone()) else {
            return outer;
        };
        if paths.is_empty() {
            return outer;
        }
        self.step.clear();
        // Writing to a string never fails.
        let _ = write!(self.step, "{step}");
        let step = self.step.as_str();
        let before =
            paths.partition_point(|(path, _)| rest_of(path, outer.length) < step.as_bytes());
        let within = paths.get(before..).unwrap_or_default();
        let within = within
            .partition_point(|(path, _)| rest_of(path, outer.length).starts_with(step.as_bytes()));
        let begin = outer.range.start + before;
        self.here = PathRange {
            range: begin..begin + within,
            length: outer.length + step.len(),
        };
        outer
    }

    pub(super) fn go_back(&mut self, outer: PathRange) {
        self.here = outer;
    }

    /// Records that a valuetype begins at the current path, if that is referred to.
    pub(super) fn note(&mut self, value: StartedValue) {
        // The shortest path comes first.
        let first = self.all.get_mut(self.here.range.clone());
        if let Some((path, begun)) = first.and_then(<[_]>::first_mut)
            && path.len() == self.here.length
        {
            *begun = Some(value);
        }
    }

    /// Returns the valuetype that has been read at a path.
    pub(super) fn begun_at(&self, path: &str) -> Option<StartedValue> {
        let found = self.all.binary_search_by(|(one, _)| (**one).cmp(path));
        self.all.get(found.ok()?)?.1.clone()
    }
}

fn rest_of(path: &str, length: usize) -> &[u8] {
    path.as_bytes().get(length..).unwrap_or_default()
}
