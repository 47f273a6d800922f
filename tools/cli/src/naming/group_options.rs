//! How `punctual naming serve` sees to the members of groups.

use crate::time::with_unit;
use punctual_naming::{Limits, ServeOptions};
use std::time::Duration;

/// Groups of objects.
#[derive(Debug, clap::Args)]
pub(super) struct GroupOptions {
    /// How often the members of groups are asked whether they exist, by `_non_existent`: that connects wherever their
    /// references say. One that does not answer twice in a row is passed over. 0 is never, and so is --no-federation.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time_or_never)]
    group_check: Duration,
    /// How long a member is dead before it is removed; 0 is never.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time_or_never)]
    group_remove: Duration,
    /// How many members a group may have.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().members)]
    pub(super) most_members: usize,
}

impl GroupOptions {
    /// The same as the service takes it.
    pub(super) fn set(&self, options: &mut ServeOptions) {
        let if_any = |time: Duration| (!time.is_zero()).then_some(time);
        options.group_check = if_any(self.group_check);
        options.group_remove = if_any(self.group_remove);
    }
}

fn time_or_never(text: &str) -> Result<Duration, String> {
    match text.trim() {
        "0" | "0s" => Ok(Duration::ZERO),
        text => with_unit(text),
    }
}
