//! Environment of references and values in an Any.

use super::Any;
use punctual_cdr::Environment;
use std::sync::Arc;

impl Any {
    /// Returns the same value in another environment, which its references and values use when they
    /// are extracted: that of an ORB, for an Any that was made locally instead of received.
    #[must_use]
    pub fn in_environment(mut self, environment: &dyn Environment) -> Self {
        if let Some(body) = &mut self.body {
            Arc::make_mut(body).environment = Some(environment.share());
        }
        self
    }
}
