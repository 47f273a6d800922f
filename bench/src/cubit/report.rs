//! Figures of a run: as measured, compared with the base, with the floors and with the paper.

use super::contender::{Contender, LeftOut, Raw};
use super::contest::{Flood, Throughput};
use super::operation::Operation;
use super::paper::{COMPARISONS, Comparison};
use crate::machine::Machine;
use crate::placement::Placement;
use crate::statistics::{Figures, Record, paired_ratio};
use serde::{Serialize, Serializer};

/// Spread of the rounds' medians above which a figure counts as unknown.
pub(super) const NOISY: f64 = 0.10;

/// Results of one run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub(super) machine: Machine,
    pub(super) rounds: u32,
    pub(super) calls: u32,
    /// Microseconds for which spinning waiters spin.
    pub(super) spin_us: u64,
    /// Figures of the paper's text; the heights of its bars are not available.
    pub(super) paper: [Comparison; 3],
    /// Two-way calls; times in nanoseconds.
    pub(super) figure_16: Vec<Row>,
    /// The paper's comparisons, measured here.
    pub(super) compared: Vec<Compared>,
    /// Protocols that have one-ways only, and GIOP over TCP.
    pub(super) one_way: Vec<OneWay>,
    /// Large sequences; times in nanoseconds.
    pub(super) lent: Vec<Row>,
    /// Pairs without two-way calls.
    pub(super) one_way_only: Vec<String>,
    /// Pairs and placements that the ORB or the machine does not have.
    pub(super) left_out: Vec<LeftOut>,
    /// Contenders that failed.
    pub(super) failed: Vec<LeftOut>,
}

/// One contender in one operation.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// Processors of client and server.
    pub(super) cpus: Placement,
    pub(super) contender: String,
    /// ORB's protocol; `None` for raw sockets.
    pub(super) protocol: Option<String>,
    pub(super) operation: Operation,
    #[serde(flatten)]
    pub(super) figures: Figures,
    /// Gain over GIOP over TCP: how many per cent more calls in the same time.
    pub(super) gain_percent: Option<f64>,
    /// Ratio of its time to that of a raw TCP socket.
    pub(super) times_raw_tcp: Option<f64>,
    /// Ratio of its time to that of a raw Unix socket.
    pub(super) times_raw_unix: Option<f64>,
    /// Set if its rounds lie too far apart to be trusted.
    pub(super) noisy: bool,
}

/// One of the paper's comparisons, over all operations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Compared {
    pub(super) cpus: Placement,
    pub(super) least: f64,
    pub(super) mean: f64,
    pub(super) most: f64,
    pub(super) paper: Comparison,
}

/// One contender's one-ways.
#[derive(Clone, Debug, Serialize)]
pub(super) struct OneWay {
    pub(super) cpus: Placement,
    pub(super) contender: String,
    /// Bytes that each carries.
    pub(super) octets: u32,
    #[serde(flatten)]
    pub(super) throughput: Throughput,
}

impl Serialize for Operation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns the rows of one operation.
pub(super) fn rows(
    cpus: Placement,
    operation: Operation,
    results: &[(Contender, Record)],
) -> Vec<Row> {
    let record_of = |is: &dyn Fn(&Contender) -> bool| {
        let found = results.iter().find(|(contender, _)| is(contender));
        found.map(|(_, record)| record)
    };
    let base = record_of(&Contender::is_base);
    let tcp = record_of(&|one| one.is(Raw::Tcp));
    let unix = record_of(&|one| one.is(Raw::Unix));
    let row = |(contender, record): &(Contender, Record)| {
        let figures = record.figures()?;
        let times = |other: Option<&Record>| paired_ratio(record.medians(), other?.medians());
        let gain = base.and_then(|base| gain_percent(record, base));
        Some(Row {
            cpus,
            contender: contender.name.clone(),
            protocol: contender.protocol().map(str::to_owned),
            operation,
            figures,
            gain_percent: gain.filter(|_| contender.protocol().is_some()),
            times_raw_tcp: times(tcp),
            times_raw_unix: times(unix),
            noisy: figures.spread > NOISY,
        })
    };
    results.iter().filter_map(row).collect()
}

/// Returns how many per cent more calls are made in the same time: the median of the rounds' gains.
fn gain_percent(record: &Record, over: &Record) -> Option<f64> {
    let ratio = paired_ratio(over.medians(), record.medians())?;
    Some((ratio - 1.0) * 100.0)
}

/// Returns the paper's comparisons, where both sides of them were measured.
pub(super) fn compared(cpus: Placement, results: &[Vec<(Contender, Record)>]) -> Vec<Compared> {
    let comparison = |paper: &Comparison| {
        let gains: Vec<f64> = results
            .iter()
            .filter_map(|results| {
                gain_percent(
                    of_protocol(results, paper.protocol)?,
                    of_protocol(results, paper.over)?,
                )
            })
            .collect();
        let least = gains.iter().copied().reduce(f64::min)?;
        let most = gains.iter().copied().reduce(f64::max)?;
        Some(Compared {
            cpus,
            least,
            mean: mean(&gains),
            most,
            paper: *paper,
        })
    };
    COMPARISONS.iter().filter_map(comparison).collect()
}

#[allow(clippy::cast_precision_loss)]
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn of_protocol<'r>(results: &'r [(Contender, Record)], protocol: &str) -> Option<&'r Record> {
    let is = |contender: &Contender| contender.protocol() == Some(protocol);
    let found = results.iter().find(|(contender, _)| is(contender));
    found.map(|(_, record)| record)
}

/// Returns the rows of one-ways with this many bytes.
pub(super) fn one_ways(cpus: Placement, octets: u32, floods: &[(Contender, Flood)]) -> Vec<OneWay> {
    let row = |(contender, flood): &(Contender, Flood)| {
        Some(OneWay {
            cpus,
            contender: contender.name.clone(),
            octets,
            throughput: flood.throughput()?,
        })
    };
    floods.iter().filter_map(row).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cubit::contender::{known, protocols};

    /// Returns results of raw sockets, and of GIOP and GIOPlite over TCP and Unix sockets.
    pub(in super::super) fn results(medians: [u64; 6]) -> Vec<(Contender, Record)> {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let protocols = protocols(&words(&["giop", "giop_lite"]), &words(&["iiop", "uiop"]));
        let (contenders, _) = known(&protocols, 0, &[]);
        let record = |median: u64| {
            let mut record = Record::default();
            record.add_round(&[median; 3]);
            record.add_round(&[median; 3]);
            record
        };
        contenders.into_iter().zip(medians.map(record)).collect()
    }

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 0.1)
    }

    #[test]
    fn gains_are_of_rates_over_giop_over_tcp_and_ratios_are_of_times() {
        let results = results([100, 50, 200, 160, 100, 80]);
        let rows = rows(Placement::Same, Operation::Void, &results);
        let names: Vec<&str> = rows.iter().map(|row| row.contender.as_str()).collect();
        assert_eq!(
            names,
            [
                "raw tcp",
                "raw unix",
                "iiop",
                "giop_lite+iiop",
                "uiop",
                "giop_lite+uiop"
            ]
        );
        assert_eq!((rows[0].gain_percent, &rows[0].protocol), (None, &None));
        assert!(near(rows[2].gain_percent, 0.0) && near(rows[4].gain_percent, 100.0));
        assert!(near(rows[4].times_raw_tcp, 1.0) && near(rows[4].times_raw_unix, 2.0));
    }

    #[test]
    fn the_papers_comparisons_are_made_over_all_operations() {
        let void = results([1, 1, 200, 160, 100, 80]);
        let long = results([1, 1, 150, 100, 100, 100]);
        let compared = compared(Placement::Cross, &[void, long]);
        let of = |protocol: &str| compared.iter().find(|one| one.paper.protocol == protocol);
        let uiop = of("uiop").unwrap();
        assert!(near(Some(uiop.least), 50.0) && near(Some(uiop.most), 100.0));
        assert!(near(Some(uiop.mean), 75.0));
        let lite = of("giop_lite+uiop").unwrap();
        assert!(near(Some(lite.least), 0.0) && near(Some(lite.most), 25.0));
    }

    #[test]
    fn figures_whose_rounds_lie_apart_are_marked() {
        let mut results = results([100; 6]);
        results[2].1.add_round(&[300; 3]);
        let rows = rows(Placement::Same, Operation::Long, &results);
        assert!(rows[2].noisy && !rows[3].noisy);
    }
}
