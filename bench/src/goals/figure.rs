//! Sources of a line's figure: a measurement, and a figure in it.

/// Measurement from which lines take their figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// Latency, both sides on one processor.
    Same,
    /// Latency, a processor each.
    Cross,
    /// Instruction counts of calls.
    Instructions,
    /// Counts of system calls.
    SystemCalls,
    /// Counts of allocations.
    Allocations,
    /// Counts of context switches.
    Switches,
    /// Throughput, in calls per second.
    Throughput,
    /// Memory of idle servers.
    Memory,
    /// Latency under load.
    Load,
}

impl Need {
    /// All measurements, in the order in which they are made.
    pub(crate) const ALL: [Self; 9] = [
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

/// Figure of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundFigure {
    /// Value, in the line's unit.
    pub(crate) value: f64,
    /// Note on the figure: the case, if it is the worst of several, or values beside it.
    pub(crate) note: String,
    /// Set if its rounds lie too far apart for the figure to be known.
    pub(crate) noisy: bool,
}

impl FoundFigure {
    pub(super) fn of(value: f64, note: impl Into<String>) -> Self {
        Self {
            value,
            note: note.into(),
            noisy: false,
        }
    }
}

/// Figure, or the reason why there is none.
pub(crate) type Finding = Result<FoundFigure, String>;
