//! Contenders of the measurement.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Way in which calls are made and replies are received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// Raw sockets; one thread writes and another reads.
    Floor,
    /// Synchronous calls by one thread.
    Smi,
    /// Synchronous calls by as many threads as there are processors.
    SmiCores,
    /// Synchronous calls by 7 threads, as in the paper.
    Smi7,
    /// Synchronous calls by 220 threads, as in the paper.
    Smi220,
    /// Asynchronous calls with reply handlers: one thread sends, another calls the handlers.
    Ami,
    /// Asynchronous calls with reply handlers, whose replies the sending thread reads and handles
    /// itself (`reply_handlers = "reactor"`).
    AmiReactor,
    /// Asynchronous calls with reply handlers, by a reference that buffers requests, up to 32 of
    /// which leave together.
    AmiBuffered,
    /// Asynchronous calls whose results the sending thread takes itself.
    Poller,
    /// Asynchronous calls, awaited as futures.
    Future,
    /// Asynchronous calls, awaited as futures by the thread that reads the replies
    /// (`reply_handlers = "reactor"`).
    FutureReactor,
    /// Deferred synchronous calls of the DII, sent and taken by one thread.
    DiiDeferred,
    /// omniORB: synchronous calls by one thread.
    #[value(name = "omniorb")]
    #[serde(rename = "omniorb")]
    OmniOrb,
    /// omniORB: asynchronous calls with reply handlers, each sent and received by a thread of its own.
    #[value(name = "omniorb-ami")]
    #[serde(rename = "omniorb-ami")]
    OmniOrbAmi,
}

impl Contender {
    /// Returns the number of threads that make synchronous calls; `None` for the other contenders.
    pub(super) fn threads(self) -> Option<u32> {
        match self {
            Self::Smi => Some(1),
            Self::SmiCores => {
                let cores = punctual_sys::processor::allowed().map_or(1, |all| all.len());
                Some(u32::try_from(cores).unwrap_or(1))
            }
            Self::Smi7 => Some(7),
            Self::Smi220 => Some(220),
            _ => None,
        }
    }

    /// Returns whether the contender's latency is measured; with several threads, calls would wait
    /// for one another.
    pub(super) fn has_latency(self) -> bool {
        !matches!(
            self,
            Self::SmiCores | Self::Smi7 | Self::Smi220 | Self::AmiBuffered
        )
    }

    /// Returns whether the sending thread reads the replies.
    pub(super) fn reads_itself(self) -> bool {
        matches!(self, Self::AmiReactor | Self::FutureReactor)
    }

    pub(super) fn is_omniorb(self) -> bool {
        matches!(self, Self::OmniOrb | Self::OmniOrbAmi)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.to_possible_value();
        f.write_str(name.as_ref().map_or("", |name| name.get_name()))
    }
}
