//! Processors of a stage's server and of its clients.

use super::server::Link;

/// Processors and link of a stage.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) link: Link,
    pub(super) of_server: Vec<usize>,
    pub(super) of_clients: Vec<usize>,
}

impl Place {
    fn are_shared(&self) -> bool {
        self.of_server == self.of_clients
    }

    /// Returns the number of processors that both sides have together.
    pub(super) fn processors(&self) -> usize {
        match self.are_shared() {
            true => self.of_server.len(),
            false => self.of_server.len() + self.of_clients.len(),
        }
    }

    /// Returns whose the processors are, in words.
    pub(super) fn named(&self) -> String {
        match self.are_shared() {
            true => format!("{} processor(s), shared", self.of_server.len()),
            false => format!(
                "{} processor(s) of the server, {} of the clients",
                self.of_server.len(),
                self.of_clients.len()
            ),
        }
    }
}
