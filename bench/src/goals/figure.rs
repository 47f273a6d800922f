//! Figures of the goals table (`punctual-bench goals`), one for each line, and the measurements from
//! which they are computed.

/// Measurement from which the goals table takes figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// Call latency with client and server on one processor.
    Same,
    /// Call latency with client and server on a processor each.
    Cross,
    /// Numbers of instructions per call.
    Instructions,
    /// Numbers of system calls per call.
    SystemCalls,
    /// Numbers of memory allocations per call.
    Allocations,
    /// Numbers of context switches per call.
    Switches,
    /// Call throughput, in calls per second.
    Throughput,
    /// Memory that idle servers use.
    Memory,
    /// Call latency of a server under load.
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

/// Figure shown in a line of the goals table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundFigure {
    /// Value of the figure, in the unit of the table line.
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

/// Figure of a goal, or the reason why it is missing.
pub(crate) type Finding = Result<FoundFigure, String>;
