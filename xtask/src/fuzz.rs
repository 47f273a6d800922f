//! `cargo xtask fuzz`: libFuzzer on each target, one after the other, and a table of its results;
//! or the coverage of the receiving code by the corpus.

mod coverage;

use crate::run::{Result, root, succeed};
use std::fs;
use std::path::{Path, PathBuf};
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
    /// Executions for each target, after which it ends however many seconds are left. For long
    /// counts: an edge counts as reached or not, however often, which is twice as fast.
    #[arg(long)]
    executions: Option<u64>,
    /// Run no fuzzer; add to the corpus the smallest set of gathered inputs that reaches more than
    /// the corpus does.
    #[arg(long)]
    keep: bool,
    /// Run no fuzzer; leave in the corpus its inputs with names, and the smallest set of the others
    /// that reaches what these do not.
    #[arg(long, conflicts_with = "keep")]
    minimise: bool,
    /// Look for memory errors and overflows as well: `AddressSanitizer`, debug assertions, and each
    /// value that is compared counted as progress. A tenth as fast.
    #[arg(long)]
    careful: bool,
    /// Maximum size of an input, in bytes.
    #[arg(long, default_value_t = 4096)]
    longest: u32,
    /// Run no fuzzer; show the line coverage of the receiving code by the corpus.
    #[arg(long)]
    coverage: bool,
    /// With `--coverage`: include the inputs that earlier runs have gathered.
    #[arg(long)]
    gathered: bool,
}

/// Exit status of a libFuzzer program that was ended by SIGINT or SIGTERM; it has printed its
/// statistics.
const INTERRUPTED: i32 = 72;

/// Number of rounds in which the inputs to keep are selected when the corpus is minimised.
const ROUNDS: u32 = 3;

/// Result of fuzzing one target.
struct Outcome {
    name: String,
    executions: u64,
    seconds: u64,
    /// Processor time, in seconds.
    busy: f64,
    covered: u64,
    found: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let there = targets()?;
    if let Some(unknown) = options.targets.iter().find(|name| !there.contains(name)) {
        return Err(format!(
            "unknown target `{unknown}`; known targets: {}",
            there.join(", ")
        ));
    }
    if options.coverage {
        return coverage::show(options.gathered.then(gathered));
    }
    let chosen = if options.targets.is_empty() {
        &there
    } else {
        &options.targets
    };
    if options.keep {
        return chosen.iter().try_for_each(|name| keep(name, options));
    }
    if options.minimise {
        return chosen.iter().try_for_each(|name| minimise(name, options));
    }
    let mut outcomes = Vec::new();
    for name in chosen {
        println!("fuzz: {name}, for {} s", options.seconds);
        outcomes.push(fuzz(name, options)?);
    }
    println!(
        "| target | executions | seconds | a second of the processor | edges covered | found |"
    );
    println!("|---|--:|--:|--:|--:|---|");
    for one in &outcomes {
        println!(
            "| {} | {} | {} | {:.0} | {} | {} |",
            one.name,
            one.executions,
            one.seconds,
            rate(one.executions, one.busy),
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

#[allow(clippy::cast_precision_loss)] // Shown in whole numbers.
fn rate(executions: u64, seconds: f64) -> f64 {
    executions as f64 / seconds.max(0.01)
}

/// Returns the targets' names: each has a folder in the corpus.
fn targets() -> Result<Vec<String>> {
    let mut names = names_in(&root().join("fuzz/corpus"))?;
    names.sort();
    Ok(names)
}

/// Returns the folder of the compilers' output.
fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Returns the folder of the inputs that libFuzzer finds. It lies outside the source tree, so that
/// the corpus there stays small.
fn gathered() -> PathBuf {
    target_folder().join("fuzz")
}

/// Compiler flags that make programs count the edges that they execute, in the form that libFuzzer
/// reads.
const COUNTED: &str = "--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Builds a target's program, and returns its path.
fn build(name: &str, options: &Options) -> Result<PathBuf> {
    // Each kind of build has a folder of its own, so that they do not rebuild each other's output.
    let (folder, more) = match options.careful {
        true => (
            "libfuzzer-careful",
            " -Zsanitizer=address -Cdebug-assertions",
        ),
        false => ("libfuzzer", ""),
    };
    let folder = target_folder().join(folder);
    let host = host()?;
    let mut build = Command::new("cargo");
    build
        .args(["+nightly", "build", "--release", "--bin", name])
        // Flags for a named machine are not those of build scripts and macros.
        .args(["--target", &host])
        .arg("--target-dir")
        .arg(&folder)
        .env("RUSTFLAGS", format!("{COUNTED}{more}"))
        .current_dir(root().join("fuzz/libfuzzer"));
    succeed(&mut build).map_err(|error| {
        format!(
            "{error}\n{name} was not built: are there a nightly compiler and a compiler of C++?"
        )
    })?;
    Ok(folder.join(host).join("release").join(name))
}

/// Returns the compiler's name of this machine.
fn host() -> Result<String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(|error| format!("rustc could not be started: {error}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc does not name its host".to_owned())
}

fn fuzz(name: &str, options: &Options) -> Result<Outcome> {
    let (root, program) = (root(), build(name, options)?);
    let artifacts = root.join("fuzz/libfuzzer/artifacts").join(name);
    let grown = gathered().join(name);
    for folder in [&grown, &artifacts] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let (began, busy) = (Instant::now(), children_were_busy());
    let mut fuzz = Command::new(program);
    fuzz.args([&grown, &root.join("fuzz/corpus").join(name)])
        .args(["-print_final_stats=1", "-timeout=60"])
        .args(["-rss_limit_mb=2048", "-malloc_limit_mb=256"])
        .arg(format!("-max_len={}", options.longest))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(format!("-max_total_time={}", options.seconds))
        .args(dictionary(&root, name));
    if let Some(most) = options.executions {
        fuzz.arg(format!("-runs={most}")).arg("-use_counters=0");
    }
    if options.careful {
        fuzz.arg("-use_value_profile=1");
    }
    let run = fuzz
        .current_dir(&root)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name} could not be started: {error}"))?;
    let told = String::from_utf8_lossy(&run.stderr);
    let Some(executions) = statistic(&told, "stat::number_of_executed_units:") else {
        let last: Vec<&str> = told.lines().rev().take(20).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        return Err(format!("{name} did not run\n{}", last.join("\n")));
    };
    let found = !run.status.success() && run.status.code() != Some(INTERRUPTED);
    if found {
        eprintln!("{told}");
    }
    Ok(Outcome {
        name: name.to_owned(),
        executions,
        seconds: began.elapsed().as_secs(),
        busy: children_were_busy() - busy,
        covered: told.lines().rev().find_map(covered).unwrap_or(0),
        found,
    })
}

/// Adds to a target's corpus those gathered inputs that increase its coverage.
fn keep(name: &str, options: &Options) -> Result<()> {
    let corpus = root().join("fuzz/corpus").join(name);
    merge(name, options, &corpus, &gathered().join(name))
}

/// Removes from a target's corpus those inputs without names of their own that do not increase the
/// coverage of the others.
fn minimise(name: &str, options: &Options) -> Result<()> {
    let corpus = root().join("fuzz/corpus").join(name);
    let smaller = target_folder().join("fuzz-minimised").join(name);
    let failed = |error| format!("{}: {error}", smaller.display());
    if smaller.exists() {
        fs::remove_dir_all(&smaller).map_err(failed)?;
    }
    fs::create_dir_all(&smaller).map_err(failed)?;
    let before = names_in(&corpus)?;
    for input in before.iter().filter(|input| has_name(input)) {
        fs::copy(corpus.join(input), smaller.join(input)).map_err(failed)?;
    }
    // What an input reaches depends a little on those before it: further rounds bring back what is
    // missing without them.
    for _ in 0..ROUNDS {
        merge(name, options, &smaller, &corpus)?;
    }
    let after = names_in(&smaller)?;
    let (kept, left_out): (Vec<_>, Vec<_>) = before.iter().partition(|input| after.contains(input));
    for input in left_out {
        let input = corpus.join(input);
        fs::remove_file(&input).map_err(|error| format!("{}: {error}", input.display()))?;
    }
    println!("{name}: {} inputs of {}", kept.len(), before.len());
    Ok(())
}

/// Adds to the folder `into` the smallest set of inputs from another folder that increases its
/// coverage.
fn merge(name: &str, options: &Options, into: &Path, from: &Path) -> Result<()> {
    let program = build(name, options)?;
    let mut merge = Command::new(program);
    merge
        .args(["-set_cover_merge=1", "-use_counters=0", "-use_cmp=0"])
        .args([into, from]);
    succeed(&mut merge)
}

/// Returns the names of the entries of a folder.
fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.collect())
}

/// Returns whether an input has a name given by a person: libFuzzer names inputs by their SHA-1.
fn has_name(input: &str) -> bool {
    input.len() != 40 || !input.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Returns the processor time in seconds of the child processes that have been waited for. Unlike
/// the elapsed time, it does not grow with other load on the machine.
fn children_were_busy() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Fields from the third on, behind the program's name. Ticks are hundredths of a second.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(13).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// Returns the dictionary of a target, if it has one.
fn dictionary(root: &Path, name: &str) -> Option<String> {
    let list = root.join("fuzz/libfuzzer").join(format!("{name}.dict"));
    list.is_file().then(|| format!("-dict={}", list.display()))
}

fn statistic(told: &str, name: &str) -> Option<u64> {
    let line = told.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].trim().parse().ok()
}

/// Returns the number of covered edges in a progress line of libFuzzer: `#1234 NEW cov: 567 ft: …`.
fn covered(line: &str) -> Option<u64> {
    let (_, behind) = line.strip_prefix('#')?.split_once("cov: ")?;
    behind.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::has_name;

    #[test]
    fn an_input_with_a_name_is_not_one_that_libfuzzer_has_named() {
        assert!(has_name("union-chosen-by-wchar"));
        assert!(!has_name("da39a3ee5e6b4b0d3255bfef95601890afd80709"));
    }
}
