//! Client process of a pair: a thread for the high client, one for each low client, and a control
//! thread with a higher priority that carries out the harness's commands.
//!
//! The threads are started once, and connect. For each batch every thread that takes part gets a
//! job; as the thread that hands them out has the highest priority, none begins before all have
//! theirs.

use super::batch::{Batch, Outcome};
use super::calling::{Caller, Done, Progress, high, low};
use super::setup::Setup;
use super::watchdog::Watchdog;
use crate::Result;
use crate::protocol::obey;
use punctual::Orb;
use punctual::rt::RtOrb;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Job for a client's thread: its part of a batch.
#[derive(Clone, Debug)]
struct Job {
    batch: Batch,
    progress: Arc<Progress>,
}

/// Channels to a client's thread: jobs are sent to it, and it returns their results.
struct Worker {
    jobs: Sender<Job>,
    done: Receiver<Result<Done>>,
}

/// Carries out each line of input, until there are no more.
pub(crate) fn call(setup: &Setup, at: &str) -> Result<()> {
    let watchdog = Watchdog::start(setup.watchdog())?;
    let rt = setup.rt_orb()?;
    let orb = rt.extend(Orb::builder())?.build()?;
    let workers = (0..=setup.low).map(|number| start(setup, number, at, &rt, &orb));
    let workers: Vec<Worker> = workers.collect::<Result<_>>()?;
    let control = setup.control("rt-control").start(move || {
        obey("", |batch: Batch| {
            watchdog.arm(batch.watchdog());
            let outcome = perform(&workers, batch);
            watchdog.disarm();
            Ok(outcome?.numbers())
        })
    })?;
    control.join().map_err(|_| "the client panicked")?
}

/// Starts a client's thread, and waits until it is connected.
fn start(setup: &Setup, number: u16, at: &str, rt: &Arc<RtOrb>, orb: &Orb) -> Result<Worker> {
    let (tell, told) = channel();
    let (report, done) = channel();
    let (ready, connected) = channel();
    let thread = setup.thread(format!("rt-client-{number}"), setup.priority_of(number));
    let (setup, at) = (setup.clone(), at.to_owned());
    let (rt, orb) = (rt.clone(), orb.clone());
    thread.start(move || {
        let mut caller = match Caller::connect(&setup, number, &at, &rt, &orb) {
            Ok(caller) => {
                // The thread that started this one waits for the message.
                let _ = ready.send(Ok(()));
                caller
            }
            Err(error) => {
                let _ = ready.send(Err(error));
                return;
            }
        };
        work_off(number, &mut caller, &told, &report);
    })?;
    connected.recv()??;
    Ok(Worker { jobs: tell, done })
}

/// Carries out the batches received from a channel until it is closed.
fn work_off(number: u16, caller: &mut Caller, jobs: &Receiver<Job>, done: &Sender<Result<Done>>) {
    for job in jobs {
        let result = match number {
            0 => high(caller, &job.batch, &job.progress),
            _ => low(caller, &job.batch, &job.progress),
        };
        if done.send(result).is_err() {
            return;
        }
    }
}

/// Runs a batch by the high client and as many low clients as it names.
fn perform(workers: &[Worker], batch: Batch) -> Result<Outcome> {
    let taking_part = workers.get(..=usize::from(batch.low));
    let taking_part = taking_part.ok_or("a batch with more low clients than there are")?;
    let progress = Arc::new(Progress::default());
    for worker in taking_part {
        worker.jobs.send(Job {
            batch,
            progress: progress.clone(),
        })?;
    }
    let mut outcome = Outcome {
        took: std::time::Duration::ZERO,
        high: Vec::new(),
        low: Vec::new(),
    };
    // All results are awaited, so that no thread is still calling when the next batch begins.
    let results: Vec<_> = taking_part
        .iter()
        .map(|worker| worker.done.recv())
        .collect();
    for result in results {
        match result?? {
            Done::High { took, samples } => (outcome.took, outcome.high) = (took, samples),
            Done::Low(moments) => outcome.low.push(moments),
        }
    }
    Ok(outcome)
}
