//! Gates: another service looks at each event before consumers get it.

use punctual::{Any, SystemException};

/// Gate of a channel.
pub trait Gate: Send + Sync {
    /// Takes an event of a supplier, and returns whether consumers get it. Runs on the supplier's thread, and may block.
    ///
    /// # Errors
    /// The exception that a supplier that pushes gets; then no consumer gets the event.
    fn pass(&self, event: &Any) -> Result<bool, SystemException>;
}
