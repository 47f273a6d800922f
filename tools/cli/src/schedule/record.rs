//! `punctual schedule record`.

use super::measured_file::read_measured;
use super::source::print_json;
use crate::fail;
use crate::shown::peer;
use punctual_scheduling::Time;
use punctual_scheduling::measured::{Margin, MeasuredModel, Measurements, model_of};
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

/// Options of `punctual schedule record`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Added to the longest execution times, in hundredths of them.
    #[arg(long, value_name = "PERCENT", default_value = "20%")]
    margin: Margin,
    /// File for the model; without it, it is printed.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Use what `-ORBRecord FILE` has measured, instead of running a program.
    #[arg(long, value_name = "FILE", conflicts_with = "program")]
    from: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The program and its arguments, behind `--`. It is run with `-ORBRecord`; its upcalls are measured
    /// until its ORB shuts down.
    #[arg(last = true, value_name = "PROGRAM", required_unless_present = "from")]
    program: Vec<String>,
}

/// Result in JSON.
#[derive(Serialize)]
struct Recorded<'r> {
    file: Option<&'r Path>,
    margin: String,
    not_recorded: u64,
    /// Number of operations in the model.
    modelled: usize,
    remarks: &'r [String],
    operations: Vec<RecordedOperation<'r>>,
    model: &'r str,
}

/// Measured operation in JSON.
#[derive(Serialize)]
struct RecordedOperation<'r> {
    name: &'r str,
    jobs: u64,
    execution: Time,
    distance: Time,
    jitter: Time,
    response: Time,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let (measured, status) = match &options.from {
        Some(file) => (read_measured(file)?, ExitCode::SUCCESS),
        None => run_program(&options.program)?,
    };
    if measured.operations.is_empty() {
        return Err(fail(
            "no operation was measured, of which a model could be made",
            Some("call the server's operations while it records, and end it by Orb::shutdown"),
        ));
    }
    let model = model_of(&measured, options.margin);
    tell_remarks(&model);
    if model.operations == 0 {
        return Err(fail(
            "no model can be made of the measured operations",
            Some("call each of them several times while the server records"),
        ));
    }
    if let Some(file) = &options.output {
        std::fs::write(file, &model.text)
            .map_err(|error| fail(format!("{}: {error}", file.display()), None))?;
    }
    match (options.json, &options.output) {
        (true, file) => print_json(&Recorded {
            file: file.as_deref(),
            margin: options.margin.to_string(),
            not_recorded: measured.not_recorded,
            modelled: model.operations,
            remarks: &model.remarks,
            operations: measured.operations.iter().map(Into::into).collect(),
            model: &model.text,
        })?,
        (false, None) => print!("{}", model.text),
        (false, Some(file)) => {
            let (operations, file) = (counted(model.operations), file.display());
            anstream::println!(
                "{file} is made of {operations}; `punctual schedule check` proves their deadlines"
            );
        }
    }
    Ok(status)
}

/// Tells which operations are not in the model, or not as they were measured.
fn tell_remarks(model: &MeasuredModel) {
    let warning = anstyle::AnsiColor::Yellow.on_default().bold();
    for remark in &model.remarks {
        anstream::eprintln!("{warning}warning{warning:#}: {}", peer(remark));
    }
}

fn counted(operations: usize) -> String {
    match operations {
        1 => "1 measured operation".to_owned(),
        count => format!("{count} measured operations"),
    }
}

/// Runs a program to its end. Returns what it measured, and the exit status: 1 if it failed.
fn run_program(program: &[String]) -> Result<(Measurements, ExitCode), ExitCode> {
    let folder = tempfile::tempdir().map_err(|error| fail(error, None))?;
    let file = folder.path().join("measured.json");
    let name = program.first().map_or("", String::as_str);
    let status = ended(program, &file).map_err(|error| {
        fail(
            format!("`{name}` cannot be run: {error}"),
            Some("give the path of the program behind `--`"),
        )
    })?;
    if !file.exists() {
        return Err(fail(
            format!("`{name}` has ended with {status}, and has measured nothing"),
            Some(
                "it passes its arguments to Orb::init, and ends by Orb::shutdown, for example in Orb::run_until with StopSignals",
            ),
        ));
    }
    let measured = read_measured(&file)?;
    if status.success() {
        return Ok((measured, ExitCode::SUCCESS));
    }
    let help = "what it measured until then is used";
    Ok((
        measured,
        fail(format!("`{name}` has ended with {status}"), Some(help)),
    ))
}

/// Runs a program until it ends; SIGTERM is passed on to it, and SIGINT comes to it from the
/// terminal.
fn ended(program: &[String], file: &Path) -> io::Result<ExitStatus> {
    let (name, arguments) = program
        .split_first()
        .ok_or_else(|| io::Error::other("no program is given"))?;
    let mut signals = Signals::new([SIGCHLD, SIGINT, SIGTERM])?;
    let mut child = Command::new(name)
        .args(arguments)
        .arg("-ORBRecord")
        .arg(file)
        .spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        for signal in signals.wait() {
            if signal == SIGTERM {
                // The child has not been waited for, so the number is its own.
                kill_process(Pid::from_child(&child), Signal::TERM)?;
            }
        }
    }
}

impl<'r> From<&'r punctual_scheduling::measured::MeasuredOperation> for RecordedOperation<'r> {
    fn from(one: &'r punctual_scheduling::measured::MeasuredOperation) -> Self {
        Self {
            name: &one.name,
            jobs: one.execution.count,
            execution: one.execution.max,
            distance: one.distance.min,
            jitter: one.jitter(),
            response: one.response.max,
        }
    }
}
