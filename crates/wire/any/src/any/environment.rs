//! Where references and values of an Any come alive.

use super::Any;
use punctual_cdr::Environment;
use std::sync::Arc;

impl Any {
    /// The same value, whose references and values come alive in this environment when they are taken out:
    /// those of the ORB, for an Any that was not received but made here.
    #[must_use]
    pub fn in_environment(mut self, environment: &dyn Environment) -> Self {
        if let Some(body) = &mut self.body {
            Arc::make_mut(body).environment = Some(environment.share());
        }
        self
    }
}
