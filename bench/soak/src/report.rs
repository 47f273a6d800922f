//! Report of a run, for people and for programs.

use crate::child::Usage;
use crate::judgement::{Judgement, LOOSE, LOOSE_BYTES, SMALL_BLOCKS, STRICT, STRICT_FROM};
use crate::work::Count;
use punctual_bench::machine::Machine;
use punctual_bench::table::{Cell, Table, Tone};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Results of a run of the soak test.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// Machine on which the run was made.
    pub(crate) machine: Machine,
    /// Set if the programs were built with optimisation.
    pub(crate) is_optimised: bool,
    /// Duration of the load, in minutes.
    pub(crate) minutes: f64,
    /// Seed of the random numbers.
    pub(crate) seed: u64,
    /// Amount of work done, by the name of the kind of work.
    pub(crate) work: BTreeMap<String, Count>,
    /// Parts of the soak test that were left out, with the reasons.
    pub(crate) skipped: Vec<String>,
    /// Faults found during the run.
    pub(crate) faults: Vec<String>,
    /// Judgements of the watched processes.
    pub(crate) processes: Vec<Judgement>,
    /// Resources of the watched processes, sampled each second.
    pub(crate) samples: Vec<Sample>,
}

/// Resources of the watched processes at one moment.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Sample {
    /// Seconds since the load began.
    pub(crate) seconds: f64,
    /// Set if the sample was taken under load.
    pub(crate) is_loaded: bool,
    /// Resources of the server process.
    pub(crate) server: Usage,
    /// Resources of the client process.
    pub(crate) client: Usage,
}

impl Report {
    /// Returns all faults: those found in the run, and those of the judgements.
    pub(crate) fn all_faults(&self) -> Vec<String> {
        let judged = self.processes.iter().flat_map(|judged| {
            let told = |fault| format!("the {}: {fault}", judged.process.name());
            judged.faults.iter().map(told)
        });
        self.faults.iter().cloned().chain(judged).collect()
    }

    fn work(&self) -> Table {
        let row = |(name, count): (&String, &Count)| {
            let refused = match count.refused {
                0 => Cell::none(),
                refused => Cell::new(grouped(refused), Tone::Plain),
            };
            let done = Cell::new(grouped(count.done), Tone::Plain);
            (name.clone(), vec![done, refused])
        };
        Table {
            title: format!("what was done in {:.1} minutes", self.minutes),
            columns: ["done", "refused"].map(str::to_owned).to_vec(),
            rows: self.work.iter().map(row).collect(),
        }
    }

    fn processes(&self) -> Table {
        let rows = self.processes.iter().map(|one| {
            let plain = |text: String| Cell::new(text, Tone::Plain);
            let tone = match one.faults.is_empty() {
                true => Tone::Good,
                false => Tone::Bad,
            };
            let pair = |quiet: usize, end: usize| plain(format!("{quiet} → {end}"));
            let small = [one.quiet, one.end].map(|usage| grouped(usage.small_blocks / 1024));
            let cells = vec![
                plain(mebibytes(one.second_quarter)),
                plain(mebibytes(one.last_quarter)),
                Cell::new(format!("{:+.1} %", one.growth()), tone),
                plain(small.join(" → ")),
                pair(one.quiet.threads, one.end.threads),
                pair(one.quiet.descriptors, one.end.descriptors),
            ];
            (one.process.name().to_owned(), cells)
        });
        let bound = match self.minutes >= STRICT_FROM {
            true => format!("{} %", 100.0 * STRICT),
            false => format!(
                "{} % or {} MiB, as it is shorter than {STRICT_FROM} minutes",
                100.0 * LOOSE,
                mebibytes(LOOSE_BYTES)
            ),
        };
        Table {
            title: format!(
                "resident memory in MiB, medians; allowed is a growth of {bound}, and {} KiB of small blocks",
                SMALL_BLOCKS / 1024
            ),
            columns: [
                "second quarter",
                "last quarter",
                "growth",
                "small blocks, KiB",
                "threads",
                "descriptors",
            ]
            .map(str::to_owned)
            .to_vec(),
            rows: rows.collect(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let built = match self.is_optimised {
            true => "release",
            false => "dev",
        };
        writeln!(f, "{}; profile {built}, seed {}", self.machine, self.seed)?;
        write!(f, "{}{}", self.work(), self.processes())?;
        for skipped in &self.skipped {
            writeln!(f, "skipped {skipped}")?;
        }
        let faults = self.all_faults();
        for fault in &faults {
            let red = anstyle::AnsiColor::Red.on_default();
            writeln!(f, "{red}fault{red:#}: {fault}")?;
        }
        if faults.is_empty() {
            let green = anstyle::AnsiColor::Green.on_default();
            writeln!(
                f,
                "{green}it ends as flat as it began, and no answer was wrong{green:#}"
            )?;
        }
        Ok(())
    }
}

/// Formats a number of bytes in MiB.
pub(crate) fn mebibytes(bytes: f64) -> String {
    format!("{:.1}", bytes / f64::from(1 << 20))
}

/// Formats a number with a comma for each thousand.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let shown = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }
}
