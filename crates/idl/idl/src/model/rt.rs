//! Timing of operations: the checked content of `@rt`.

use super::{DeclKind, Declaration};
use crate::source::Location;

/// Timing that `@rt` states of an operation, as an `RT_Info` does (Schmidt, Levine and Mungee 1998).
/// What it leaves out is `None`. Times are in nanoseconds, and at most a day.
#[derive(Clone, Debug, PartialEq)]
pub struct RtInfo {
    /// Worst-case execution time without the operations that it calls, above zero.
    pub wcet: Option<RtValue<u64>>,
    /// Usual execution time, at most `wcet`.
    pub typical: Option<RtValue<u64>>,
    /// Execution time with warm caches, at most `wcet`.
    pub cached: Option<RtValue<u64>>,
    /// Distance of two releases, or the minimum distance, above zero.
    pub period: Option<RtValue<u64>>,
    /// Deadline, counted from the release; above zero, and not below `wcet`.
    pub deadline: Option<RtValue<u64>>,
    /// Time of the first release.
    pub offset: Option<RtValue<u64>>,
    /// Maximum time from a nominal release to the actual one.
    pub jitter: Option<RtValue<u64>>,
    /// Harm of a missed deadline.
    pub criticality: Option<RtValue<RtLevel>>,
    /// Preference among operations that are otherwise equal.
    pub importance: Option<RtValue<RtLevel>>,
    /// Number of threads of its own.
    pub threads: Option<RtValue<u32>>,
    /// Source position of the annotation's name.
    pub location: Location,
}

/// Value of `@rt` with its source position.
#[derive(Clone, Debug, PartialEq)]
pub struct RtValue<T> {
    /// Value of the argument.
    pub value: T,
    /// Source position of the value.
    pub location: Location,
}

/// Degree of criticality or importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RtLevel {
    /// Lowest level, `very_low`.
    VeryLow,
    /// Second lowest level, `low`.
    Low,
    /// Middle level, `medium`.
    Medium,
    /// Second highest level, `high`.
    High,
    /// Highest level, `very_high`.
    VeryHigh,
}

impl RtInfo {
    /// Makes a timing that states nothing.
    pub(crate) fn new(location: Location) -> Self {
        RtInfo {
            wcet: None,
            typical: None,
            cached: None,
            period: None,
            deadline: None,
            offset: None,
            jitter: None,
            criticality: None,
            importance: None,
            threads: None,
            location,
        }
    }
}

impl RtLevel {
    /// Returns the level of a word of `@rt`, in any case, with `_` or `-` between words.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase().replace('-', "_");
        Some(match &*word {
            "very_low" => Self::VeryLow,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "very_high" => Self::VeryHigh,
            _ => return None,
        })
    }
}

impl Declaration {
    /// Returns the names of the requests of an operation or attribute: `read`, or `_get_level` and,
    /// unless it is read-only, `_set_level` (CORBA 3.3 part 2, §9.4.2); none for other declarations.
    pub fn request_names(&self) -> Vec<String> {
        match &self.kind {
            DeclKind::Operation(_) => vec![self.name.clone()],
            DeclKind::Attribute(attribute) => {
                let verbs: &[&str] = if attribute.readonly {
                    &["get"]
                } else {
                    &["get", "set"]
                };
                let name = |verb: &&str| format!("_{verb}_{}", self.name);
                verbs.iter().map(name).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the name of each request in a schedule, with its scopes: `Radar::Sensor::read`.
    pub fn names_in_schedule(&self) -> Vec<String> {
        let scopes = self
            .scoped_name
            .split_last()
            .map_or(&[][..], |(_, scopes)| scopes);
        let scoped = |name: String| {
            let mut parts = scopes.to_vec();
            parts.push(name);
            parts.join("::")
        };
        self.request_names().into_iter().map(scoped).collect()
    }

    /// Returns the timing of an operation or attribute with `@rt`. Of an attribute it holds for
    /// reading, and for writing if the attribute is not read-only.
    pub fn rt(&self) -> Option<&RtInfo> {
        match &self.kind {
            DeclKind::Operation(operation) => operation.rt.as_deref(),
            DeclKind::Attribute(attribute) => attribute.rt.as_deref(),
            _ => None,
        }
    }
}
