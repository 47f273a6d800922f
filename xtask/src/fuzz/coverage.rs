//! Line coverage, by the corpus, of the code that reads untrusted input.
//!
//! The test that gives the corpus to all targets is built with counters, its counts are merged, and
//! shown by LLVM's own tools (`rustup component add llvm-tools`), line by line.

use super::target_folder;
use crate::built::executables;
use crate::run::{Result, cargo, root, succeed};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Path prefix of the groups that implement wire formats.
const WIRE: &str = "crates/wire/";

/// Groups of files: a name, and the prefixes of the files' paths.
const GROUPS: &[(&str, &[&str])] = &[
    ("crates/wire/cdr", &["crates/wire/cdr/src"]),
    ("crates/wire/any", &["crates/wire/any/src"]),
    ("crates/wire/ior", &["crates/wire/ior/src"]),
    ("crates/wire/giop", &["crates/wire/giop/src"]),
    ("orb: messaging", &["crates/orb/orb/src/messaging"]),
    ("orb: server", &["crates/orb/orb/src/server"]),
    ("orb: references", &["crates/orb/orb/src/profile"]),
    (
        "orb: contexts",
        &[
            "crates/orb/orb/src/context.rs",
            "crates/orb/orb/src/invocation_policies.rs",
            "crates/orb/orb/src/lane/listen_points.rs",
        ],
    ),
    (
        "orb: calls back",
        &[
            "crates/orb/orb/src/lane/back.rs",
            "crates/orb/orb/src/lane/outgoing/callbacks/serve.rs",
        ],
    ),
    (
        "rt: contexts",
        &[
            "crates/orb/rt/src/at_priority.rs",
            "crates/orb/rt/src/context.rs",
            "crates/orb/rt/src/priority_model.rs",
            "crates/orb/rt/src/distributable/carried.rs",
            "crates/orb/rt/src/distributable/context.rs",
            "crates/orb/rt/src/distributable/upcall.rs",
        ],
    ),
    (
        "bridge",
        &[
            "crates/orb/bridge/src/bridge.rs",
            "crates/orb/bridge/src/rewrite",
            "crates/orb/bridge/src/targets.rs",
            "crates/orb/orb/src/relayed",
        ],
    ),
    (
        "orb: replies",
        &[
            "crates/orb/orb/src/lane/outgoing/calls/delivered.rs",
            "crates/orb/orb/src/lane/outgoing/receiving/receive.rs",
            "crates/orb/orb/src/lane/outgoing/calls/reply_table.rs",
            "crates/orb/orb/src/lane/outgoing/calls/slot.rs",
            "crates/orb/orb/src/lane/outgoing/wait",
            "crates/orb/orb/src/client/outcome.rs",
        ],
    ),
    (
        "link: shared memory",
        &[
            "crates/link/link/src/shmiop/incoming.rs",
            "crates/link/link/src/shmiop/reader.rs",
            "crates/link/link/src/shmiop/pool.rs",
            "crates/link/link/src/shmiop/allocator.rs",
        ],
    ),
    (
        "link: datagrams",
        &[
            "crates/link/link/src/datagram/peers.rs",
            "crates/link/link/src/reliable/handshake.rs",
            "crates/link/link/src/reliable/incoming.rs",
            "crates/link/link/src/reliable/machine.rs",
            "crates/link/link/src/reliable/outgoing.rs",
            "crates/link/link/src/reliable/wire.rs",
        ],
    ),
    (
        "link: packets of groups",
        &[
            "crates/link/link/src/miop/assembly.rs",
            "crates/link/link/src/miop/packet.rs",
        ],
    ),
    (
        "events: datagrams",
        &[
            "services/rtevent/service/src/federation/datagram/assembler.rs",
            "services/rtevent/service/src/federation/datagram/header.rs",
            "services/rtevent/service/src/federation/datagram/window.rs",
            "services/rtevent/service/src/wire/event.rs",
        ],
    ),
    ("tls: records", &["crates/link/tls/src/flow.rs"]),
    (
        "plugin: data from a library",
        &[
            "crates/link/plugin/src/host/checked.rs",
            "crates/link/plugin/src/host/connection.rs",
            "crates/link/plugin/src/host/opened.rs",
        ],
    ),
];

/// Files that are not counted, since they process no received data: the path, and the file's
/// purpose. A file that reads any such data is counted as a whole, including its code that writes.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "crates/wire/cdr/src/bulk/layout.rs",
        "how plain data lies in memory: constants, which the compiler evaluates",
    ),
    (
        "crates/wire/cdr/src/valuetype/generated.rs",
        "common parts of handles to values: constants, and conversions that programs ask for",
    ),
    (
        "crates/wire/any/src/description.rs",
        "interface descriptions of an Interface Repository: plain data, read by generated code",
    ),
    (
        "crates/wire/any/src/type_code/builder.rs",
        "types as generated code and programs make them: one that is received is made by `type_code/decode/`",
    ),
    (
        "crates/wire/any/src/type_code/construct.rs",
        "types as programs make them, by the builder",
    ),
    (
        "crates/wire/any/src/type_code/typed.rs",
        "types of Rust's own types, by the builder",
    ),
    (
        "crates/wire/any/src/any/environment.rs",
        "the ORB is set in an Any that a program has made",
    ),
    (
        "crates/orb/orb/src/profile/published.rs",
        "which of its own endpoints an ORB publishes: a policy of programs",
    ),
    (
        "crates/orb/orb/src/messaging/trace.rs",
        "-ORBTrace giop as it prints, where somebody asks for it: how a message reads is `giop/src/trace.rs`, which is counted",
    ),
    (
        "crates/orb/orb/src/messaging/outbox.rs",
        "outgoing messages: whole, in fragments, with lent memory",
    ),
    (
        "crates/orb/orb/src/messaging/protocol.rs",
        "the traits of a protocol; their default bodies are for protocols without batches, which no target has",
    ),
    (
        "crates/orb/orb/src/server/accept.rs",
        "connections are accepted, or refused for want of room: of their octets none has been received",
    ),
    (
        "crates/orb/orb/src/server/adapter.rs",
        "the trait of an object adapter; its default bodies are for adapters without objects here",
    ),
    (
        "crates/orb/orb/src/server/around.rs",
        "the trait of hooks around upcalls; its default bodies are for hooks without an upcall",
    ),
    (
        "crates/orb/orb/src/server/concurrency/named.rs",
        "hands each question on to the strategy of a connection",
    ),
    (
        "crates/orb/orb/src/server/concurrency/outbox.rs",
        "replies that wait until their socket has room for them",
    ),
    (
        "crates/orb/orb/src/server/concurrency/per_connection.rs",
        "how many threads a connection has, and what they send: `blocking.rs` receives",
    ),
    (
        "crates/orb/orb/src/server/concurrency/reactor.rs",
        "waits on descriptors, watches terms and sends: `ready.rs` receives",
    ),
    (
        "crates/orb/orb/src/server/hand_over.rs",
        "calls to a connection from the lane's clock, the ORB's shutdown and servants that call others",
    ),
    (
        "crates/orb/orb/src/server/host.rs",
        "the adapters that requests are for, which are fixed when the ORB begins to listen",
    ),
    (
        "crates/orb/orb/src/server/panics.rs",
        "the process's panic hook, which libFuzzer has for itself: what a servant did, and not what it was sent",
    ),
    (
        "crates/orb/orb/src/server/refusal.rs",
        "answers while all threads are busy, independent of the requests",
    ),
    (
        "crates/orb/orb/src/lane/outgoing/wait/reactor.rs",
        "waits on descriptors: `ready.rs` receives",
    ),
    (
        "crates/orb/orb/src/lane/outgoing/wait/strategy.rs",
        "hands each question on to how a connection's callers wait",
    ),
];

/// Coverage of a file, in percent, below which its uncovered lines are listed.
const ENOUGH: f64 = 95.0;

/// Number of executions of each line of a file, by line number.
type Lines = BTreeMap<u32, u64>;

/// Prints a table of the coverage, and the uncovered lines. Inputs in the folder `gathered` are
/// used in addition to the corpus.
pub(super) fn show(gathered: Option<PathBuf>) -> Result<()> {
    let folder = target_folder().join("fuzz-coverage");
    let counts = folder.join("counts");
    let _ = fs::remove_dir_all(&counts);
    let program = build(&folder)?;
    let mut replay = Command::new(&program);
    replay.env("LLVM_PROFILE_FILE", counts.join("%p.profraw"));
    if let Some(gathered) = gathered {
        replay.env("PUNCTUAL_FUZZ_GATHERED", gathered);
    }
    succeed(replay.current_dir(root().join("fuzz")))?;
    let mut files = lines(&program, &counts)?;
    leave_out(&mut files, LEFT_OUT)?;
    table(&files);
    missing(&files);
    println!("not counted:");
    for (file, reason) in LEFT_OUT {
        println!("  {file}: {reason}");
    }
    Ok(())
}

/// Builds, with execution counters, the test that runs all targets on their corpus.
fn build(folder: &Path) -> Result<PathBuf> {
    let mut test = cargo();
    test.args([
        "test",
        "-p",
        "punctual-fuzz",
        "--test",
        "replay",
        "--no-run",
    ]);
    test.env("CARGO_TARGET_DIR", folder)
        .env("RUSTFLAGS", "-C instrument-coverage")
        // Build scripts and macros write counts, too.
        .env("LLVM_PROFILE_FILE", folder.join("build-%p.profraw"));
    let built = executables(&mut test);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().extension() == Some(OsStr::new("profraw")) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let replay = built?.pop().map(|one| one.file);
    replay.ok_or_else(|| "the test `replay` was not built".to_owned())
}

/// Returns the path of a tool of the compiler's own LLVM.
fn tool(name: &str) -> Result<PathBuf> {
    let output = Command::new("rustc")
        .args(["--print", "target-libdir"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("rustc could not be started: {error}"))?;
    let libraries = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let tool = libraries.with_file_name("bin").join(name);
    match tool.is_file() {
        true => Ok(tool),
        false => Err(format!(
            "there is no {}; `rustup component add llvm-tools`",
            tool.display()
        )),
    }
}

/// Returns the execution counts of the lines of each file.
fn lines(program: &Path, counts: &Path) -> Result<BTreeMap<String, Lines>> {
    let merged = counts.join("merged.profdata");
    let raw = fs::read_dir(counts).map_err(|error| format!("{}: {error}", counts.display()))?;
    let raw = raw.flatten().map(|entry| entry.path());
    succeed(
        Command::new(tool("llvm-profdata")?)
            .args(["merge", "--sparse", "-o"])
            .arg(&merged)
            .args(raw),
    )?;
    let mut export = Command::new(tool("llvm-cov")?);
    export
        .args(["export", "--format=lcov", "--skip-functions"])
        .arg(format!("--instr-profile={}", merged.display()))
        .arg(program);
    let output = export.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!(
            "llvm-cov: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout), &root()))
}

/// Reads execution counts from the lines `SF:file` and `DA:line,count`.
fn parse(told: &str, root: &Path) -> BTreeMap<String, Lines> {
    let mut files: BTreeMap<String, Lines> = BTreeMap::new();
    let mut file = None;
    for line in told.lines() {
        if let Some(path) = line.strip_prefix("SF:") {
            let inside = Path::new(path).strip_prefix(root).ok();
            file = inside.map(|path| path.display().to_string());
        } else if let (Some(file), Some(counted)) = (&file, line.strip_prefix("DA:"))
            && let Some((line, count)) = counted.split_once(',')
            && let (Ok(line), Ok(count)) = (line.parse(), count.parse::<u64>())
        {
            let lines = files.entry(file.clone()).or_default();
            *lines.entry(line).or_default() += count;
        }
    }
    files
}

/// Removes the files that are not to be counted. A listed file that does not exist is an error: it
/// has been moved, and would be counted again.
fn leave_out(files: &mut BTreeMap<String, Lines>, list: &[(&str, &str)]) -> Result<()> {
    for (file, _) in list {
        if files.remove(*file).is_none() {
            return Err(format!(
                "{file} is to be left out, and no such file has lines that count"
            ));
        }
    }
    Ok(())
}

/// Returns the source files below the paths of a group, with their coverage.
fn of_group<'f>(
    files: &'f BTreeMap<String, Lines>,
    paths: &'f [&str],
) -> impl Iterator<Item = (&'f String, &'f Lines)> {
    let is_meant = |file: &str| paths.iter().any(|path| Path::new(file).starts_with(path));
    files.iter().filter(move |(file, _)| is_meant(file))
}

fn table(files: &BTreeMap<String, Lines>) {
    println!("| code | lines | executed | share |");
    println!("|---|--:|--:|--:|");
    let row = |name: &str, (all, executed): (usize, usize)| {
        let share = share(executed, all);
        println!("| {name} | {all} | {executed} | {share:.1} % |");
    };
    let (mut of_wire, mut of_others) = ((0, 0), (0, 0));
    for (name, paths) in GROUPS {
        let counted = of_group(files, paths).fold((0, 0), |(all, executed), (_, lines)| {
            let reached = lines.values().filter(|count| **count > 0).count();
            (all + lines.len(), executed + reached)
        });
        row(name, counted);
        let sum = match name.starts_with(WIRE) {
            true => &mut of_wire,
            false => &mut of_others,
        };
        *sum = (sum.0 + counted.0, sum.1 + counted.1);
    }
    row("**crates/wire together**", of_wire);
    row("**what receives, together**", of_others);
}

#[allow(clippy::cast_precision_loss)] // Lines are few.
fn share(executed: usize, all: usize) -> f64 {
    100.0 * executed as f64 / all.max(1) as f64
}

/// Prints the uncovered lines of the files whose coverage is too low.
fn missing(files: &BTreeMap<String, Lines>) {
    for (_, paths) in GROUPS {
        for (file, lines) in of_group(files, paths) {
            let executed = lines.values().filter(|count| **count > 0).count();
            let share = share(executed, lines.len());
            if share < ENOUGH {
                println!("{share:5.1} %  {file}: {}", ranges(lines));
            }
        }
    }
}

/// Returns the lines that were not executed, as ranges of line numbers.
fn ranges(lines: &Lines) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let mut was_missing = false;
    for (&line, &count) in lines {
        match (count, ranges.last_mut()) {
            (0, Some(last)) if was_missing => last.1 = line,
            (0, _) => ranges.push((line, line)),
            _ => {}
        }
        was_missing = count == 0;
    }
    let shown = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_left_out_has_to_be_there_and_to_have_a_reason() {
        for (file, reason) in LEFT_OUT {
            assert!(root().join(file).is_file(), "{file}");
            assert!(!reason.is_empty(), "{file}");
        }
        let lines = Lines::from([(1, 0)]);
        let mut files = BTreeMap::from([
            ("a.rs".to_owned(), lines.clone()),
            ("b.rs".to_owned(), lines),
        ]);
        assert!(leave_out(&mut files, &[("a.rs", "it writes")]).is_ok());
        assert_eq!(files.keys().collect::<Vec<_>>(), ["b.rs"]);
        assert!(leave_out(&mut files, &[("a.rs", "it writes")]).is_err());
    }

    #[test]
    fn what_is_counted_is_there_and_only_what_would_be_counted_is_left_out() {
        let counted: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, paths)| *paths)
            .copied()
            .collect();
        for path in &counted {
            assert!(root().join(path).exists(), "{path}");
            let twice = counted
                .iter()
                .filter(|one| Path::new(path).starts_with(one));
            assert_eq!(twice.count(), 1, "{path} is counted twice");
        }
        for (file, _) in LEFT_OUT {
            let is_within = |path: &&str| Path::new(file).starts_with(path);
            assert!(counted.iter().any(is_within), "{file} is in no group");
            assert!(
                !counted.contains(file),
                "{file} is in a group by its own name"
            );
        }
    }

    #[test]
    fn lines_are_added_up_and_those_in_a_row_named_together() {
        let told = "SF:/x/a.rs\nDA:1,5\nDA:2,0\nDA:3,0\nDA:5,0\nDA:9,1\nDA:10,0\nend_of_record\n\
                    SF:/y/b.rs\nDA:1,0\nend_of_record\nSF:/x/a.rs\nDA:10,0\nDA:9,1\n";
        let files = parse(told, Path::new("/x"));
        assert_eq!(files.keys().collect::<Vec<_>>(), ["a.rs"]);
        assert_eq!(files["a.rs"][&9], 2);
        assert_eq!(ranges(&files["a.rs"]), "2-5, 10");
    }
}
