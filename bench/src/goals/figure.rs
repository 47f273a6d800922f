//! Figures of the table's lines, and the measurements from which they come.

/// Measurement from which lines take their figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// Latency, both sides on one processor.
    Same,
    /// Latency, with a processor for each side.
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

/// Figure shown in a line of the table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundFigure {
    /// Value, in the line's unit.
    pub(crate) value: f64,
    /// Note on the figure: the case for which it is worst, or additional values.
    pub(crate) note: String,
    /// Set if the figure's rounds differ too much for it to be known.
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
