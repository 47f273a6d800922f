//! Kinds of throughput measurements: the client's calls, its number of threads, and the placement
//! of both sides.

use crate::case::{Case, Operation};
use crate::contender::Contender;
use crate::experiment::Row;
use crate::placement::{Placement, Processors};
use crate::protocol::References;
use crate::running::Launch;
use clap::ValueEnum;
use serde::Serialize;
use std::fmt;

/// Case that one-ways use: the operation `ping`, which has no arguments.
pub(super) const PING: Case = Case::plain(Operation::Ping);

/// Calls of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// One-ways of one thread.
    OneWay,
    /// Buffered one-ways of one thread, sent together. Only Punctual has them.
    Buffered,
    /// Two-way void calls by several threads.
    TwoWay,
}

/// Kind of throughput measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// Calls of the client.
    pub load: Load,
    /// Number of threads.
    pub threads: u32,
    /// References of the threads; `None` for one-ways, which one thread sends.
    pub references: Option<References>,
    /// Processors of client and server.
    pub placement: Placement,
}

impl Kind {
    /// Returns the kind that measures one-ways sent by one thread.
    #[must_use]
    pub const fn one_way(placement: Placement) -> Self {
        Self {
            load: Load::OneWay,
            threads: 1,
            references: None,
            placement,
        }
    }

    /// Buffered one-ways, with client and server on different processors: on a single processor the
    /// reader of the buffer would wait for its writer.
    pub const BUFFERED: Self = Self {
        load: Load::Buffered,
        ..Self::one_way(Placement::Cross)
    };

    /// Returns the kind that measures two-way calls of several threads.
    #[must_use]
    pub const fn two_way(threads: u32, references: References, placement: Placement) -> Self {
        Self {
            load: Load::TwoWay,
            threads,
            references: Some(references),
            placement,
        }
    }

    /// Returns the settings with which the contender's processes are started.
    pub(super) fn launch(self, processors: Option<Processors>) -> Launch {
        let buffered = self.load == Load::Buffered;
        Launch {
            processors,
            client_options: buffered.then(|| "--buffered".into()).into_iter().collect(),
            ..Launch::default()
        }
    }

    /// Adds the kind's values to a row.
    pub(crate) fn on(self, row: Row) -> Row {
        row.with("load", self.load)
            .with("threads", self.threads)
            .with("references", self.references)
            .with("placement", self.placement)
    }

    /// Returns whether a contender can take part. Contenders that spin are excluded, as they keep
    /// other threads from running, and so are contenders that cannot buffer, if one-ways are
    /// buffered.
    pub(super) fn suits(self, contender: &Contender) -> bool {
        !contender.spins && (self.load != Load::Buffered || contender.buffers())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = self.load.to_possible_value();
        f.write_str(load.as_ref().map_or("", |load| load.get_name()))?;
        match self.references {
            None => Ok(()),
            Some(_) => write!(f, ", {} thread(s)", self.threads),
        }
    }
}

/// Returns every combination of the given loads, thread counts, references and placements, in
/// display order.
pub(super) fn combined(
    loads: &[Load],
    threads: &[u32],
    references: &[References],
    placements: &[Placement],
) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for load in loads {
        match load {
            Load::OneWay => kinds.extend(placements.iter().copied().map(Kind::one_way)),
            Load::Buffered if placements.contains(&Placement::Cross) => kinds.push(Kind::BUFFERED),
            Load::Buffered => {}
            Load::TwoWay => {
                for &references in references {
                    for &placement in placements {
                        let kind = |&threads| Kind::two_way(threads, references, placement);
                        kinds.extend(threads.iter().map(kind));
                    }
                }
            }
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_punctual_buffers_and_nobody_spins() {
        let tcp = Contender::imagined("raw-tcp", "raw-tcp");
        let ours = Contender::imagined("punctual-uiop", "raw-unix");
        assert!(Kind::one_way(Placement::Cross).suits(&tcp) && !Kind::BUFFERED.suits(&tcp));
        assert!(Kind::BUFFERED.suits(&ours));
        let spinning = Contender {
            spins: true,
            ..ours
        };
        assert!(!Kind::BUFFERED.suits(&spinning));
        assert!(!Kind::one_way(Placement::Unpinned).suits(&spinning));
    }

    #[test]
    fn two_ways_run_with_each_number_of_threads_references_and_placement() {
        let all = combined(
            Load::value_variants(),
            &[1, 2, 4, 8, 32],
            References::value_variants(),
            Placement::value_variants(),
        );
        assert_eq!(all.len(), 3 + 1 + 5 * 2 * 3);
        let buffered = combined(&[Load::Buffered], &[1], &[], &[Placement::Same]);
        assert!(buffered.is_empty());
    }
}
