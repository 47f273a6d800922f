//! Figures of the paper's two tables as measured here, beside those that the paper prints of TAO,
//! and the goals.

use super::{Calls, Contender};
use crate::experiment::{
    Bound, Chart, Column, Experiment, GOALS, Goal, Outcome, Report, Row, Sheet, Tabled, record_of,
};
use crate::placement::Placement;
use crate::statistics::{is_noisy, paired_ratio};

pub(crate) static EXPERIMENT: Experiment = Experiment::new(
    "ami",
    "what asynchronous calls cost and gain beside synchronous ones",
)
.reproduces("Arulanthu et al. 2000, tables 1 and 2")
.frames(&["latency", "throughput", "goals"])
.conditions(
    "{rounds} rounds of {calls} calls one after the other, and of {many} at \
        once",
)
.tables(&[
    Tabled::listing(
        "latency",
        "table 1: latency in µs, {placement}",
        "{contender}",
        &[
            Column::micros("min", "min").decimals(1),
            Column::micros("avg", "average").decimals(1),
            Column::micros("max", "max").decimals(1),
            Column::percent("jitter %", "jitter"),
            Column::micros("median", "median").decimals(1),
            Column::ratio("avg × smi", "beside_smi")
                .decimals(3)
                .marked_by("noisy"),
        ],
    )
    .each(&["placement"])
    .beside("paper_latency"),
    Tabled::listing(
        "throughput",
        "table 2: calls a second, {placement}",
        "{contender}",
        &[
            Column::number("calls/s", "rate").marked_by("noisy"),
            Column::spread(),
            Column::ratio("× floor", "beside_floor"),
            Column::ratio("× best smi", "beside_best_smi"),
        ],
    )
    .each(&["placement"])
    .beside("paper_throughput"),
    GOALS,
])
.sheet(Sheet::new(
    (760, 380),
    2,
    &[
        Chart::bars(
            "latency",
            "Average latency, {placement}: µs (less is better)",
            "contender",
            "average",
            (1000.0, "µs"),
        )
        .each(&["placement"]),
        Chart::bars(
            "throughput",
            "Throughput, {placement}: 1,000 calls a second",
            "contender",
            "rate",
            (1000.0, "1,000/s"),
        )
        .each(&["placement"]),
    ],
));

/// Figures of the paper's table 1: the least, mean and longest time in microseconds, and the jitter
/// in per cent. Its machines: two of four processors at 400 MHz, and 100 Mbit Ethernet between them.
const PAPER_LATENCY: [(&str, [f64; 4]); 3] = [
    ("TAO SMI", [455.0, 497.0, 684.0, 2.7]),
    ("TAO AMI", [447.0, 479.0, 1859.0, 3.0]),
    ("TAO DII deferred", [499.0, 573.0, 2652.0, 9.6]),
];
/// Figures of the paper's table 2, in calls a second.
const PAPER_THROUGHPUT: [(&str, f64); 4] = [
    ("TAO SMI, 220 threads", 1914.0),
    ("TAO SMI, 7 threads", 7080.0),
    ("TAO AMI", 8524.0),
    ("TAO DII deferred", 3816.0),
];

/// Returns the rows of the latency table (table 1 of the paper), in nanoseconds.
pub(super) fn latencies(at: Placement, outcomes: &[Outcome<'_, Calls<'_>>]) -> Vec<Row> {
    let smi = record_of::<Calls<'_>>(outcomes, |who| *who == Contender::Smi);
    let smi = smi.map(|(latencies, _)| latencies.means());
    let row = |(contender, (latencies, _)): &Outcome<'_, Calls<'_>>| {
        let figures = latencies.figures()?;
        let (average, deviation) = (
            latencies.moments().mean()?,
            latencies.moments().deviation()?,
        );
        let means = latencies.means();
        let row = Row::default()
            .with("placement", at)
            .with("contender", contender)
            .with("min", latencies.least())
            .with("average", average)
            .with("max", figures.max)
            .with("jitter", deviation / average)
            .with("median", figures.p50)
            .with("beside_smi", smi.and_then(|smi| paired_ratio(means, smi)))
            .with("noisy", is_noisy(means) || smi.is_some_and(is_noisy));
        Some(row)
    };
    outcomes.iter().filter_map(row).collect()
}

/// Returns the rows of the throughput table (table 2 of the paper).
pub(super) fn throughputs(at: Placement, outcomes: &[Outcome<'_, Calls<'_>>]) -> Vec<Row> {
    let floor = record_of::<Calls<'_>>(outcomes, |who| *who == Contender::Floor);
    let synchronous = outcomes.iter().filter(|(who, _)| who.threads().is_some());
    let best = synchronous
        .map(|(_, (_, rates))| rates)
        .max_by(|one, other| {
            let (one, other) = (one.rate(), other.rate());
            one.unwrap_or_default()
                .total_cmp(&other.unwrap_or_default())
        });
    let row = |(contender, (_, rates)): &Outcome<'_, Calls<'_>>| {
        let row = Row::default()
            .with("placement", at)
            .with("contender", contender)
            .with("rate", rates.rate()?)
            .with("spread", rates.spread()?)
            .with("noisy", rates.is_noisy())
            .with(
                "beside_floor",
                floor.and_then(|(_, floor)| rates.ratio_to(floor)),
            )
            .with(
                "beside_best_smi",
                best.and_then(|best| rates.ratio_to(best)),
            );
        Some(row)
    };
    outcomes.iter().filter_map(row).collect()
}

/// Compares the figures of one placement with the goals, and adds the verdicts to the report.
pub(super) fn judge(at: Placement, report: &mut Report) {
    let find = |frame: &str, who: Contender| {
        let mut rows = report.frame(frame).iter();
        let here = |row: &&Row| {
            row.is("placement", &at.to_string()) && row.is("contender", &who.to_string())
        };
        rows.find(here).cloned().unwrap_or_default()
    };
    let rate = |who| find("throughput", who);
    let (ami, cores) = (rate(Contender::Ami), rate(Contender::SmiCores));
    let (floor, buffered) = (rate(Contender::Floor), rate(Contender::AmiBuffered));
    let noisy = |one: &Row, other: &Row| one.flag("noisy") || other.flag("noisy");
    let beside_cores = ami.number("rate").zip(cores.number("rate"));
    let beside_smi = |what, who, most| {
        let row = find("latency", who);
        Goal {
            what,
            bound: Bound::AtMost(most),
            reached: row.number("beside_smi"),
            noisy: row.flag("noisy"),
        }
    };
    let goals = [
        Goal {
            what: "AMI beside synchronous calls of as many threads as processors",
            bound: Bound::AtLeast(2.0),
            reached: beside_cores.map(|(ami, cores)| ami / cores),
            noisy: noisy(&ami, &cores),
        },
        Goal {
            what: "AMI beside the floor",
            bound: Bound::AtLeast(0.8),
            reached: ami.number("beside_floor"),
            noisy: noisy(&ami, &floor),
        },
        Goal {
            what: "AMI with coalesced writes beside the floor",
            bound: Bound::AtLeast(1.0),
            reached: buffered.number("beside_floor"),
            noisy: noisy(&buffered, &floor),
        },
        beside_smi("latency of AMI beside SMI", Contender::Ami, 1.03),
        beside_smi("latency of a poller beside SMI", Contender::Poller, 1.03),
        beside_smi("latency of a future beside SMI", Contender::Future, 1.05),
        beside_smi(
            "latency of AMI whose replies the sending thread reads, beside SMI",
            Contender::AmiReactor,
            1.05,
        ),
        beside_smi(
            "latency of a future whose reply the waiting thread reads, beside SMI",
            Contender::FutureReactor,
            1.25,
        ),
    ];
    let goals = goals.iter().filter(|goal| goal.reached.is_some());
    let judged: Vec<Row> = goals
        .map(|goal| goal.on(Row::default().with("placement", at)))
        .collect();
    report.add("goals", judged);
}

/// Adds the paper's figures, converted to the units of the measured ones.
pub(super) fn add_paper(report: &mut Report) {
    let latency = |(name, [min, average, max, jitter]): (&str, [f64; 4])| {
        Row::default()
            .with("contender", name)
            .with("min", min * 1000.0)
            .with("average", average * 1000.0)
            .with("max", max * 1000.0)
            .with("jitter", jitter / 100.0)
    };
    let throughput =
        |(name, rate): (&str, f64)| Row::default().with("contender", name).with("rate", rate);
    report.add("paper_latency", PAPER_LATENCY.map(latency));
    report.add("paper_throughput", PAPER_THROUGHPUT.map(throughput));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Rates, Record};

    /// Returns the result of three rounds: calls with this mean time, and these total times of the
    /// throughput calls.
    fn outcome(mean: u64, together: [u64; 3]) -> (Record, Rates) {
        let mut both = (Record::default(), Rates::default());
        for time in together {
            both.0.add_round(&[mean - 100, mean + 100]);
            both.1.add_round(1, time);
        }
        both
    }

    fn report(outcomes: &[Outcome<'_, Calls<'_>>]) -> Report {
        let mut report = Report::new(&EXPERIMENT, Row::default());
        report.add("latency", latencies(Placement::Same, outcomes));
        report.add("throughput", throughputs(Placement::Same, outcomes));
        judge(Placement::Same, &mut report);
        add_paper(&mut report);
        report
    }

    #[test]
    fn averages_jitter_and_ratios_are_those_of_the_rounds() {
        let (floor, smi) = (outcome(500, [2; 3]), outcome(1000, [10; 3]));
        let ami = outcome(1100, [4; 3]);
        let report = report(&[
            (&Contender::Floor, &floor),
            (&Contender::Smi, &smi),
            (&Contender::SmiCores, &smi),
            (&Contender::Ami, &ami),
        ]);
        let close = |row: &Row, name: &str, expected: f64| {
            assert!(
                (row.number(name).unwrap() - expected).abs() < 1e-9,
                "{row:?}"
            );
        };
        let row = &report.frame("latency")[3];
        for (name, expected) in [
            ("min", 1000.0),
            ("max", 1200.0),
            ("average", 1100.0),
            ("jitter", 100.0 / 1100.0),
            ("beside_smi", 1.1),
        ] {
            close(row, name, expected);
        }
        let row = &report.frame("throughput")[3];
        close(row, "beside_floor", 0.5);
        close(row, "beside_best_smi", 2.5);
        let goals = report.frame("goals").iter();
        let verdicts: Vec<bool> = goals.map(|goal| goal.is("verdict", "ok")).collect();
        // Twice the synchronous rate, less than 80 % of the floor, not within 3 % of its latency.
        assert_eq!(verdicts, [true, false, false]);
        let text = report.to_string();
        assert!(text.contains("TAO AMI") && text.contains("8524"), "{text}");
    }

    #[test]
    fn what_varied_too_much_is_not_known() {
        let (calm, wild) = (outcome(1000, [10; 3]), outcome(1000, [10, 20, 40]));
        let report = report(&[(&Contender::SmiCores, &calm), (&Contender::Ami, &wild)]);
        let goal = &report.frame("goals")[0];
        assert!(goal.is("verdict", "not_known"), "{goal:?}");
        assert!(report.to_string().contains("not known"));
    }
}
