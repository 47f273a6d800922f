//! Protocols of an ORB, for the checks of policies.

/// Set of the protocols that an ORB knows.
pub(crate) trait KnownProtocols {
    /// Checks that there is a protocol of this name.
    ///
    /// # Errors
    /// The reason why the protocol cannot be used.
    fn check(&self, name: &str) -> Result<(), String>;
}
