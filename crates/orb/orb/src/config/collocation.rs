//! Scope of calls without a request to objects of this process: `collocation_scope`.

/// ORBs whose objects count as objects of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CollocationScope {
    /// All ORBs of the process that have the scope `Process`.
    #[default]
    Process,
    /// Only objects of the ORB that makes the call.
    Orb,
}
