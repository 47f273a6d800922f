//! `cargo xtask fuzz`: libFuzzer on each target, one after the other, and a table of what it did.

use crate::run::{Result, root};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Options of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Targets by their names; all, if none is given.
    targets: Vec<String>,
    /// Seconds for each target.
    #[arg(long, default_value_t = 600)]
    seconds: u32,
}

/// What became of a target.
struct Outcome {
    name: String,
    executions: u64,
    seconds: u64,
    covered: u64,
    found: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let there = targets()?;
    if let Some(unknown) = options.targets.iter().find(|name| !there.contains(name)) {
        return Err(format!(
            "there is no target `{unknown}`; there are {}",
            there.join(", ")
        ));
    }
    let chosen = if options.targets.is_empty() {
        &there
    } else {
        &options.targets
    };
    let mut outcomes = Vec::new();
    for name in chosen {
        println!("fuzz: {name}, for {} s", options.seconds);
        outcomes.push(fuzz(name, options.seconds)?);
    }
    println!("| target | executions | seconds | edges covered | found |");
    println!("|---|--:|--:|--:|---|");
    for one in &outcomes {
        println!(
            "| {} | {} | {} | {} | {} |",
            one.name,
            one.executions,
            one.seconds,
            one.covered,
            if one.found {
                "see fuzz/libfuzzer/artifacts"
            } else {
                "nothing"
            }
        );
    }
    match outcomes.iter().find(|one| one.found) {
        Some(one) => Err(format!("{} has an input that it does not take", one.name)),
        None => Ok(()),
    }
}

/// Each has a folder in the corpus.
fn targets() -> Result<Vec<String>> {
    let folder = root().join("fuzz/corpus");
    let entries =
        fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// What libFuzzer finds on its way goes to the target folder: the corpus in the tree stays small.
fn fuzz(name: &str, seconds: u32) -> Result<Outcome> {
    let (root, began) = (root(), Instant::now());
    let grown = root.join("target/fuzz").join(name);
    fs::create_dir_all(&grown).map_err(|error| format!("{}: {error}", grown.display()))?;
    let run = Command::new("cargo")
        .args([
            "+nightly",
            "fuzz",
            "run",
            "--fuzz-dir",
            "fuzz/libfuzzer",
            name,
        ])
        .args([&grown, &root.join("fuzz/corpus").join(name)])
        .args(["--", "-print_final_stats=1", "-max_len=8192", "-timeout=60"])
        .args(["-rss_limit_mb=2048", "-malloc_limit_mb=256"])
        .arg(format!("-max_total_time={seconds}"))
        .arg(dictionary(&root, name))
        .current_dir(&root)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cargo fuzz could not be started: {error}"))?;
    let told = String::from_utf8_lossy(&run.stderr);
    let Some(executions) = statistic(&told, "stat::number_of_executed_units:") else {
        let last: Vec<&str> = told.lines().rev().take(20).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        return Err(format!(
            "{name} did not run; is cargo-fuzz installed, and a nightly compiler?\n{}",
            last.join("\n")
        ));
    };
    if !run.status.success() {
        eprintln!("{told}");
    }
    Ok(Outcome {
        name: name.to_owned(),
        executions,
        seconds: began.elapsed().as_secs(),
        covered: told.lines().rev().find_map(covered).unwrap_or(0),
        found: !run.status.success(),
    })
}

/// Words that inputs are made of, where a target has a list of them.
fn dictionary(root: &Path, name: &str) -> String {
    let list = root.join("fuzz/libfuzzer").join(format!("{name}.dict"));
    match list.is_file() {
        true => format!("-dict={}", list.display()),
        false => "-use_value_profile=1".to_owned(),
    }
}

fn statistic(told: &str, name: &str) -> Option<u64> {
    let line = told.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].trim().parse().ok()
}

/// The edges in a line of libFuzzer's progress: `#1234 NEW cov: 567 ft: …`.
fn covered(line: &str) -> Option<u64> {
    let (_, behind) = line.strip_prefix('#')?.split_once("cov: ")?;
    behind.split_whitespace().next()?.parse().ok()
}
