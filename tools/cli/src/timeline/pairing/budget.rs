//! Number of steps that comparing files may take.

use super::super::file::File;

/// Steps for each event of both files, and steps that there are beside that.
const STEPS_OF_EVENT: u64 = 256;
const STEPS: u64 = 1 << 22;

/// Number of comparisons that are left.
pub(super) struct Budget(u64);

impl Budget {
    pub(super) fn of(client: &File, server: &File) -> Self {
        let events = client.events.len().saturating_add(server.events.len());
        Self((events as u64).saturating_mul(STEPS_OF_EVENT) + STEPS)
    }

    /// Takes steps; `false` if none are left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.0 = self.0.saturating_sub((steps as u64).max(1));
        !self.is_spent()
    }

    /// Takes all steps.
    pub(super) fn spend_all(&mut self) {
        self.0 = 0;
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}
