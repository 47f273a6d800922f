//! Measurements that claims need, each a command of this program.

use crate::Result;
use crate::child;
use crate::contender::Harness;
use crate::machine::Machine;
use rustix::process::{self, Pid, Signal};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// Command of this program whose figures claims need.
#[derive(Debug)]
pub(super) struct Measurement {
    /// Name by which claims refer to it, and of its files.
    pub(super) name: &'static str,
    /// Quantity that it measures.
    pub(super) about: &'static str,
    pub(super) origin: Origin,
    /// True if the command can draw its figures (`--svg`).
    pub(super) draws: bool,
    /// Seconds that a whole run and a quick one took on a machine of two processors.
    pub(super) seconds: [u32; 2],
}

/// Origin of a measurement's figures.
#[derive(Debug)]
pub(super) enum Origin {
    /// This program runs the command, and in a quick run adds options.
    Run {
        command: &'static str,
        quick: &'static str,
    },
    /// The report lies in the folder once somebody ran this command.
    Folder { command: &'static str },
}

/// Report of a measurement, with the command that made it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    command: Vec<String>,
    /// Machine and program that measured.
    made_by: String,
    /// Time that the measurement took.
    pub(super) took: Duration,
    /// JSON of the report.
    pub(super) report: Value,
    /// True if an earlier run has measured it.
    #[serde(skip)]
    pub(super) is_old: bool,
}

impl Kept {
    /// Makes what is kept of another program's report.
    pub(super) fn of_another_program(report: Value) -> Self {
        Self {
            command: Vec::new(),
            made_by: String::new(),
            took: Duration::ZERO,
            report,
            is_old: true,
        }
    }

    /// Returns the machine that measured, if the report says which.
    pub(super) fn machine(&self) -> Option<Machine> {
        Machine::deserialize(self.report.get("machine")?).ok()
    }
}

impl Measurement {
    /// Returns the command line, as people enter it.
    pub(super) fn command(&self, quick: bool) -> String {
        match self.origin {
            Origin::Run { .. } => format!("punctual bench {}", self.arguments(quick).join(" ")),
            Origin::Folder { command } => command.to_owned(),
        }
    }

    /// Returns the command and its options, if this program runs it. Options of a quick run replace the command's.
    fn arguments(&self, is_quick: bool) -> Vec<&'static str> {
        let (command, quick) = match self.origin {
            Origin::Run { command, quick } if is_quick => (command, quick),
            Origin::Run { command, .. } => (command, ""),
            Origin::Folder { .. } => ("", ""),
        };
        let quick: Vec<&str> = quick.split_whitespace().collect();
        let mut arguments = Vec::new();
        let mut words = command.split_whitespace();
        while let Some(word) = words.next() {
            match word.starts_with("--") && quick.contains(&word) {
                true => drop(words.next()),
                false => arguments.push(word),
            }
        }
        [arguments, quick].concat()
    }

    /// Returns the name of the file of the drawing, if the command makes one.
    pub(super) fn drawing(&self) -> Option<String> {
        self.draws.then(|| format!("{}.svg", self.name))
    }

    /// Returns the name of the file of the drawing, if the folder has it.
    pub(super) fn drawn(&self, folder: &Path) -> Option<String> {
        self.drawing().filter(|file| folder.join(file).is_file())
    }

    /// Returns whether another program makes the report.
    pub(super) const fn is_elsewhere(&self) -> bool {
        matches!(self.origin, Origin::Folder { .. })
    }

    /// Returns how long a run is expected to take: nothing if the report is taken from the folder.
    pub(super) fn expected(&self, quick: bool) -> Duration {
        let [whole, hasty] = self.seconds;
        Duration::from_secs(u64::from(if quick { hasty } else { whole }))
    }

    /// Returns the report of an earlier run by the same command, or measures, and keeps the report. What this program does
    /// not measure is taken from the folder.
    ///
    /// # Errors
    /// The reason why there is no report.
    pub(super) fn measure(
        &self,
        harness: &Harness,
        folder: &Path,
        quick: bool,
        again: bool,
    ) -> std::result::Result<Kept, String> {
        let before = self.measured_before(harness, folder, quick);
        if before.is_ok() && !again || self.is_elsewhere() {
            return before;
        }
        let file = self.file(folder);
        let command = self.arguments(quick);
        let limit = LEAST_LIMIT.max(self.expected(quick) * TIMES_EXPECTED);
        let measured = self.measure_now(harness, folder, &command, limit);
        let kept = measured.map_err(|error| error.to_string())?;
        write_whole(&file, &kept).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(kept)
    }

    /// Returns the report that the folder has of an earlier run by the same command, or of another program.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(super) fn measured_before(
        &self,
        harness: &Harness,
        folder: &Path,
        quick: bool,
    ) -> std::result::Result<Kept, String> {
        let file = self.file(folder);
        if let Origin::Folder { command } = self.origin {
            return taken(&file, command);
        }
        let kept = read(&file)
            .filter(|kept| kept.command == self.arguments(quick) && kept.made_by == maker(harness));
        let kept = kept.ok_or("not measured by this program on this machine")?;
        Ok(Kept {
            is_old: true,
            ..kept
        })
    }

    fn file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.json", self.name))
    }

    fn measure_now(
        &self,
        harness: &Harness,
        folder: &Path,
        command: &[&str],
        limit: Duration,
    ) -> Result<Kept> {
        let begun = Instant::now();
        let mut program = Command::new(&harness.program);
        program.args(command).arg("--json");
        program.env(child::PARENT, std::process::id().to_string());
        if let Some(drawing) = self.drawing() {
            program.arg("--svg").arg(folder.join(drawing));
        }
        let (output, last) = run(&mut program, limit)?;
        match serde_json::from_slice(&output.stdout) {
            Ok(report) if output.status.success() => Ok(Kept {
                command: command.iter().map(ToString::to_string).collect(),
                made_by: maker(harness),
                took: begun.elapsed(),
                report,
                is_old: false,
            }),
            Ok(_) | Err(_) => Err(last.into()),
        }
    }
}

/// Time after which a command is ended: so many times what it is expected to take, and this at least. A peer that does not
/// answer would keep it for ever.
const TIMES_EXPECTED: u32 = 10;
const LEAST_LIMIT: Duration = Duration::from_mins(10);

/// Runs a program until it ends. Returns its output, and its last error.
///
/// # Errors
/// It does not start, or was ended after the limit, with all that it had started.
fn run(program: &mut Command, limit: Duration) -> Result<(Output, String)> {
    let mut child = program
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // What it starts is in its group, and ends with it.
        .process_group(0)
        .spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (has_ended, ends) = mpsc::channel::<()>();
    let watchdog = thread::spawn(move || {
        let is_late = ends.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        if let Some(group) = group.filter(|_| is_late) {
            let _ = process::kill_process_group(group, Signal::KILL);
        }
        is_late
    });
    let errors = child.stderr.take();
    let shown = thread::spawn(move || errors.map_or_else(String::new, pass_on));
    let output = child.wait_with_output();
    let last = shown.join().unwrap_or_default();
    drop(has_ended);
    match watchdog.join() {
        Ok(true) => Err(format!("it had not ended after {} s", limit.as_secs()).into()),
        _ => Ok((output?, last)),
    }
}

/// Returns the machine, and the program's length and the time when it was built: another build has other figures.
fn maker(harness: &Harness) -> String {
    let built = fs::metadata(&harness.program).and_then(|file| Ok((file.len(), file.modified()?)));
    let built = built.map_or_else(
        |error| error.to_string(),
        |(length, built)| {
            let since = built.duration_since(SystemTime::UNIX_EPOCH);
            format!(
                "{length} bytes of {} s",
                since.unwrap_or_default().as_secs()
            )
        },
    );
    format!("{}, {built}", Machine::this())
}

/// Passes lines of progress and errors on as they come, and returns the last error, or the last line if none is one.
fn pass_on(errors: ChildStderr) -> String {
    let (mut last, mut error) = (String::new(), None);
    for line in BufReader::new(errors).lines().map_while(io::Result::ok) {
        eprintln!("    {line}");
        // The command line's errors are followed by advice.
        if let Some(why) = line.strip_prefix("error: ") {
            error = Some(why.to_owned());
        }
        last = line;
    }
    error.unwrap_or(last)
}

/// Reads the report that a command left in a file.
fn taken(file: &Path, command: &str) -> std::result::Result<Kept, String> {
    let said = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = fs::read(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            format!("{} is not there, which `{command}` makes", file.display())
        }
        _ => said(&error),
    })?;
    let report = serde_json::from_slice(&text).map_err(|error| said(&error))?;
    Ok(Kept::of_another_program(report))
}

fn read(file: &Path) -> Option<Kept> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Writes a file that is there whole or not at all.
fn write_whole(file: &Path, kept: &Kept) -> Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, serde_json::to_vec(kept)?)?;
    Ok(fs::rename(new, file)?)
}

#[cfg(test)]
mod tests {
    use super::super::measurements::ALL;
    use super::*;

    fn kept(command: &[&str]) -> Kept {
        Kept {
            command: command.iter().map(ToString::to_string).collect(),
            made_by: maker(&nothing()),
            took: Duration::from_secs(1),
            report: Value::Null,
            is_old: false,
        }
    }

    /// Harness whose program does not exist: it measures nothing.
    fn nothing() -> Harness {
        Harness {
            program: "/nonexistent".into(),
            peers: "/nonexistent".into(),
        }
    }

    /// Command line of the program.
    #[derive(Debug, clap::Parser)]
    struct Program {
        #[command(subcommand)]
        _command: crate::command::Command,
    }

    #[test]
    fn each_measurement_is_a_command_that_the_program_has() {
        for (one, quick) in ALL.iter().flat_map(|one| [(one, false), (one, true)]) {
            let line = one.command(quick);
            let Some(line) = line.strip_prefix("punctual bench ") else {
                assert!(line.starts_with("cargo xtask "), "{line}");
                continue;
            };
            if line.starts_with("events ") && cfg!(not(feature = "events")) {
                continue;
            }
            let mut words = vec!["punctual-bench"];
            words.extend(line.split(' '));
            let drawing = one.drawing();
            if let (Origin::Run { .. }, Some(drawing)) = (&one.origin, &drawing) {
                words.extend(["--json", "--svg", drawing]);
            }
            let parsed = <Program as clap::Parser>::try_parse_from(&words);
            assert!(parsed.is_ok(), "{}: {parsed:?}", one.name);
        }
    }

    #[test]
    fn options_of_a_quick_run_replace_those_of_a_whole_one() {
        let one = ALL.iter().find(|one| one.name == "copies").unwrap();
        let (whole, quick) = (one.command(false), one.command(true));
        assert!(
            whole.contains("--calls 50") && !whole.contains("--calls 20"),
            "{whole}"
        );
        assert!(
            quick.contains("--calls 20") && !quick.contains("--calls 50"),
            "{quick}"
        );
        assert_eq!(whole.split(' ').count(), quick.split(' ').count());
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_with_all_that_it_has_started() {
        // The output of both ends only as both have ended.
        let mut program = Command::new("sh");
        program.args(["-c", "sleep 100000 & sleep 100000"]);
        let error = run(&mut program, Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.to_string(), "it had not ended after 0 s");
        let mut program = Command::new("sh");
        program.args(["-c", "echo done; echo 'error: bad' >&2"]);
        let (output, last) = run(&mut program, Duration::MAX).unwrap();
        assert_eq!((&output.stdout[..], last.as_str()), (&b"done\n"[..], "bad"));
    }

    #[test]
    fn figures_of_another_program_are_taken_from_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let one = ALL.iter().find(|one| one.name == "footprint").unwrap();
        let measure = || one.measure(&nothing(), folder.path(), false, false);
        let absent = measure().unwrap_err();
        assert!(absent.contains("cargo xtask footprint"), "{absent}");
        let file = folder.path().join("footprint.json");
        fs::write(&file, b"{\"rows\":").unwrap();
        let broken = measure().unwrap_err();
        assert!(broken.contains("footprint.json: EOF"), "{broken}");
        fs::write(&file, b"{\"rows\":[]}").unwrap();
        assert_eq!(measure().unwrap().report["rows"], Value::Array(Vec::new()));
    }

    #[test]
    fn what_the_same_command_has_measured_is_taken_and_other_figures_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let one = &ALL[0];
        let measure = |quick, again| one.measure(&nothing(), folder.path(), quick, again);
        assert!(measure(true, false).is_err());
        let file = folder.path().join(format!("{}.json", one.name));
        write_whole(&file, &kept(&one.arguments(true))).unwrap();
        assert!(measure(true, false).unwrap().is_old);
        let elsewhere = Kept {
            made_by: "another machine".to_owned(),
            ..kept(&one.arguments(true))
        };
        write_whole(&file, &elsewhere).unwrap();
        assert!(measure(true, false).is_err());
        write_whole(&file, &kept(&one.arguments(true))).unwrap();
        assert!(measure(false, false).is_err(), "a whole run needs more");
        assert!(measure(true, true).is_err());
        fs::write(&file, b"{").unwrap();
        assert!(measure(true, false).is_err(), "the file is broken");
    }
}
