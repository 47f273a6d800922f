//! Calls of objects in this process without a request: `collocation_scope`.

/// ORBs whose objects count as objects of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CollocationScope {
    /// Every ORB of the process that has this scope, too.
    #[default]
    Process,
    /// The ORB itself.
    Orb,
}
