//! Protocols of an ORB, as policies need them.

/// Knowledge of an ORB's protocols.
pub(crate) trait KnownProtocols {
    /// Checks that there is a protocol of this name.
    ///
    /// # Errors
    /// The reason why there is none.
    fn check(&self, name: &str) -> Result<(), String>;
}
