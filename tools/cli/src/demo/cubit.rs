//! Calls: a server and a client, each a process of its own, and real calls between them.
//!
//! Both are the `cubit` example; this command contains its server and its client and starts itself
//! twice, so that nothing else must be built or found.

use super::owned::Owned;
use crate::fail;
use indicatif::{ProgressBar, ProgressStyle};
use punctual_example_cubit::{calls::Timing, client, main_with, server};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Calls of the demonstration of calls.
#[derive(Debug, clap::Args)]
pub(super) struct Calls {
    /// Calls of each kind.
    #[arg(
        short = 'n', long, default_value_t = 5000,
        value_parser = clap::value_parser!(u64).range(1..=10_000_000)
    )]
    calls: u64,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
    /// Print each message on standard error: `giop`, `hex`, `payload`, with commas between.
    #[arg(long, value_name = "WHAT")]
    trace: Option<String>,
}

/// First arguments with which the command starts itself as server and as client; not meant for
/// users.
const SERVER: &str = "demo-server";
const CLIENT: &str = "demo-client";
/// Time limit for the start of the server.
const START: Duration = Duration::from_secs(20);

/// Runs the server or the client, if the arguments request one of them.
pub(super) fn run_part(arguments: &[String]) -> Option<ExitCode> {
    let mut arguments = arguments.to_vec();
    let part = arguments.get(1)?.clone();
    match part.as_str() {
        SERVER => {
            arguments.remove(1);
            Some(main_with(arguments, server::run))
        }
        CLIENT => {
            arguments.remove(1);
            Some(main_with(arguments, client::run))
        }
        _ => None,
    }
}

pub(super) fn run(options: &Calls) -> ExitCode {
    match demonstrate(options) {
        Ok(timings) if options.json => match serde_json::to_string_pretty(&timings) {
            Ok(json) => {
                println!("{json}");
                ExitCode::SUCCESS
            }
            Err(error) => fail(error, None),
        },
        Ok(timings) => {
            print!("{}", client::table(&timings));
            let calls: u64 = timings.iter().map(|timing| timing.calls).sum();
            println!("\n{calls} calls between two processes over TCP, every answer correct");
            if cfg!(debug_assertions) {
                println!(
                    "(built without optimisation, as it builds soonest: `cargo run --release` makes faster calls)"
                );
            }
            ExitCode::SUCCESS
        }
        Err(problem) => fail(problem, None),
    }
}

fn demonstrate(options: &Calls) -> Result<Vec<Timing>, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let reference = folder.path().join("cubit.ior");
    let progress = ProgressBar::new_spinner().with_style(ProgressStyle::default_spinner());
    progress.enable_steady_tick(Duration::from_millis(100));
    progress.set_message("starting the server");

    let mut server = start_server(options, &reference)?;
    wait_for_reference(&mut server.0, &reference)?;
    progress.set_message(format!("making {} calls of each kind", options.calls));
    let timings = run_client(options, &reference)?;
    progress.set_message("waiting for the server to end");
    let status = server
        .0
        .wait()
        .map_err(|error| format!("the server: {error}"))?;
    progress.finish_and_clear();
    if !status.success() {
        return Err(format!("the server ended with {status}"));
    }
    Ok(timings)
}

fn part(name: &str, options: &Calls) -> Result<Command, String> {
    let this = std::env::current_exe().map_err(|error| format!("this command's path: {error}"))?;
    let mut command = Command::new(this);
    command.arg(name);
    if let Some(trace) = &options.trace {
        command.args(["-ORBTrace", trace]);
    }
    Ok(command)
}

fn start_server(options: &Calls, reference: &Path) -> Result<Owned, String> {
    let mut command = part(SERVER, options)?;
    command
        .args(["-ORBListenEndpoints", "iiop://127.0.0.1:0", "--ior-file"])
        .arg(reference);
    let child = command.stdin(Stdio::null()).spawn();
    child
        .map(Owned)
        .map_err(|error| format!("starting the server: {error}"))
}

fn wait_for_reference(server: &mut Child, reference: &Path) -> Result<(), String> {
    let began = Instant::now();
    while !reference.exists() {
        if let Ok(Some(status)) = server.try_wait() {
            return Err(format!("the server ended with {status} before it served"));
        }
        if began.elapsed() > START {
            return Err(format!(
                "the server has not begun to serve within {START:?}"
            ));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn run_client(options: &Calls, reference: &Path) -> Result<Vec<Timing>, String> {
    let mut command = part(CLIENT, options)?;
    command
        .args([
            "--json",
            "--shutdown",
            "--calls",
            &options.calls.to_string(),
            "--ior",
        ])
        .arg(format!("file://{}", reference.display()));
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("starting the client: {error}"))?;
    if !output.status.success() {
        return Err(format!("the client ended with {}", output.status));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("the client's figures cannot be parsed: {error}"))
}
