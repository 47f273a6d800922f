//! Report of a run: figures as measured, compared with GIOP over TCP, with the raw-socket baseline
//! and with the paper.

use super::Matrix as Workload;
use super::contender::{Contender, Raw};
use super::operation::{FIGURE_16, Operation};
use super::pair::BASE;
use super::paper::{COMPARISONS, Comparison};
use crate::experiment::{
    Bound, Chart, Column, Experiment, Outcome, Report, Row, Sheet, Tabled, record_of,
};
use crate::placement::Placement;
use crate::statistics::Record;

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "cubit",
    "how much a messaging protocol and a link matter, for each type of data",
)
.reproduces("Schmidt et al. 2001, figure 16")
.frames(&["figure_16", "compared", "one_way", "lent", "paper"])
.conditions(
    "{rounds} rounds of {calls} calls of each; shared memory spins for \
        {spin_us} µs or not at all",
)
.tables(&[
    matrix("two-way call, median in µs", "", MEDIAN),
    matrix(
        "gain over iiop in per cent, and the paper's",
        "paper",
        Column::ratio("", "gain_percent").decimals(1).gain(),
    ),
    matrix("time ÷ raw TCP's", "", Column::ratio("", "times_raw_tcp")),
    matrix(
        "time ÷ raw Unix sockets'",
        "",
        Column::ratio("", "times_raw_unix"),
    ),
    matrix(
        "99th percentile of all calls in µs",
        "",
        Column::micros("", "p99").decimals(1),
    ),
    Tabled::listing(
        "compared",
        "the paper's comparisons, gain in per cent over all types, {cpus}",
        "{protocol} over {over}",
        &[
            Column::ratio("least", "least").gain(),
            Column::ratio("mean", "mean").gain(),
            Column::ratio("most", "most").gain(),
            Column::text("the paper", "paper").faint(),
        ],
    )
    .each(&["cpus"]),
    Tabled::listing(
        "one_way",
        "one-ways, until the server has counted them, {cpus}",
        "{contender}",
        &[
            Column::number("octets", "octets"),
            Column::number("requests/s", "rate").marked_by("noisy"),
            Column::percent("spread %", "spread"),
            Column::number("lost", "lost").rated(Bound::AtMost(0.0)),
            Column::number("of", "sent"),
        ],
    )
    .each(&["cpus"]),
    Tabled::matrix(
        "lent",
        "octets to the server, median in µs: from the caller's memory, \
        from a lent buffer, and with nothing lent, {cpus}",
        ("contender", "operation"),
        MEDIAN,
    )
    .each(&["cpus"]),
])
.sheet(Sheet::new(
    (1280, 520),
    1,
    &[Chart::bars(
        "figure_16",
        "Two-way calls by type of data, {cpus}: median, µs (less is better)",
        "operation",
        "median",
        (1000.0, "µs"),
    )
    .grouped_by("contender")
    .each(&["cpus"])],
))
.remarks(&[
    "The paper's figures are those of its text (§5.2), of gains in rate; the \
        heights of figure 16's bars are in an image only, and are not available. \
        Trust the gains and ratios, taken round by round, before the times.",
]);

const MEDIAN: Column = Column::micros("", "median").marked_by("noisy");

const fn matrix(title: &'static str, beside: &'static str, cell: Column) -> Tabled {
    Tabled::matrix("figure_16", title, ("contender", "operation"), cell)
        .each(&["cpus"])
        .beside(beside)
}

/// Returns the rows of one operation; times in nanoseconds.
pub(super) fn rows(
    cpus: Placement,
    operation: Operation,
    outcomes: &[Outcome<'_, Workload<'_>>],
) -> Vec<Row> {
    let find = |is: &dyn Fn(&Contender) -> bool| {
        record_of::<Workload<'_>>(outcomes, is).map(|(record, _)| record)
    };
    let (base, uiop) = (
        find(&Contender::is_base),
        find(&|one| one.protocol() == Some("uiop")),
    );
    let tcp = find(&|one| one.is(Raw::Tcp));
    let unix = find(&|one| one.is(Raw::Unix));
    let row = |(contender, (record, _)): &Outcome<'_, Workload<'_>>| {
        let times = |other: Option<&Record>| record.ratio_to(other?);
        let gain = |over: Option<&Record>| gain_percent(record, over?);
        let is_ours = contender.protocol().is_some();
        let row = Row::default()
            .with("cpus", cpus)
            .with("contender", contender.to_string())
            .with("protocol", contender.protocol())
            .with("operation", operation.to_string())
            .with("kind", operation.name())
            .with("units", operation.units())
            .with_figures(&record.figures()?)
            .with("gain_percent", gain(base).filter(|_| is_ours))
            .with("gain_over_uiop_percent", gain(uiop).filter(|_| is_ours))
            .with("times_raw_tcp", times(tcp))
            .with("times_raw_unix", times(unix))
            .with("noisy", record.is_noisy());
        Some(row)
    };
    outcomes.iter().filter_map(row).collect()
}

/// Returns the gain: how many per cent more calls are made in a given time, as the median of the
/// rounds.
fn gain_percent(record: &Record, over: &Record) -> Option<f64> {
    Some((over.ratio_to(record)? - 1.0) * 100.0)
}

/// Returns the rows of one-ways with this many bytes; none if only the base has them.
pub(super) fn one_ways(
    cpus: Placement,
    octets: u32,
    outcomes: &[Outcome<'_, Workload<'_>>],
) -> Vec<Row> {
    let row = |(contender, (_, flood)): &Outcome<'_, Workload<'_>>| {
        let row = Row::default()
            .with("cpus", cpus)
            .with("contender", contender.to_string())
            .with("octets", octets)
            .with("rate", flood.rates.rate()?)
            .with("spread", flood.rates.spread()?)
            .with("noisy", flood.rates.is_noisy())
            .with("sent", flood.sent)
            .with("lost", flood.lost);
        Some(row)
    };
    let rows: Vec<Row> = outcomes.iter().filter_map(row).collect();
    if rows.len() > 1 { rows } else { Vec::new() }
}

/// Adds the paper's comparisons, measured here, and its gains by type of data.
pub(super) fn add_paper(report: &mut Report) {
    for cpus in [Placement::Same, Placement::Cross, Placement::Unpinned] {
        let rows = report.frame("figure_16").iter();
        let here: Vec<&Row> = rows
            .filter(|row| row.is("cpus", &cpus.to_string()))
            .collect();
        let compared: Vec<Row> = COMPARISONS
            .iter()
            .filter_map(|paper| compared(cpus, paper, &here))
            .collect();
        report.add("compared", compared);
    }
    for paper in COMPARISONS.iter().filter(|paper| paper.over == BASE) {
        let cell = |operation: Operation| {
            Row::default()
                .with("contender", format!("the paper's {}", paper.protocol))
                .with("operation", operation.to_string())
                .with("gain_percent", paper.at(operation))
        };
        report.add("paper", FIGURE_16.map(cell));
    }
}

/// Returns one of the paper's comparisons as measured here over all operations, if both protocols
/// were measured.
#[allow(clippy::cast_precision_loss)]
fn compared(cpus: Placement, paper: &Comparison, rows: &[&Row]) -> Option<Row> {
    let gain = match paper.over {
        BASE => "gain_percent",
        _ => "gain_over_uiop_percent",
    };
    let own = rows.iter().filter(|row| row.is("protocol", paper.protocol));
    let gains: Vec<f64> = own.filter_map(|row| row.number(gain)).collect();
    Some(
        Row::default()
            .with("cpus", cpus)
            .with("protocol", paper.protocol)
            .with("over", paper.over)
            .with("least", gains.iter().copied().reduce(f64::min)?)
            .with("mean", gains.iter().sum::<f64>() / gains.len() as f64)
            .with("most", gains.iter().copied().reduce(f64::max)?)
            .with("paper", paper.words()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubit::Flood;
    use crate::cubit::contender::{known, protocols};

    /// Returns the rows of raw sockets, and of GIOP and GIOPlite over TCP and Unix sockets, with
    /// these times in each round.
    fn measured(operation: Operation, rounds: &[[u64; 6]]) -> Vec<Row> {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let protocols = protocols(&words(&["giop", "giop_lite"]), &words(&["iiop", "uiop"]));
        let (contenders, _) = known(&protocols, 0, &[]);
        let mut records = vec![(Record::default(), Flood::default()); 6];
        for round in rounds {
            for ((record, _), time) in records.iter_mut().zip(round) {
                record.add_round(&[*time; 3]);
            }
        }
        let outcomes: Vec<_> = contenders.iter().zip(&records).collect();
        rows(Placement::Same, operation, &outcomes)
    }

    fn near(row: &Row, name: &str, expected: f64) {
        let value = row.number(name).unwrap();
        assert!((value - expected).abs() < 0.1, "{name}: {value}");
    }

    #[test]
    fn gains_are_of_rates_over_giop_over_tcp_and_ratios_are_of_times() {
        let rows = measured(Operation::Void, &[[100, 50, 200, 160, 100, 80]; 2]);
        let names: Vec<String> = rows.iter().map(|row| row.text("contender")).collect();
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
        assert_eq!(rows[0].get("gain_percent"), None);
        assert_eq!(rows[0].get("protocol"), None);
        near(&rows[2], "gain_percent", 0.0);
        near(&rows[4], "gain_percent", 100.0);
        near(&rows[4], "times_raw_tcp", 1.0);
        near(&rows[4], "times_raw_unix", 2.0);
    }

    #[test]
    fn the_papers_comparisons_are_made_over_all_operations() {
        let void = measured(Operation::Void, &[[1, 1, 200, 160, 100, 80]; 2]);
        let long = measured(Operation::Long, &[[1, 1, 150, 100, 100, 100]; 2]);
        let mut report = Report::new(&EXPERIMENT, Row::default());
        report.add("figure_16", void);
        report.add("figure_16", long);
        add_paper(&mut report);
        let mut compared = report.frame("compared").iter();
        let uiop = compared.find(|row| row.is("protocol", "uiop")).unwrap();
        near(uiop, "least", 50.0);
        near(uiop, "mean", 75.0);
        near(uiop, "most", 100.0);
        let lite = compared.find(|row| row.is("over", "uiop")).unwrap();
        near(lite, "least", 0.0);
        near(lite, "most", 25.0);
        let text = report.to_string();
        assert!(text.contains("the paper's uiop") && text.contains("≈+50"));
    }

    #[test]
    fn figures_whose_rounds_lie_apart_are_marked() {
        let rows = measured(
            Operation::Long,
            &[
                [100; 6],
                [100, 100, 300, 100, 100, 100],
                [100, 100, 100, 100, 100, 100],
            ],
        );
        assert!(rows[2].flag("noisy") && !rows[3].flag("noisy"));
    }
}
