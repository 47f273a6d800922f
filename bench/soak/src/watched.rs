//! Watched processes: alternating load and idle phases, a sample each second, and the judgement at
//! the end.

use crate::caller::ON_KILLED;
use crate::child::{Process, Usage};
use crate::judgement::{Judgement, Who, judge};
use crate::kills;
use crate::report::{Report, Sample, grouped, mebibytes};
use crate::run::{Options, Soak, faults};
use crate::work::{Count, MOST_FAULTS};
use anstyle::{AnsiColor, Style};
use punctual_bench::machine::Machine;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Interval at which the watched processes' resources are sampled.
const PERIOD: Duration = Duration::from_secs(1);
/// Interval between printed progress lines, in seconds.
const PROGRESS: u64 = 5;
/// Number of pieces of work before the first idle measurement. Memory reaches its level after so
/// much work, however long a busy machine takes for it.
const WARM_UP: u64 = 400_000;
/// Time within which idle resources are closed: spare connections, and those of dead peers.
const SETTLE: Duration = Duration::from_secs(15);
/// Time limit for the resource usage to become constant after the load was paused.
const SETTLED: Duration = Duration::from_secs(60);
/// Number of equal samples in a row after which the usage counts as constant.
const SAME: usize = 4;
/// Time without progress after which work counts as stuck.
const STUCK: Duration = Duration::from_secs(120);
/// Time limit for the load to pause, and for the restarted server to be called again.
const PAUSE: Duration = Duration::from_secs(90);

/// Processes under watch, with the samples of their resources.
pub(crate) struct Watched {
    soak: Soak,
    server: Process,
    client: Process,
    threads: Vec<std::thread::JoinHandle<()>>,
    began: Instant,
    samples: Vec<Sample>,
    progress: BTreeMap<String, (Count, Instant)>,
    interrupted: Arc<AtomicBool>,
}

/// Usage of server and client while idle: after the warm-up, and at the end.
pub(crate) type Quiet = [[Usage; 2]; 2];

impl Watched {
    /// Starts the watched processes, and all threads that cause faults.
    ///
    /// # Errors
    /// A process could not be started.
    pub(crate) fn start(soak: &Soak, interrupted: Arc<AtomicBool>) -> Result<Self, Box<dyn Error>> {
        let mut server = soak.start("the server", &["serve"])?;
        let served = server.until_ready()?;
        let (killed, peer) = kills::first(soak)?;
        let (servers, one) = (
            serde_json::to_string(&served)?,
            serde_json::to_string(&peer)?,
        );
        let arguments = ["call", "--servers", &servers, "--killed", &one];
        let mut client = soak.start("the client", &arguments)?;
        client.until_ready()?;
        Ok(Self {
            threads: faults(soak, killed, &peer, &served),
            soak: soak.clone(),
            server,
            client,
            began: Instant::now(),
            samples: Vec::new(),
            progress: BTreeMap::new(),
            interrupted,
        })
    }

    /// Runs the phases of the soak: load, idle, load, idle.
    ///
    /// # Errors
    /// The reason why the run ended early.
    pub(crate) fn run(&mut self, time: Duration) -> Result<Quiet, String> {
        self.began = Instant::now();
        self.load(|watched| {
            let percent = 100 * watched.done().min(WARM_UP) / WARM_UP;
            (percent < 100).then(|| format!("warming up, {percent} %"))
        })?;
        let first = self.quiet(None)?;
        let began = Instant::now();
        self.load(|_| {
            let elapsed = began.elapsed();
            (elapsed < time).then(|| format!("{} of {}", clock(elapsed), clock(time)))
        })?;
        let last = self.quiet(Some(first))?;
        Ok([first, last])
    }

    /// Applies load for as long as `progress` returns a text that names the progress made.
    fn load(&mut self, progress: impl Fn(&Self) -> Option<String>) -> Result<(), String> {
        self.server.tell("go")?;
        self.client.tell("go")?;
        self.soak.load().go();
        let mut ticks = 0;
        self.progress.clear();
        while let Some(progress) = progress(self) {
            self.sample(true)?;
            self.look_for_faults()?;
            if ticks % PROGRESS == 0 {
                self.tell_progress(&progress);
            }
            ticks += 1;
            std::thread::sleep(PERIOD);
        }
        Ok(())
    }

    /// Pauses the load and waits until the usage is constant; with `before` given, also until the
    /// numbers of threads and descriptors are back at those values.
    fn quiet(&mut self, before: Option<[Usage; 2]>) -> Result<[Usage; 2], String> {
        // Processes that the others need come first.
        if !self.soak.load().pause(PAUSE) {
            return Err("a fault that was being made has not ended".to_owned());
        }
        self.until_reached_again()?;
        self.client.told("pause")?;
        self.server.told("pause")?;
        let began = Instant::now();
        let mut same = 0;
        loop {
            let last = self.samples.last().copied();
            let now = self.sample(false)?;
            let counts = |one: &Sample| {
                [one.server, one.client].map(|usage| (usage.threads, usage.descriptors))
            };
            same = match last.is_some_and(|last| counts(&last) == counts(&now)) {
                true => same + 1,
                false => 0,
            };
            let as_before = before.is_none_or(|[server, client]| {
                let within = |now: Usage, before: Usage| {
                    now.threads <= before.threads && now.descriptors <= before.descriptors
                };
                within(now.server, server) && within(now.client, client)
            });
            let is_settled = same >= SAME && as_before && began.elapsed() > SETTLE;
            if is_settled || began.elapsed() > SETTLED {
                return Ok([now.server, now.client]);
            }
            std::thread::sleep(PERIOD);
        }
    }

    /// Waits until the client has called the restarted server by each link: without this, the
    /// number of open connections to it would depend on chance. Two more completed calls by a link
    /// are awaited, as the second must have begun after the last kill.
    fn until_reached_again(&self) -> Result<(), String> {
        let counts = || {
            let counts = self.client.done().counts;
            let counts = counts.into_iter();
            let reaching = counts.filter(|(work, _)| work.starts_with(ON_KILLED));
            reaching
                .map(|(work, count)| (work, count.done))
                .collect::<BTreeMap<_, _>>()
        };
        let (before, began) = (counts(), Instant::now());
        let twice = |(work, done): (&String, &u64)| *done >= before.get(work).unwrap_or(&0) + 2;
        while !counts().iter().all(twice) {
            if began.elapsed() > PAUSE {
                return Err("the server that was killed is not called again".to_owned());
            }
            std::thread::sleep(PERIOD);
        }
        Ok(())
    }

    fn sample(&mut self, is_loaded: bool) -> Result<Sample, String> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err("it was interrupted".to_owned());
        }
        let sample = Sample {
            seconds: self.began.elapsed().as_secs_f64(),
            is_loaded,
            server: self.server.usage()?,
            client: self.client.usage()?,
        };
        self.samples.push(sample);
        Ok(sample)
    }

    /// Returns the work counts of all processes, added up by name.
    fn counts(&self) -> BTreeMap<String, Count> {
        let mut all = self.soak.tally().counts();
        for (name, count) in [&self.server, &self.client]
            .into_iter()
            .flat_map(|one| one.done().counts)
        {
            let sum = all.entry(name).or_default();
            sum.done += count.done;
            sum.refused += count.refused;
        }
        all
    }

    fn faults(&self) -> Vec<String> {
        let mut all = self.soak.tally().faults();
        all.extend(self.server.done().faults);
        all.extend(self.client.done().faults);
        all
    }

    /// Ends the run when the fault list is full, or when no work makes progress.
    fn look_for_faults(&mut self) -> Result<(), String> {
        for (name, count) in self.counts() {
            let entry = self
                .progress
                .entry(name.clone())
                .or_insert((count, Instant::now()));
            if entry.0 != count {
                *entry = (count, Instant::now());
            }
            if entry.1.elapsed() > STUCK {
                return Err(format!("{name}: nothing was done for {STUCK:?}"));
            }
        }
        match self.faults().len() >= MOST_FAULTS {
            true => Err("there are too many faults to go on".to_owned()),
            false => Ok(()),
        }
    }

    /// Returns the number of pieces of work done by all processes.
    fn done(&self) -> u64 {
        self.counts().values().map(|count| count.done).sum()
    }

    fn tell_progress(&self, progress: &str) {
        let Some(last) = self.samples.last() else {
            return;
        };
        let (bold, faint) = (Style::new().bold(), Style::new().dimmed());
        #[allow(clippy::cast_precision_loss)]
        let taken = |usage: &Usage| {
            let memory = mebibytes(usage.memory.resident as f64);
            let (threads, descriptors) = (usage.threads, usage.descriptors);
            format!("{memory} MiB, {threads} threads, {descriptors} descriptors")
        };
        let done = self.done();
        let faults = self.faults().len();
        let tone = match faults {
            0 => AnsiColor::Green.on_default(),
            _ => AnsiColor::Red.on_default().bold(),
        };
        anstream::eprintln!(
            "{bold}{progress}{bold:#}  {faint}server{faint:#} {}  {faint}client{faint:#} {}  {} done, {tone}{faults} faults{tone:#}",
            taken(&last.server),
            taken(&last.client),
            grouped(done),
        );
    }

    /// Ends all processes, and returns the report on the watched ones.
    pub(crate) fn end(mut self, ran: Result<Quiet, String>, options: &Options) -> Report {
        let minutes = self
            .began
            .elapsed()
            .as_secs_f64()
            .min(options.minutes * 60.0)
            / 60.0;
        let mut faults = Vec::new();
        let processes = match ran {
            Ok(quiet) => self.judge(&quiet, minutes),
            Err(fault) => {
                faults.push(fault);
                Vec::new()
            }
        };
        // Clients end before the servers that they call.
        let client = self.client.stop();
        self.soak.load().stop();
        let until = Instant::now() + PAUSE;
        for thread in self.threads.drain(..) {
            while !thread.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
            match thread.is_finished() {
                true if thread.join().is_ok() => {}
                true => faults.push("a thread that makes faults has panicked".to_owned()),
                false => faults.push("a thread that makes faults does not end".to_owned()),
            }
        }
        let mut work = self.soak.tally().counts();
        for done in [client, self.server.stop()] {
            let done = match done {
                Ok(done) => done,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            faults.extend(done.faults);
            for (name, count) in done.counts {
                let sum = work.entry(name).or_default();
                sum.done += count.done;
                sum.refused += count.refused;
            }
        }
        faults.splice(0..0, self.soak.tally().faults());
        let skipped = self.soak.skipped();
        if options.require {
            faults.extend(skipped.iter().cloned());
        }
        Report {
            machine: Machine::this(),
            is_optimised: !cfg!(debug_assertions),
            minutes,
            seed: options.seed,
            work,
            skipped,
            faults,
            processes,
            samples: self.samples,
        }
    }

    fn judge(&self, [first, last]: &Quiet, minutes: f64) -> Vec<Judgement> {
        // Samples before the first idle phase belong to the warm-up.
        let warm = self
            .samples
            .iter()
            .position(|one| !one.is_loaded)
            .unwrap_or_default();
        let loaded = || self.samples.iter().skip(warm).filter(|one| one.is_loaded);
        let server: Vec<Usage> = loaded().map(|one| one.server).collect();
        let client: Vec<Usage> = loaded().map(|one| one.client).collect();
        vec![
            judge(Who::Server, &server, (first[0], last[0]), minutes),
            judge(Who::Client, &client, (first[1], last[1]), minutes),
        ]
    }
}

/// Formats a time in minutes and seconds.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
