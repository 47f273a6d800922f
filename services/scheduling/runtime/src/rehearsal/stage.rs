//! Execution of a rehearsal.

use super::idl::rehearsal::Operation as Callee;
use super::measured::Rehearsed;
use super::script::{Role, Script, Stand, WARM_UP, calls_of_host};
use crate::client::ClientScheduler;
use crate::error::ScheduleError;
use crate::periodic::PeriodicThread;
use crate::schedule::{Dispatching, Schedule};
use crate::server::ServerScheduler;
use punctual::policy::Collocation;
use punctual::rt::RtOrb;
use punctual::{Interface, ListenEndpoint, Orb, Policy, RootPoa, SetOverride};
use punctual_scheduling::Time;
use punctual_scheduling::model::Kind;
use punctual_sys::clock;
use std::collections::BTreeMap;
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

/// Executes the part of a plan that one host has, and returns the measurements of each of its operations, in the order of
/// the model. Calls to other hosts are not made. What other hosts call is released by a clock: a one-way call comes as late
/// after the release of the chain's source as planned, and the response time of a two-way one counts from the call.
///
/// `progress` is called about ten times a second with the time that has passed, the number of jobs, and of those that missed
/// their deadline; it may end the rehearsal.
///
/// # Errors
/// [`ScheduleError`]: no time, an operation that the plan leaves out, and what the machine does not grant.
pub fn rehearse(
    rt: &Arc<RtOrb>,
    schedule: &Arc<Schedule>,
    options: &RehearsalOptions,
    mut progress: impl FnMut(Duration, u64, u64) -> ControlFlow<()>,
) -> Result<Vec<Rehearsed>, ScheduleError> {
    if options.time.is_zero() {
        return Err(ScheduleError::NoTime);
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

/// Makes the stand-ins of all operations of the host.
fn script(rt: &Arc<RtOrb>, schedule: &Schedule, load: u8) -> Result<Script, ScheduleError> {
    let model = schedule.model();
    let operations = model.operations.iter().enumerate();
    let here = operations.filter(|(_, one)| model.hosts[one.host].name == schedule.host());
    let roles: BTreeMap<_, _> = here
        .zip(0..)
        .map(|((index, _), role)| (index, role))
        .collect();
    let made = roles.keys().map(|&index| {
        let name = &model.operations[index].name;
        let activity = schedule.activity(name);
        let activity = activity.map_err(|_| ScheduleError::LeftOut(name.clone()))?;
        Ok(Role::new(model, index, activity, (u64::from(load), &roles)))
    });
    Ok(Script {
        roles: made.collect::<Result<_, ScheduleError>>()?,
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
        if !role.is_served(schedule.model(), role.operation) {
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

/// Starts the threads of all sources, and those that release in place of other hosts, with one start for all.
fn start(
    rt: &Arc<RtOrb>,
    schedule: &Arc<Schedule>,
    script: &Arc<Script>,
) -> Result<Vec<PeriodicThread>, ScheduleError> {
    let client = ClientScheduler::new(rt, schedule, &[])?;
    let first = clock::nanos().saturating_add(START);
    let mut threads = Vec::new();
    for (role, of) in script.roles.iter().enumerate() {
        let own = of.activity.is_source().then(|| Clock {
            period: of.activity.period(),
            jobs: 1,
            latest: 0,
        });
        for clock in own.into_iter().chain(clocks(schedule, of.operation)) {
            let (ahead, script) = (script.clone(), script.clone());
            let warm_up = move || ahead.release(role, WARM_UP);
            let thread = client.start(of.activity.clone(), first, warm_up, move |job| {
                let released = job.release.saturating_sub(clock.latest);
                (0..clock.jobs).for_each(|_| script.release(role, released));
            })?;
            thread.set_period(Some(clock.period));
            threads.push(thread);
        }
    }
    Ok(threads)
}

/// Releases of an operation by the clock.
#[derive(Clone, Copy, Debug)]
struct Clock {
    period: Time,
    /// Number of jobs at each release.
    jobs: u64,
    /// Time from the release of the chain's source to the latest release of the jobs, in nanoseconds.
    latest: u64,
}

/// Returns the releases of an operation by those of other hosts: one for each stream of a caller.
fn clocks(schedule: &Schedule, operation: usize) -> Vec<Clock> {
    let (model, plan) = (schedule.model(), schedule.plan());
    let called = &model.operations[operation];
    let is_conjunction = called.kind == Kind::Conjunction;
    if is_conjunction && calls_of_host(model, called.host).any(|call| call.operation == operation) {
        // It has a job for the calls of all its suppliers: those of this host release it.
        return Vec::new();
    }
    let away = model
        .operations
        .iter()
        .filter(|one| one.host != called.host);
    let calls = away.flat_map(|caller| caller.calls.iter().map(move |call| (caller, call)));
    let calls = calls.filter(|(_, call)| call.operation == operation);
    let clocks = calls.flat_map(|(caller, call)| {
        let callers = plan.streams_of(&caller.name);
        callers.map(|stream| {
            let stream = &plan.streams[stream];
            let mut own = plan.streams_of(&called.name).map(|own| &plan.streams[own]);
            let own = own.find(|own| own.source == stream.source);
            Clock {
                period: stream.period,
                jobs: if is_conjunction { 1 } else { call.times },
                // How late a two-way call comes is not planned, but by when its caller has the reply.
                latest: own
                    .filter(|_| !call.two_way)
                    .map_or(0, |own| own.jitter.as_nanos()),
            }
        })
    });
    clocks
        .take(if is_conjunction { 1 } else { usize::MAX })
        .collect()
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
