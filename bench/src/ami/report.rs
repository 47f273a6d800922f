//! Report of the figures, as tables for people and as JSON.

use super::contender::Contender;
use super::paper::Printed;
use crate::latency::NOISY;
use crate::machine::Machine;
use crate::statistics::{median, paired_ratio, spread};
use crate::table::{Cell, Table, Tone};
use crate::throughput::Pinning;
use serde::Serialize;
use std::fmt;

/// Latencies of one contender.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies {
    samples: Vec<u64>,
    /// Mean of each round.
    means: Vec<f64>,
}

/// Rates of one contender, by round.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates(Vec<f64>);

/// Results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Machine of the run.
    pub machine: Machine,
    /// Number of rounds.
    pub rounds: u32,
    /// Calls of a round of latency.
    pub calls: u32,
    /// Calls of a round of throughput.
    pub many: u32,
    /// Parts left out, with the reasons.
    pub skipped: Vec<String>,
    /// Failures.
    pub failed: Vec<String>,
    /// Table 1.
    pub latency: Vec<LatencyRow>,
    /// Table 2.
    pub throughput: Vec<ThroughputRow>,
    /// Goals, and the figures reached.
    pub goals: Vec<Goal>,
    /// Figures that the paper prints of TAO.
    pub paper: Printed,
}

/// Row of table 1, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyRow {
    /// Processors of client and server.
    pub placement: Pinning,
    /// Contender of the row.
    pub contender: Contender,
    /// Shortest time.
    pub min: u64,
    /// Mean time.
    pub average: f64,
    /// Longest time.
    pub max: u64,
    /// Standard deviation, divided by the mean.
    pub jitter: f64,
    /// Median time.
    pub median: u64,
    /// Ratio of its mean to that of one synchronous thread: the median of the rounds.
    pub beside_smi: Option<f64>,
    /// Set if its rounds, or those of that thread, lie too far apart for the ratio to be known.
    pub noisy: bool,
}

/// Row of table 2.
#[derive(Clone, Debug, Serialize)]
pub struct ThroughputRow {
    /// Processors of client and server.
    pub placement: Pinning,
    /// Contender of the row.
    pub contender: Contender,
    /// Calls per second: the median of the rounds.
    pub rate: f64,
    /// Spread of the rounds.
    pub spread: f64,
    /// Set if the spread is too large.
    pub noisy: bool,
    /// Ratio to the floor: the median of the rounds.
    pub beside_floor: Option<f64>,
    /// Ratio to the best of the measured synchronous contenders.
    pub beside_best_smi: Option<f64>,
}

/// Goal, and the figure reached.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// Processors of client and server.
    pub placement: Pinning,
    /// Name of the goal.
    pub what: &'static str,
    /// Lower or upper bound.
    pub bound: f64,
    /// Set if the bound is a lower one.
    pub at_least: bool,
    /// Figure reached.
    pub reached: f64,
    /// Set if the rounds lie too far apart for the figure to be known.
    pub noisy: bool,
}

impl Goal {
    fn is_met(&self) -> bool {
        match self.at_least {
            true => self.reached >= self.bound,
            false => self.reached <= self.bound,
        }
    }
}

impl Latencies {
    pub(super) fn add_round(&mut self, samples: &[u64]) {
        self.means.push(mean(samples));
        self.samples.extend_from_slice(samples);
    }

    /// Returns whether the means of the rounds lie too far apart.
    fn noisy(&self) -> bool {
        spread(&self.means).is_none_or(|spread| spread > NOISY)
    }
}

impl Rates {
    pub(super) fn add(&mut self, calls: u32, nanoseconds: u64) {
        self.0
            .push(f64::from(calls) * 1e9 / float(nanoseconds.max(1)));
    }

    fn noisy(&self) -> bool {
        spread(&self.0).is_none_or(|spread| spread > NOISY)
    }
}

/// Contender with its results.
type Reached<'r> = (Contender, &'r Latencies, &'r Rates);

impl Report {
    /// Adds the results of all contenders in one placement.
    pub(super) fn add<'r>(&mut self, at: Pinning, reached: impl Iterator<Item = Reached<'r>>) {
        let all: Vec<Reached<'_>> = reached.collect();
        let of = |who: Contender| all.iter().find(|(contender, ..)| *contender == who);
        let smi = of(Contender::Smi);
        for (contender, latencies, _) in &all {
            self.latency
                .extend(latency_row(at, *contender, latencies, smi.map(|one| one.1)));
        }
        let synchronous = all.iter().filter(|(who, ..)| who.threads().is_some());
        let best = synchronous.max_by(|one, other| {
            let rate = |rates: &Rates| median(&rates.0).unwrap_or_default();
            rate(one.2).total_cmp(&rate(other.2))
        });
        let (floor, best) = (of(Contender::Floor).map(|one| one.2), best.map(|one| one.2));
        for (contender, _, rates) in &all {
            self.throughput
                .extend(throughput_row(at, *contender, rates, (floor, best)));
        }
        self.add_goals(at);
    }

    fn add_goals(&mut self, at: Pinning) {
        let rate = |who| {
            self.throughput
                .iter()
                .find(|row| row.placement == at && row.contender == who)
        };
        let latency = |who| {
            self.latency
                .iter()
                .find(|row| row.placement == at && row.contender == who)
        };
        let (ami, cores) = (rate(Contender::Ami), rate(Contender::SmiCores));
        let goal = |what, (bound, at_least), reached: Option<f64>, noisy| {
            Some(Goal {
                placement: at,
                what,
                bound,
                at_least,
                reached: reached?,
                noisy,
            })
        };
        let floor = rate(Contender::Floor).is_some_and(|floor| floor.noisy);
        let beside_cores = ami.zip(cores).map(|(ami, cores)| ami.rate / cores.rate);
        let is_noisy = |row: Option<&ThroughputRow>| row.is_none_or(|row| row.noisy);
        let beside_smi = |who| latency(who).and_then(|row| row.beside_smi);
        let restless = |who| latency(who).is_none_or(|row| row.noisy);
        let goals = [
            goal(
                "AMI beside synchronous calls of as many threads as processors",
                (2.0, true),
                beside_cores,
                is_noisy(ami) || is_noisy(cores),
            ),
            goal(
                "AMI beside the floor",
                (0.8, true),
                ami.and_then(|row| row.beside_floor),
                is_noisy(ami) || floor,
            ),
            goal(
                "AMI with coalesced writes beside the floor",
                (1.0, true),
                rate(Contender::AmiBuffered).and_then(|row| row.beside_floor),
                is_noisy(rate(Contender::AmiBuffered)) || floor,
            ),
            goal(
                "latency of AMI beside SMI",
                (1.03, false),
                beside_smi(Contender::Ami),
                restless(Contender::Ami),
            ),
            goal(
                "latency of a poller beside SMI",
                (1.03, false),
                beside_smi(Contender::Poller),
                restless(Contender::Poller),
            ),
            goal(
                "latency of a future beside SMI",
                (1.05, false),
                beside_smi(Contender::Future),
                restless(Contender::Future),
            ),
        ];
        self.goals.extend(goals.into_iter().flatten());
    }
}

fn latency_row(
    placement: Pinning,
    contender: Contender,
    latencies: &Latencies,
    smi: Option<&Latencies>,
) -> Option<LatencyRow> {
    let mut sorted = latencies.samples.clone();
    sorted.sort_unstable();
    let (average, jitter) = (mean(&sorted), deviation(&sorted) / mean(&sorted));
    Some(LatencyRow {
        placement,
        contender,
        min: *sorted.first()?,
        average,
        max: *sorted.last()?,
        jitter,
        median: *sorted.get(sorted.len() / 2)?,
        beside_smi: smi.and_then(|smi| paired_ratio(&latencies.means, &smi.means)),
        noisy: latencies.noisy() || smi.is_some_and(Latencies::noisy),
    })
}

fn throughput_row(
    placement: Pinning,
    contender: Contender,
    rates: &Rates,
    (floor, best): (Option<&Rates>, Option<&Rates>),
) -> Option<ThroughputRow> {
    Some(ThroughputRow {
        placement,
        contender,
        rate: median(&rates.0)?,
        spread: spread(&rates.0)?,
        noisy: rates.noisy(),
        beside_floor: floor.and_then(|floor| paired_ratio(&rates.0, &floor.0)),
        beside_best_smi: best.and_then(|best| paired_ratio(&rates.0, &best.0)),
    })
}

fn mean(samples: &[u64]) -> f64 {
    let sum: f64 = samples.iter().map(|&one| float(one)).sum();
    sum / float(samples.len().max(1) as u64)
}

fn deviation(samples: &[u64]) -> f64 {
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|&one| (float(one) - mean).powi(2)).sum();
    (squares / float(samples.len().max(1) as u64)).sqrt()
}

#[allow(clippy::cast_precision_loss)]
fn float(number: u64) -> f64 {
    number as f64
}

/// Returns the name of a placement in tables.
pub(super) fn place(placement: Pinning) -> &'static str {
    match placement {
        Pinning::Same => "both sides on one processor",
        Pinning::Cross => "a processor each",
        Pinning::Unpinned => "unpinned",
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.machine)?;
        for rows in self.latency.chunk_by(|a, b| a.placement == b.placement) {
            write!(f, "\n{}", latency_table(rows, &self.paper))?;
        }
        for rows in self.throughput.chunk_by(|a, b| a.placement == b.placement) {
            write!(f, "\n{}", throughput_table(rows, &self.paper))?;
        }
        if !self.goals.is_empty() {
            write!(f, "\n{}", goals(&self.goals))?;
        }
        for skipped in &self.skipped {
            writeln!(f, "skipped {skipped}")?;
        }
        for failed in &self.failed {
            writeln!(f, "failed {failed}")?;
        }
        writeln!(f, "! the rounds lay more than {:.0} % apart", NOISY * 100.0)
    }
}

fn latency_table(rows: &[LatencyRow], paper: &Printed) -> Table {
    let micros = |nanoseconds: f64| Cell::new(format!("{:.1}", nanoseconds / 1000.0), Tone::Plain);
    let cells = |row: &LatencyRow| {
        let beside = row.beside_smi.map_or_else(Cell::none, |ratio| {
            let mark = if row.noisy { "!" } else { "" };
            Cell::new(format!("{ratio:.3}{mark}"), Tone::Plain)
        });
        let cells = vec![
            micros(float(row.min)),
            micros(row.average),
            micros(float(row.max)),
            Cell::new(format!("{:.1}", row.jitter * 100.0), Tone::Plain),
            micros(float(row.median)),
            beside,
        ];
        (row.contender.to_string(), cells)
    };
    let printed = paper.latency.iter().map(|(name, figures)| {
        let figures = figures.iter();
        let cells = figures.map(|figure| Cell::new(format!("{figure:.1}"), Tone::Faint));
        (
            (*name).to_owned(),
            cells.chain([Cell::none(), Cell::none()]).collect(),
        )
    });
    let at = rows.first().map_or("", |row| place(row.placement));
    Table {
        title: format!("table 1: latency in µs, {at}"),
        columns: ["min", "avg", "max", "jitter %", "median", "avg × smi"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.iter().map(cells).chain(printed).collect(),
    }
}

fn throughput_table(rows: &[ThroughputRow], paper: &Printed) -> Table {
    let ratio = |ratio: Option<f64>| {
        ratio.map_or_else(Cell::none, |ratio| {
            Cell::new(format!("{ratio:.2}"), Tone::Plain)
        })
    };
    let cells = |row: &ThroughputRow| {
        let mark = if row.noisy { "!" } else { "" };
        let cells = vec![
            Cell::new(format!("{:.0}{mark}", row.rate), Tone::Plain),
            Cell::new(format!("{:.1}", row.spread * 100.0), Tone::Faint),
            ratio(row.beside_floor),
            ratio(row.beside_best_smi),
        ];
        (row.contender.to_string(), cells)
    };
    let printed = paper.throughput.iter().map(|(name, rate)| {
        let none = || Cell::none();
        let cells = vec![
            Cell::new(format!("{rate:.0}"), Tone::Faint),
            none(),
            none(),
            none(),
        ];
        ((*name).to_owned(), cells)
    });
    let at = rows.first().map_or("", |row| place(row.placement));
    Table {
        title: format!("table 2: calls a second, {at}"),
        columns: ["calls/s", "spread %", "× floor", "× best smi"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.iter().map(cells).chain(printed).collect(),
    }
}

fn goals(goals: &[Goal]) -> Table {
    let cells = |goal: &Goal| {
        let bound = match goal.at_least {
            true => format!("≥ {:.2}", goal.bound),
            false => format!("≤ {:.2}", goal.bound),
        };
        let (verdict, tone) = match (goal.noisy, goal.is_met()) {
            (true, _) => ("not known", Tone::Doubtful),
            (false, true) => ("ok", Tone::Good),
            (false, false) => ("missed", Tone::Bad),
        };
        let cells = vec![
            Cell::new(bound, Tone::Faint),
            Cell::new(format!("{:.3}", goal.reached), Tone::Plain),
            Cell::new(verdict, tone),
        ];
        (format!("{}, {}", goal.what, place(goal.placement)), cells)
    };
    Table {
        title: "goals".to_owned(),
        columns: ["goal", "reached", ""].map(str::to_owned).to_vec(),
        rows: goals.iter().map(cells).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ami::paper::PRINTED;

    fn empty() -> Report {
        Report {
            machine: Machine::this(),
            rounds: 3,
            calls: 2,
            many: 100,
            skipped: Vec::new(),
            failed: Vec::new(),
            latency: Vec::new(),
            throughput: Vec::new(),
            goals: Vec::new(),
            paper: PRINTED,
        }
    }

    fn latencies(means: [u64; 3]) -> Latencies {
        let mut latencies = Latencies::default();
        for mean in means {
            latencies.add_round(&[mean - 100, mean + 100]);
        }
        latencies
    }

    #[test]
    fn averages_jitter_and_ratios_are_those_of_the_rounds() {
        let (smi, ami) = (latencies([1000; 3]), latencies([1100; 3]));
        let (slow, fast) = (Rates(vec![100.0; 3]), Rates(vec![250.0; 3]));
        let floor = Rates(vec![500.0; 3]);
        let none = Latencies::default();
        let mut report = empty();
        let reached = [
            (Contender::Floor, &none, &floor),
            (Contender::Smi, &smi, &slow),
            (Contender::SmiCores, &none, &slow),
            (Contender::Ami, &ami, &fast),
        ];
        report.add(Pinning::Same, reached.into_iter());
        let row = &report.latency[1];
        assert_eq!((row.min, row.max), (1000, 1200));
        assert!((row.average - 1100.0).abs() < 1e-9);
        assert!((row.jitter - 100.0 / 1100.0).abs() < 1e-9);
        assert!((row.beside_smi.unwrap() - 1.1).abs() < 1e-9);
        let row = &report.throughput[3];
        assert!((row.beside_floor.unwrap() - 0.5).abs() < 1e-9);
        assert!((row.beside_best_smi.unwrap() - 2.5).abs() < 1e-9);
        let verdicts: Vec<bool> = report.goals.iter().map(Goal::is_met).collect();
        // Twice the synchronous rate, less than 80 % of the floor, not within 3 % of its latency.
        assert_eq!(verdicts, [true, false, false]);
        let text = report.to_string();
        assert!(text.contains("TAO AMI") && text.contains("8524"), "{text}");
    }

    #[test]
    fn what_varied_too_much_is_not_known() {
        let mut report = empty();
        let none = Latencies::default();
        let (wild, calm) = (Rates(vec![100.0, 200.0, 400.0]), Rates(vec![100.0; 3]));
        let reached = [
            (Contender::SmiCores, &none, &calm),
            (Contender::Ami, &none, &wild),
        ];
        report.add(Pinning::Same, reached.into_iter());
        assert!(report.goals.iter().all(|goal| goal.noisy));
        assert!(report.to_string().contains("not known"));
    }
}
