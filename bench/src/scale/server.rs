//! Servers that are compared: links, concurrency strategies, and the contenders that have them.

use crate::contender::{Contender, RAW_TCP, RAW_UNIX};
use crate::omniorb;
use clap::ValueEnum;
use serde::Serialize;
use std::fmt;

/// Link between server and clients. Shared memory has threads for connections only, so that there is nothing
/// to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Link {
    /// TCP.
    Iiop,
    /// Unix sockets.
    Uiop,
}

/// Concurrency strategy of the server, by its name in configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub(super) enum Strategy {
    /// A thread for each connection.
    ThreadPerConnection,
    /// A pool of threads: Leader/Followers.
    LeaderFollowers,
    /// One thread for all connections.
    Reactive,
}

impl Link {
    /// Returns the contender whose server has a strategy on this link.
    pub(super) const fn served(self, strategy: Strategy) -> &'static str {
        match (self, strategy) {
            (Self::Iiop, Strategy::ThreadPerConnection) => "punctual",
            (Self::Iiop, Strategy::LeaderFollowers) => "punctual-lf",
            (Self::Iiop, Strategy::Reactive) => "punctual-reactive",
            (Self::Uiop, Strategy::ThreadPerConnection) => "punctual-uiop",
            (Self::Uiop, Strategy::LeaderFollowers) => "punctual-uiop-lf",
            (Self::Uiop, Strategy::Reactive) => "punctual-uiop-reactive",
        }
    }

    /// Returns omniORB's contender on this link, and the floor.
    pub(super) const fn others(self) -> [&'static str; 2] {
        match self {
            Self::Iiop => [omniorb::NAME, RAW_TCP],
            Self::Uiop => ["omniorb-unix", RAW_UNIX],
        }
    }
}

/// Server that takes part: a contender, and its name in tables.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) contender: Contender,
    pub(super) strategy: String,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.contender.fmt(f)
    }
}

impl Server {
    pub(super) fn is_floor(&self) -> bool {
        self.contender.floor == self.contender.name
    }

    /// Returns whether the server is this ORB's.
    pub(super) fn is_ours(&self) -> bool {
        !self.is_floor() && !self.is_omniorb()
    }

    pub(super) fn is_omniorb(&self) -> bool {
        self.contender.name.starts_with(omniorb::NAME)
    }

    pub(super) fn has_threads(&self) -> bool {
        self.is(Strategy::ThreadPerConnection)
    }

    fn is(&self, strategy: Strategy) -> bool {
        strategy
            .to_possible_value()
            .is_some_and(|value| value.get_name() == self.strategy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Selection;

    #[test]
    fn every_strategy_on_every_link_is_a_contender() {
        for link in Link::value_variants() {
            for strategy in Strategy::value_variants() {
                let name = link.served(*strategy);
                let selected = Selection::of(&[name]).unwrap();
                assert_eq!(selected, Selection::of(&[link.others()[1], name]).unwrap());
            }
        }
    }
}
