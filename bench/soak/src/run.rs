//! Controller of the soak: starts the other processes, and causes the faults.

use crate::child::Process;
use crate::report::Report;
use crate::speech::Served;
use crate::watched::Watched;
use crate::work::{Load, Tally, Work, again_and_again};
use crate::{descriptors, kills, links, plot, repository, strangers};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Setting of glibc's allocator in each process: blocks of 128 KiB and more go back to the kernel
/// when they are freed. Otherwise the allocator raises that bound itself at the first larger block
/// that is freed, and each of its arenas keeps the most that messages of 1 MiB ever took at once:
/// growth that ends after half an hour and is not the ORB's.
const KEEPS_LITTLE: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "131072");

/// Options of the run.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Minutes of load after the warm-up.
    #[arg(long, default_value_t = 60.0, value_parser = minutes)]
    pub(crate) minutes: f64,
    /// Seed of the random numbers; with the same seed, each worker makes the same choices.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the report as JSON; with a file, write it there, and print the tables.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,
    /// Draw memory, threads and descriptors to this file.
    #[arg(long, value_name = "FILE", default_value = "target/soak/soak.svg")]
    plot: PathBuf,
    /// Fail where something cannot be done here, instead of skipping it.
    #[arg(long)]
    pub(crate) require: bool,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|_| "a number of minutes".to_owned())?;
    match (1.0..=24.0 * 60.0).contains(&minutes) {
        true => Ok(minutes),
        false => Err("1 to 1440 minutes".to_owned()),
    }
}

/// State shared by the controller's threads. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Soak(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    folder: TempDir,
    seed: u64,
    load: Load,
    tally: Tally,
    skipped: Mutex<Vec<String>>,
}

impl Soak {
    pub(crate) fn folder(&self) -> &Path {
        self.0.folder.path()
    }

    pub(crate) fn seed(&self) -> u64 {
        self.0.seed
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.0.tally
    }

    /// Repeats a piece of work while there is load, and records its faults under the given name.
    pub(crate) fn work(
        &self,
        name: &str,
        rest: Duration,
        piece: impl FnMut(&Work) -> Result<(), String>,
    ) {
        again_and_again((&self.0.load, &self.0.tally), name, rest, piece);
    }

    /// Sleeps for `time`, or until the load ends.
    pub(crate) fn sleep(&self, time: Duration) {
        let until = Instant::now() + time;
        while self.0.load.is_on() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Records that a part of the soak is skipped.
    pub(crate) fn skip(&self, what: String) {
        let mut skipped = self
            .0
            .skipped
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        skipped.push(what);
    }

    pub(crate) fn load(&self) -> &Load {
        &self.0.load
    }

    pub(crate) fn skipped(&self) -> Vec<String> {
        let skipped = self
            .0
            .skipped
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        skipped.clone()
    }

    /// Starts a process of the soak.
    ///
    /// # Errors
    /// The process could not be started.
    pub(crate) fn start(&self, name: &str, arguments: &[&str]) -> Result<Process, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .arg("--folder")
            .arg(self.folder())
            .args(["--seed", &self.0.seed.to_string()])
            .env(KEEPS_LITTLE.0, KEEPS_LITTLE.1);
        Process::start(name, command)
    }
}

/// Runs the soak.
///
/// # Errors
/// Reasons why it could not run, or the faults found.
pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    let soak = Soak(Arc::new(Shared {
        folder: tempfile::Builder::new()
            .prefix("punctual-soak-")
            .tempdir()?,
        seed: options.seed,
        load: Load::default(),
        tally: Tally::default(),
        skipped: Mutex::default(),
    }));
    links::write_certificates(soak.folder())?;
    let mut watched = Watched::start(&soak, interrupted)?;
    let ran = watched.run(Duration::from_secs_f64(options.minutes * 60.0));
    let judged = watched.end(ran, options);
    // A thread that does not end would otherwise keep the folder.
    let _ = std::fs::remove_dir_all(soak.folder());
    show(&judged, options)?;
    match judged.all_faults().len() {
        0 => Ok(()),
        1 => Err("the soak has failed: a fault, see above".into()),
        faults => Err(format!("the soak has failed: {faults} faults, see above").into()),
    }
}

fn show(report: &Report, options: &Options) -> Result<(), Box<dyn Error>> {
    plot::draw(report, &options.plot)?;
    let json = serde_json::to_string_pretty(report)?;
    match &options.json {
        Some(None) => println!("{json}"),
        Some(Some(path)) => {
            std::fs::write(path, json + "\n")?;
            anstream::print!("{report}");
        }
        None => anstream::print!("{report}"),
    }
    eprintln!("drawn in {}", options.plot.display());
    Ok(())
}

/// Task that causes one kind of fault.
type Fault = dyn FnOnce(&Soak, &[Served]) -> Result<(), String> + Send;

/// Starts all threads that cause faults.
pub(crate) fn faults(
    soak: &Soak,
    killed: Process,
    peer: &Served,
    served: &[Served],
) -> Vec<std::thread::JoinHandle<()>> {
    let mut threads = Vec::new();
    let mut start = |work: Box<Fault>| {
        let (soak, served) = (soak.clone(), served.to_vec());
        threads.push(std::thread::spawn(move || {
            if let Err(fault) = work(&soak, &served) {
                soak.tally().fault(fault);
            }
        }));
    };
    let peer = peer.clone();
    start(Box::new(move |soak, _| {
        kills::of_a_server(soak, killed, &peer);
        Ok(())
    }));
    start(Box::new(|soak, served| {
        kills::of_clients(soak, served);
        Ok(())
    }));
    start(Box::new(|soak, served| {
        strangers::come(soak, served);
        Ok(())
    }));
    start(Box::new(|soak, _| descriptors::starve(soak)));
    start(Box::new(|soak, _| repository::fill_again_and_again(soak)));
    threads
}
