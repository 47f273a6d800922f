//! `papers`: what the five papers claim, and what becomes of it here, in one report.
//!
//! A `Claim` names the paper, the place and the paper's figures, and finds ours in the JSON of one of
//! this program's measurements. Each `Measurement` runs as a process of its own, and its figures and
//! drawing stay in a folder: an interrupted run goes on where it was.

mod claim;
mod claims;
mod evidence;
mod figures;
mod measurement;
mod measurements;
mod report;

use crate::Result;
use crate::contender::Harness;
use claim::{Claim, Found};
use clap::Args;
use evidence::Evidence;
use measurement::{Kept, Measurement};
use measurements::ALL;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Options of the command `papers`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Fewer rounds and calls: takes some three minutes, and is less reliable.
    #[arg(long)]
    quick: bool,
    /// Folder of the measurements' figures and drawings, and of the report (report.md, report.html, papers.json).
    #[arg(long, value_name = "FOLDER", default_value = "papers")]
    folder: PathBuf,
    /// Measure again what the folder already has.
    #[arg(long)]
    again: bool,
    /// Measure these only; other claims are judged by what the folder has.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// List the claims, each with its command, and measure nothing.
    #[arg(long)]
    list: bool,
}

/// Claim, and what was found about it; an error is the reason why nothing was.
struct Judged {
    claim: &'static Claim,
    found: std::result::Result<Found, String>,
    command: String,
}

/// Runs the command.
///
/// # Errors
/// A name is that of no measurement, or the folder cannot be written.
pub fn run(harness: &Harness, options: &Options) -> Result<()> {
    let wanted = wanted(&options.only)?;
    if options.list {
        for claim in claims_by(&wanted) {
            println!("{}, {}: {}", claim.paper, claim.place, claim.claim);
            println!("    theirs: {}", claim.theirs);
            println!("    {}", command(claim.by, false));
        }
        return Ok(());
    }
    fs::create_dir_all(&options.folder)
        .map_err(|error| format!("{}: {error}", options.folder.display()))?;
    let mut progress = Progress::of(&wanted, |one| {
        let has_it = || {
            one.measured_before(harness, &options.folder, options.quick)
                .is_ok()
        };
        match !options.again && has_it() {
            true => Duration::ZERO,
            false => one.expected(options.quick),
        }
    });
    let mut kept = Vec::new();
    for measurement in ALL {
        if !wanted.iter().any(|one| one.name == measurement.name) {
            let before = measurement.measured_before(harness, &options.folder, options.quick);
            kept.push((measurement, before));
            continue;
        }
        eprintln!("{progress}: {}", measurement.about);
        let begun = Instant::now();
        let measured = measurement.measure(harness, &options.folder, options.quick, options.again);
        progress.add(begun.elapsed());
        match &measured {
            Ok(kept) if kept.is_old => eprintln!("    measured before, in {}", shown(kept.took)),
            Ok(kept) => eprintln!("    took {}", shown(kept.took)),
            Err(reason) => eprintln!("    not measured: {reason}"),
        }
        kept.push((measurement, measured));
    }
    let judged: Vec<Judged> = claims::all()
        .map(|claim| judge(claim, &kept, options.quick))
        .collect();
    let files = report::write(&options.folder, &judged, &kept, options.quick)?;
    print!("{}", report::summary(&judged));
    println!("{}", files.join(", "));
    Ok(())
}

/// Measurements that are done, and the estimate of the time that the others take.
struct Progress {
    /// Time that each measurement is expected to take, by an earlier run of another machine.
    expected: Vec<Duration>,
    done: usize,
    elapsed: Duration,
}

impl Progress {
    fn of(wanted: &[&Measurement], expected: impl Fn(&Measurement) -> Duration) -> Self {
        Self {
            expected: wanted.iter().map(|one| expected(one)).collect(),
            done: 0,
            elapsed: Duration::ZERO,
        }
    }

    /// Counts a measurement that took so long.
    fn add(&mut self, took: Duration) {
        self.done += 1;
        self.elapsed += took;
    }

    /// Returns the expected time of the measurements that are left, longer or shorter by as much as those before took
    /// longer or shorter than was expected.
    fn left(&self) -> Duration {
        let (done, left) = self.expected.split_at(self.done.min(self.expected.len()));
        let [done, left] = [done, left].map(|part| part.iter().sum::<Duration>());
        match done.is_zero() {
            true => left,
            false => left.mul_f64(self.elapsed.as_secs_f64() / done.as_secs_f64()),
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, all) = (self.done + 1, self.expected.len());
        let (elapsed, left) = (shown(self.elapsed), shown(self.left()));
        write!(f, "{place} of {all}, after {elapsed}, about {left} left")
    }
}

fn shown(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

/// Returns the measurements of these names; all if there are none.
fn wanted(only: &[String]) -> Result<Vec<&'static Measurement>> {
    if let Some(unknown) = only
        .iter()
        .find(|name| ALL.iter().all(|one| one.name != **name))
    {
        let names: Vec<&str> = ALL.iter().map(|one| one.name).collect();
        return Err(format!(
            "`{unknown}` is no measurement: there are {}",
            names.join(", ")
        )
        .into());
    }
    let is_wanted =
        |one: &&Measurement| only.is_empty() || only.iter().any(|name| name == one.name);
    Ok(ALL.iter().filter(is_wanted).collect())
}

/// Returns the claims that these measurements find.
fn claims_by(wanted: &[&'static Measurement]) -> impl Iterator<Item = &'static Claim> {
    let names: Vec<&str> = wanted.iter().map(|one| one.name).collect();
    claims::all().filter(move |claim| names.contains(&claim.by))
}

/// Returns the command of a measurement, as people enter it.
fn command(name: &str, quick: bool) -> String {
    let measurement = ALL.iter().find(|one| one.name == name);
    measurement.map_or_else(String::new, |one| one.command(quick))
}

fn judge(
    claim: &'static Claim,
    kept: &[(&Measurement, std::result::Result<Kept, String>)],
    quick: bool,
) -> Judged {
    let measured = kept.iter().find(|(one, _)| one.name == claim.by);
    let found = match measured {
        Some((_, Ok(kept))) => {
            let evidence = Evidence::of(&kept.report);
            (claim.find)(&evidence).map(|found| found.doubted(evidence.doubt()))
        }
        Some((_, Err(reason))) => Err(reason.clone()),
        None => Err("not measured".to_owned()),
    };
    Judged {
        claim,
        found,
        command: command(claim.by, quick),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_claim_names_a_measurement_and_each_measurement_has_a_claim() {
        for claim in claims::all() {
            assert!(ALL.iter().any(|one| one.name == claim.by), "{}", claim.by);
        }
        for one in ALL {
            assert!(
                claims::all().any(|claim| claim.by == one.name),
                "{}",
                one.name
            );
        }
    }

    #[test]
    fn only_the_claims_of_the_chosen_measurements_are_judged() {
        let chosen = wanted(&["ami".to_owned()]).unwrap();
        assert!(claims_by(&chosen).all(|claim| claim.by == "ami"));
        assert!(claims_by(&chosen).count() >= 3);
        let all = wanted(&[]).unwrap();
        assert_eq!(claims_by(&all).count(), claims::all().count());
        let error = wanted(&["amy".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("`amy`") && error.contains("ami"), "{error}");
    }

    #[test]
    fn what_is_left_is_estimated_by_what_is_to_be_measured_and_by_how_long_the_rest_took() {
        let seconds = |name: &str| match name {
            "ami" => Duration::from_secs(60),
            "oneway" => Duration::ZERO,
            _ => Duration::from_secs(30),
        };
        let chosen = wanted(&["ami", "oneway", "cubit"].map(str::to_owned)).unwrap();
        let mut progress = Progress::of(&chosen, |one| seconds(one.name));
        assert_eq!(progress.to_string(), "1 of 3, after 0 s, about 90 s left");
        progress.add(Duration::from_secs(120));
        assert_eq!(progress.left(), Duration::from_secs(60));
        // Taken from the folder: it neither takes time, nor says anything about the others.
        progress.add(Duration::ZERO);
        assert_eq!(progress.to_string(), "3 of 3, after 2 min, about 60 s left");
        progress.add(Duration::from_secs(60));
        assert_eq!(progress.left(), Duration::ZERO);
    }

    #[test]
    fn a_claim_whose_figures_are_absent_is_not_judged() {
        let empty = serde_json::json!({});
        for claim in claims::all() {
            assert!(
                (claim.find)(&Evidence::of(&empty)).is_err(),
                "{}",
                claim.claim
            );
        }
    }
}
