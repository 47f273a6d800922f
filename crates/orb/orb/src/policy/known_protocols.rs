//! What policies ask of an ORB's protocols.

/// Says which protocols an ORB has.
pub(crate) trait KnownProtocols {
    /// # Errors
    /// Why there is no protocol of this name.
    fn check(&self, name: &str) -> Result<(), String>;
}
