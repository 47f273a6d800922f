//! Who is compared.

use clap::ValueEnum;
use serde::Serialize;
use std::fmt;

/// A way to make calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// Raw sockets, of which one thread writes and another reads.
    Floor,
    /// Synchronous calls by one thread.
    Smi,
    /// By as many threads as there are processors.
    SmiCores,
    /// By 7 threads, as in the paper.
    Smi7,
    /// By 220 threads, as in the paper.
    Smi220,
    /// Asynchronous calls with reply handlers: one thread sends, another calls the handlers.
    Ami,
    /// The same by a reference that buffers requests, up to 32 of which leave together.
    AmiBuffered,
    /// Asynchronous calls whose results the sending thread takes itself.
    Poller,
    /// Calls that are awaited.
    Future,
    /// Deferred synchronous calls of the DII, sent and taken by one thread.
    DiiDeferred,
}

impl Contender {
    /// Threads that make synchronous calls; `None` for those who do not.
    pub(super) fn threads(self) -> Option<u32> {
        match self {
            Self::Smi => Some(1),
            Self::SmiCores => {
                let cores = punctual_sys::processor::allowed().map_or(1, |all| all.len());
                Some(u32::try_from(cores).unwrap_or(1))
            }
            Self::Smi7 => Some(7),
            Self::Smi220 => Some(220),
            Self::Floor
            | Self::Ami
            | Self::AmiBuffered
            | Self::Poller
            | Self::Future
            | Self::DiiDeferred => None,
        }
    }

    /// Whether its latency is taken: of several threads each would wait for others.
    pub(super) fn has_latency(self) -> bool {
        matches!(
            self,
            Self::Floor | Self::Smi | Self::Ami | Self::Poller | Self::Future | Self::DiiDeferred
        )
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.to_possible_value();
        f.write_str(name.as_ref().map_or("", |name| name.get_name()))
    }
}
