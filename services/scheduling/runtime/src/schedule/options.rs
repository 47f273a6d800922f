//! Options of schedules.

/// Options of a [`Schedule`](crate::Schedule).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleOptions {
    /// Name of the strategy; by default that of the model, else RMS.
    pub strategy: Option<String>,
    /// Maximum number of priorities of each processor; by default as many as the plan has.
    pub lanes: Option<u32>,
    /// Treatment of a plan that does not fit.
    pub unproved: Unproved,
}

/// Treatment of a plan of which an operation may miss its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unproved {
    /// The program does not start.
    #[default]
    Refuse,
    /// The program starts: what runs together is decided by
    /// [`AdmissionControl`](crate::AdmissionControl), or by the program.
    Admit,
}
