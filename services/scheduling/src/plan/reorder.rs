//! Another order of fixed priorities, in which all deadlines are met.

use super::{Plan, plan};
use crate::model::Model;
use crate::strategy::{Dispatching, Opa, Strategy};

/// Maximum number of streams of a plan for which another order is searched.
const MOST_STREAMS: usize = 1_000;

impl Plan {
    /// Returns the name of the strategy that meets all deadlines by fixed priorities in another order:
    /// `OPA`, if a plan of the model by it fits. `None` if this plan fits, does not dispatch by fixed
    /// priorities alone, has more than 1,000 streams, or no such order was found.
    #[must_use]
    pub fn other_order(&self, model: &Model) -> Option<&'static str> {
        let mut levels = self.analysed.levels.iter().flatten();
        let is_static = levels.all(|level| *level == Dispatching::Static);
        if self.fits()
            || !is_static
            || self.streams.len() > MOST_STREAMS
            || self.strategy == Opa.name()
        {
            return None;
        }
        let other = plan(model, &Opa).ok()?;
        other.fits().then(|| Opa.name())
    }
}
