//! Benchmarks: Punctual, a raw socket and other ORBs, interleaved in one run.
//!
//! A [`contender`] is a server program and a client program, which speak [`protocol`] with the
//! harness over their standard input and output, so that both live through the whole run and only
//! calls are measured. A [`case`] is an operation of the papers' IDL with an amount of data. An
//! [`experiment`] is declared as data, and one runner starts, pins and interleaves its contenders,
//! collects their figures, and tables and draws them. [`latency`] runs batches of each case by each
//! contender in turn, [`throughput`] many calls at once, [`load`] some beside thousands of others, [`scale`] how strategies keep up with more clients and processors;
//! [`memory`] measures idle servers, [`counting`] counts with instruments rather than timing, and
//! [`budgets`] compares these counts with those kept in the source tree. [`timeprobes`] shows the
//! time of each stage of a call, [`demux`] the cost of finding an object and its operation, [`rt`]
//! whether priorities hold, `events` the real-time event channel (with the feature of this name), [`cubit`] the time of each type of data by every pair of a messaging
//! protocol and a link, [`oneway`] the cost of waiting for one-ways, and the gain of buffering
//! them, [`goals`] the goals of the data path in one table, and [`papers`] the claims of the papers in one report. [`peer`] holds the programs themselves,
//! except those in other languages under `peers/`, and that of an [`outsider`] under `outsider/`.
//!
//! `punctual-bench` is these [`command`]s, and `punctual bench` hands over to it. Adding a link, a
//! messaging protocol or an ORB is one more entry in `contender`'s table.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod ami;
pub mod anys;
mod attempts;
pub mod budgets;
pub mod case;
pub mod child;
pub mod command;
pub mod contender;
pub mod counting;
pub mod cubit;
pub mod data;
pub mod demux;
mod drawing;
#[cfg(feature = "events")]
pub mod events;
pub mod experiment;
pub mod giop;
pub mod goals;
pub mod latency;
pub mod load;
pub mod machine;
pub mod memory;
pub mod omniorb;
pub mod oneway;
pub mod output;
pub mod outsider;
pub mod papers;
#[cfg(test)]
mod parsed;
pub mod peer;
pub mod placement;
pub mod process;
mod progress;
pub mod protocol;
pub mod rt;
pub mod running;
pub mod scale;
pub mod statistics;
pub mod stubs;
pub mod table;
pub mod throughput;
pub mod timeprobes;

/// Reason why a benchmark cannot run: a message for people.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Result of an operation that may fail with a message for people.
pub type Result<T> = std::result::Result<T, Error>;
