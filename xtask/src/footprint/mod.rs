//! `cargo xtask footprint`: what the smallest client and server take, by sets of Cargo features: bytes of the stripped
//! program, resident memory, and the time until the first reply.
//!
//! The programs are those of `bench/footprint`, a package outside the workspace with the profile of a device's programs.
//! omniORB's same stands beside them where it is installed.

mod build;
mod measure;
mod omniorb;
mod table;

use crate::run::{Result, root};
use build::{Build, Programs};
use clap::ValueEnum;
use measure::{Figures, Served};
use serde::Serialize;
use std::fs;

/// Options of `cargo xtask footprint`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Sets of Cargo features.
    #[arg(long, value_delimiter = ',', default_values = ["minimum", "usual", "all"])]
    sets: Vec<Set>,
    /// Levels of optimisation.
    #[arg(long, value_delimiter = ',', default_values = ["3", "s"])]
    levels: Vec<String>,
    /// Other target than this machine's, such as `x86_64-unknown-linux-musl` or `aarch64-unknown-linux-gnu`, for the first of
    /// the sets. One for another kind of processor is built, and its size printed. May be repeated.
    #[arg(long)]
    target: Vec<String>,
    /// Starts of the client, of whose times the median is printed.
    #[arg(long, default_value_t = 200)]
    starts: u32,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

/// Set of Cargo features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Set {
    /// Stubs and servants over TCP and Unix sockets: `default-features = false`.
    Minimum,
    /// What the crate `punctual` has by default.
    Usual,
    /// All features but those that measure the ORB itself.
    All,
}

impl Set {
    fn name(self) -> &'static str {
        match self {
            Self::Minimum => "minimum",
            Self::Usual => "usual",
            Self::All => "all",
        }
    }
}

/// Row of the table.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    level: String,
    /// Target, if it is not this machine's.
    target: Option<String>,
    figures: Figures,
}

/// Result of the measurement.
#[derive(Debug, Serialize)]
struct Report {
    machine: crate::machine::Machine,
    profile: &'static str,
    starts: u32,
    /// Milliseconds from the start of a program that does nothing (`true`) to its end.
    nothing_ms: Option<f64>,
    rows: Vec<Row>,
    /// Reasons why something is not there.
    notes: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.starts == 0 {
        return Err("--starts is 0: the median of no time is not known".to_owned());
    }
    let builds = builds(options)?;
    let mut report = Report {
        machine: crate::machine::Machine::this(),
        profile: "lto = \"fat\", codegen-units = 1, panic = \"abort\", strip = true",
        starts: options.starts,
        nothing_ms: measure::nothing(options.starts),
        rows: Vec::new(),
        notes: Vec::new(),
    };
    for (at, build) in builds.iter().enumerate() {
        eprintln!(
            "footprint: {build}: building, {} of {}",
            at + 1,
            builds.len()
        );
        let row = build.programs().and_then(|programs| {
            Ok(Row {
                name: build.set.name().to_owned(),
                level: build.level.clone(),
                target: build.target.clone(),
                figures: figures(&programs, options.starts, build.runs_here())?,
            })
        });
        report
            .rows
            .push(row.map_err(|error| format!("{build}: {error}"))?);
    }
    let into = build::target_folder().join("omniorb");
    match omniorb::programs(&root().join("bench/footprint"), &into) {
        Ok(programs) => report.rows.push(Row {
            name: "omniORB".to_owned(),
            level: "s".to_owned(),
            target: None,
            figures: figures(&programs, options.starts, true)?,
        }),
        Err(why) => report.notes.push(format!("omniORB is left out: {why}")),
    }
    if options.json {
        let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
        println!("{text}");
    } else {
        print!("{}", table::shown(&report));
    }
    Ok(())
}

/// Returns what is built: each set for this machine, and the first for other targets, at each level.
fn builds(options: &Options) -> Result<Vec<Build>> {
    let first = options.sets.first().ok_or("--sets names none")?;
    let here = options.sets.iter().map(|set| (*set, None));
    let there = options
        .target
        .iter()
        .map(|target| (*first, Some(target.clone())));
    let mut builds = Vec::new();
    for (set, target) in here.chain(there) {
        for level in &options.levels {
            builds.push(Build::new(set, level, target.clone())?);
        }
    }
    Ok(builds)
}

/// Returns the sizes of the programs and, if they run on this machine, their memory and times.
fn figures(programs: &Programs, starts: u32, run: bool) -> Result<Figures> {
    let size = |path: &std::path::Path| {
        let metadata =
            fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok::<_, String>(metadata.len())
    };
    let mut figures = Figures {
        client_bytes: size(&programs.client)?,
        server_bytes: size(&programs.server)?,
        library_bytes: measure::libraries(&programs.server)?,
        ..Figures::default()
    };
    if run {
        eprintln!("footprint: measuring {}", programs.server.display());
        let server = Served::start(&programs.server, 1)?;
        figures.ready_ms = Some(server.ready_ms);
        figures.idle = Some(server.memory()?);
        figures.first_reply_ms = Some(measure::first_reply(programs, &server, starts)?);
        drop(server);
        figures.with_objects = Some(Served::start(&programs.server, 1000)?.memory()?);
        figures.ready_ms = Some(measure::ready(programs, starts)?);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(sets: &[Set], targets: &[&str]) -> Options {
        Options {
            sets: sets.to_vec(),
            levels: vec!["3".to_owned(), "s".to_owned()],
            target: targets.iter().map(|&target| target.to_owned()).collect(),
            starts: 1,
            json: false,
        }
    }

    #[test]
    fn each_set_is_built_for_this_machine_and_the_first_for_other_targets() {
        let options = options(&[Set::Minimum, Set::All], &["aarch64-unknown-linux-gnu"]);
        let builds = builds(&options).unwrap();
        let shown: Vec<String> = builds.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "minimum, opt-level 3",
                "minimum, opt-level s",
                "all, opt-level 3",
                "all, opt-level s",
                "minimum, opt-level 3, aarch64-unknown-linux-gnu",
                "minimum, opt-level s, aarch64-unknown-linux-gnu",
            ]
        );
    }

    #[test]
    fn a_level_that_cargo_does_not_have_is_refused_before_anything_is_built() {
        let mut options = options(&[Set::Minimum], &[]);
        options.levels = vec!["small".to_owned()];
        let error = builds(&options).unwrap_err();
        assert!(error.contains("`small`"), "{error}");
    }

    #[test]
    fn every_set_but_the_minimum_is_a_feature_of_the_package() {
        let manifest = fs::read_to_string(root().join("bench/footprint/Cargo.toml")).unwrap();
        for set in Set::value_variants()
            .iter()
            .filter(|&&set| set != Set::Minimum)
        {
            assert!(
                manifest.contains(&format!("\n{} = [", set.name())),
                "{}",
                set.name()
            );
        }
    }
}
