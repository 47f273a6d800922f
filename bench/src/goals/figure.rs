//! What a line is made of: a measurement, and a figure in it.

/// A measurement that lines take their figures from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Latency, both sides on one processor.
    Same,
    /// Latency, a processor each.
    Cross,
    /// Instructions.
    Instructions,
    /// System calls.
    SystemCalls,
    /// Allocations.
    Allocations,
    /// Context switches.
    Switches,
    /// Calls a second.
    Throughput,
    /// Memory of idle servers.
    Memory,
    /// Latency under load.
    Load,
}

impl Need {
    /// All, in the order in which they are measured.
    pub const ALL: [Self; 9] = [
        Self::Same,
        Self::Cross,
        Self::Instructions,
        Self::SystemCalls,
        Self::Allocations,
        Self::Switches,
        Self::Throughput,
        Self::Memory,
        Self::Load,
    ];
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// In the line's unit.
    pub value: f64,
    /// What it is of, where it is the worst of several, or what stands beside it.
    pub note: String,
    /// Whether rounds of it lay too far apart: then it is not known.
    pub noisy: bool,
}

impl Found {
    pub(super) fn of(value: f64, note: impl Into<String>) -> Self {
        Self {
            value,
            note: note.into(),
            noisy: false,
        }
    }
}

/// A figure, or why there is none.
pub type Finding = Result<Found, String>;
