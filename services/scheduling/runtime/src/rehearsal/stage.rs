//! Execution of a rehearsal.

use super::idl::rehearsal::Operation as Callee;
use super::measured::Rehearsed;
use super::script::{Role, Script, Stand, WARM_UP};
use crate::client::ClientScheduler;
use crate::error::ScheduleError;
use crate::periodic::PeriodicThread;
use crate::schedule::{Dispatching, Schedule};
use crate::server::ServerScheduler;
use punctual::policy::Collocation;
use punctual::rt::RtOrb;
use punctual::{Interface, ListenEndpoint, Orb, Policy, RootPoa, SetOverride};
use punctual_sys::clock;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Options of a rehearsal.
#[derive(Clone, Debug)]
pub struct RehearsalOptions {
    /// Length of the rehearsal.
    pub time: Duration,
    /// Share of its planned execution time that each job uses, in percent. The rest is for the ORB and the
    /// operating system, which the plan's times include.
    pub load: u8,
    /// Endpoint of the objects.
    pub endpoint: ListenEndpoint,
}

/// Executes a plan of one host, and returns the measurements of each operation, in the order of the model.
/// `progress` is called about ten times a second with the time that has passed, the number of jobs, and of those
/// that missed their deadline; it may end the rehearsal.
///
/// # Errors
/// [`ScheduleError`]: no time, a plan of several hosts, and what the machine does not grant.
pub fn rehearse(
    rt: &Arc<RtOrb>,
    schedule: &Arc<Schedule>,
    options: &RehearsalOptions,
    mut progress: impl FnMut(Duration, u64, u64) -> ControlFlow<()>,
) -> Result<Vec<Rehearsed>, ScheduleError> {
    if options.time.is_zero() {
        return Err(ScheduleError::NoTime);
    }
    let hosts = schedule.model().hosts.len();
    if hosts > 1 {
        return Err(ScheduleError::SeveralHosts(hosts));
    }
    let script = Arc::new(script(rt, schedule, options.load)?);
    let server = schedule.extend(rt, Orb::builder())?;
    let server = server.listen(options.endpoint.clone()).build()?;
    let client = schedule.extend(rt, Orb::builder())?.build()?;
    let objects = serve(rt, schedule, &script, (&server, &client));
    let measured = objects.and_then(|()| {
        let threads = start(rt, schedule, &script)?;
        wait(&script, options.time, &mut progress);
        for thread in threads {
            let _ = thread.stop();
        }
        wait_for_last_calls(&script);
        Ok(())
    });
    server.shutdown(true)?;
    client.shutdown(true)?;
    measured?;
    let roles = script.roles.iter();
    let executed = roles.filter(|role| role.activity.dispatching() != Dispatching::Caller);
    Ok(executed
        .map(|role| role.counts.beside(&role.activity))
        .collect())
}

/// Makes the stand-ins of all operations.
fn script(rt: &Arc<RtOrb>, schedule: &Schedule, load: u8) -> Result<Script, ScheduleError> {
    let model = schedule.model();
    let operations = model.operations.iter().enumerate();
    let roles = operations.map(|(index, operation)| {
        let activity = schedule.activity(&operation.name);
        let left_out = |_| ScheduleError::LeftOut(operation.name.clone());
        let activity = activity.map_err(left_out)?;
        Ok(Role::new(model, index, activity, u64::from(load)))
    });
    Ok(Script {
        roles: roles.collect::<Result<_, ScheduleError>>()?,
        mutexes: model.mutexes.iter().map(|_| rt.create_mutex()).collect(),
    })
}

/// Activates an object for each operation that others release, in an adapter of its own.
fn serve(
    rt: &Arc<RtOrb>,
    schedule: &Arc<Schedule>,
    script: &Arc<Script>,
    (server, client): (&Orb, &Orb),
) -> Result<(), ScheduleError> {
    let scheduler = ServerScheduler::new(rt, server, schedule, &[])?;
    let root = server.root_poa()?;
    root.manager().activate()?;
    for (index, role) in script.roles.iter().enumerate() {
        if !role.is_served(schedule.model(), index) {
            continue;
        }
        let name = role.activity.name();
        let manager = Some(root.manager());
        let poa = scheduler.create_poa(&root, name, manager, &[], &[name])?;
        let stand = Stand {
            script: script.clone(),
            role: index,
        };
        let reference: Callee = poa.schedule_object(stand, name)?;
        let text = server.object_to_string(reference.as_object())?;
        let object = client.string_to_object(&text)?;
        let over_the_endpoint = Policy::Collocation(Collocation::None);
        let object = object.set_policy_overrides(&[over_the_endpoint], SetOverride::Add)?;
        let _ = role.object.set(Callee::from_object(object));
    }
    Ok(())
}

/// Starts the threads of all sources, with one start for all.
fn start(
    rt: &Arc<RtOrb>,
    schedule: &Arc<Schedule>,
    script: &Arc<Script>,
) -> Result<Vec<PeriodicThread>, ScheduleError> {
    let client = ClientScheduler::new(rt, schedule, &[])?;
    let first = clock::nanos().saturating_add(START);
    let roles = script.roles.iter().enumerate();
    let sources = roles.filter(|(_, role)| role.activity.is_source());
    let threads = sources.map(|(index, role)| {
        let (ahead, script) = (script.clone(), script.clone());
        let warm_up = move || ahead.release(index, WARM_UP);
        client.start_prepared(role.activity.name(), first, warm_up, move |job| {
            script.release(index, job.release);
        })
    });
    threads.collect()
}

/// Time from the start of the threads to the first release, in nanoseconds.
const START: u64 = 200_000_000;

/// Time between two reports of progress, in nanoseconds.
const LOOK: u64 = 100_000_000;

/// Maximum time for the execution of pending calls after the last release, in nanoseconds.
const LAST_CALLS: u64 = 30_000_000_000;

fn wait_for_last_calls(script: &Script) {
    let end = clock::nanos().saturating_add(LAST_CALLS);
    while clock::nanos() < end && !script.is_quiet() {
        clock::sleep_until(clock::nanos().saturating_add(LOOK / 100));
    }
}

fn wait(
    script: &Script,
    time: Duration,
    progress: &mut impl FnMut(Duration, u64, u64) -> ControlFlow<()>,
) {
    let begin = clock::nanos();
    let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let end = begin.saturating_add(START).saturating_add(time);
    loop {
        let now = clock::nanos();
        if now >= end {
            return;
        }
        clock::sleep_until(end.min(now.saturating_add(LOOK)));
        let passed = Duration::from_nanos(clock::nanos() - begin);
        let counts = || script.roles.iter().map(|role| &role.counts);
        let jobs = counts().map(super::measured::Counts::jobs).sum();
        let missed = counts().map(super::measured::Counts::missed).sum();
        if progress(passed, jobs, missed).is_break() {
            return;
        }
    }
}

impl RehearsalOptions {
    /// Returns the options of a rehearsal at an endpoint: ten seconds, with jobs that use 90 % of their planned
    /// time.
    #[must_use]
    pub fn at(endpoint: ListenEndpoint) -> Self {
        Self {
            time: Duration::from_secs(10),
            load: 90,
            endpoint,
        }
    }
}
