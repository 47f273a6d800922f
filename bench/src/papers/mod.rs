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
mod report;

use crate::Result;
use crate::contender::Harness;
use claim::{Claim, Found};
use clap::Args;
use evidence::Evidence;
use measurement::{ALL, Kept, Measurement};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Options of the command `papers`.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Fewer rounds and calls: takes about a minute, and is less reliable.
    #[arg(long)]
    quick: bool,
    /// Folder of the measurements' figures and drawings, and of the report (report.md, report.html).
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
    let begun = Instant::now();
    let mut kept = Vec::new();
    let mut place = 0;
    for measurement in ALL {
        if !wanted.iter().any(|one| one.name == measurement.name) {
            let before = measurement.measured_before(harness, &options.folder, options.quick);
            kept.push((measurement, before));
            continue;
        }
        place += 1;
        eprintln!(
            "{place} of {}, after {}: {}",
            wanted.len(),
            shown(begun.elapsed()),
            measurement.about
        );
        let measured = measurement.measure(harness, &options.folder, options.quick, options.again);
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
    println!("{}", files.join(" and "));
    Ok(())
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
            (claim.find)(&evidence).map(|found| found.restless(evidence.is_restless()))
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
