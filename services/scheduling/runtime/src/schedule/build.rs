//! Schedules, made of models.

use super::activity::{Activity, Dispatching};
use super::doubt::Doubt;
use super::dynamic::{self, Dynamic};
use super::execution::{Execution, Priorities};
use super::file::text;
use super::options::{ScheduleOptions, Unproved};
use super::stubs;
use crate::error::{MachineError, ScheduleError, UnknownName};
use punctual::rt::{DynamicScheduling, Priority, Reservation, RtConfig, RtOperation};
use punctual_scheduling::Time;
use punctual_scheduling::analysis::supply;
use punctual_scheduling::model::Model;
use punctual_scheduling::plan::{Plan, PlannedStream};
use punctual_scheduling::strategy::{Rms, Strategy, by_name};
use punctual_sys::processor;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Part of a plan that one host executes.
#[derive(Debug)]
pub struct Schedule {
    host: String,
    /// Processors that the process might run on when the schedule was made: threads that were pinned since have
    /// fewer.
    allowed: Vec<usize>,
    /// True if several levels of the plan share a lane.
    is_packed: bool,
    model: Model,
    plan: Plan,
    dynamic: Dynamic,
    doubts: Vec<Doubt>,
    activities: BTreeMap<String, Arc<Activity>>,
}

impl Schedule {
    /// Reads a model from a file of at most [`LONGEST_FILE`](punctual_scheduling::model::LONGEST_FILE) bytes, plans it, and takes the part of a host.
    ///
    /// # Errors
    /// [`ScheduleError`]: a file that is too long, faults of the model with their lines, a plan that does not fit, a host that the
    /// model does not have.
    pub fn from_file(
        file: impl AsRef<Path>,
        host: &str,
        options: &ScheduleOptions,
    ) -> Result<Arc<Self>, ScheduleError> {
        Self::from_file_and_stubs(file, &[], host, options)
    }

    /// Reads a model from a file as [`Schedule::from_file`] does, and completes it by the timing that `@rt` states in the
    /// IDL, as the stubs carry it: the constants `RT_OPERATIONS` of references, e.g. `[Sensor::RT_OPERATIONS]`. What both
    /// state, the file decides.
    ///
    /// # Errors
    /// As [`Schedule::from_file`]; an operation of two timings.
    pub fn from_file_and_stubs(
        file: impl AsRef<Path>,
        stubs: &[&[RtOperation]],
        host: &str,
        options: &ScheduleOptions,
    ) -> Result<Arc<Self>, ScheduleError> {
        let file = file.as_ref();
        let text = text(file)?;
        let model = stubs::model(&file.display().to_string(), &text, stubs)?;
        Self::new(model, host, options)
    }

    /// Makes a schedule of the operations that the stubs carry, for one host of one processor; see
    /// [`Schedule::from_file_and_stubs`].
    ///
    /// # Errors
    /// As [`Schedule::from_file_and_stubs`].
    pub fn from_stubs(
        stubs: &[&[RtOperation]],
        options: &ScheduleOptions,
    ) -> Result<Arc<Self>, ScheduleError> {
        let model = stubs::model("the stubs", "", stubs)?;
        Self::new(model, "", options)
    }

    /// Plans a model, and takes the part of a host. A host of an empty name is the model's only one.
    ///
    /// # Errors
    /// As [`Schedule::from_file`].
    pub fn new(
        model: Model,
        host: &str,
        options: &ScheduleOptions,
    ) -> Result<Arc<Self>, ScheduleError> {
        let its = |one: &&punctual_scheduling::model::Host| {
            one.name == host || (host.is_empty() && model.hosts.len() == 1)
        };
        let found = model.hosts.iter().find(its).cloned();
        let found = found.ok_or_else(|| ScheduleError::Host {
            host: host.to_owned(),
            known: model.hosts.iter().map(|one| one.name.clone()).collect(),
        })?;
        let strategy = chosen(&model, options)?;
        let execution = Execution::of(model, &found, strategy, options.lanes)?;
        if options.unproved == Unproved::Refuse {
            execution.check()?;
        }
        let Execution {
            model,
            plan,
            priorities,
            dynamic,
            doubts,
        } = execution;
        let mut schedule = Self {
            allowed: processor::allowed().map_err(MachineError::from)?,
            is_packed: options.lanes.is_some(),
            host: found.name,
            model,
            plan,
            dynamic,
            doubts,
            activities: BTreeMap::new(),
        };
        schedule.activities = schedule.released(&priorities, dynamic)?;
        schedule.add_called();
        Ok(Arc::new(schedule))
    }

    /// Returns the name of the host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the model, with the operations of queues as ones that are not preempted.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the plan of all hosts.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns what keeps the schedule from being proved, as this host executes it; nothing if it is proved.
    /// [`Unproved::Refuse`] refuses it, and `punctual schedule check --here` prints it.
    #[must_use]
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// Returns the reason for which operations that are dispatched by deadline or laxity wait in queues; `None` if none
    /// does.
    #[must_use]
    pub fn queued_because(&self) -> Option<&'static str> {
        match self.dynamic {
            Dynamic::Queues(why) => Some(why),
            Dynamic::None | Dynamic::Reservations => None,
        }
    }

    /// Returns the activities of the host, in the order of their names.
    pub fn activities(&self) -> impl Iterator<Item = &Activity> {
        self.activities.values().map(|one| &**one)
    }

    /// Returns an activity of the host.
    ///
    /// # Errors
    /// [`UnknownName`].
    pub fn activity(&self, name: &str) -> Result<Arc<Activity>, UnknownName> {
        self.activities
            .get(name)
            .cloned()
            .ok_or_else(|| UnknownName {
                name: name.to_owned(),
                host: self.host.clone(),
                similar: self
                    .model
                    .nearest(name)
                    .filter(|near| *near != name)
                    .map(str::to_owned),
            })
    }

    pub(crate) fn allowed(&self) -> &[usize] {
        &self.allowed
    }

    pub(crate) fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// Returns the settings of an RTORB that the schedule needs: dynamic scheduling for reservations.
    #[must_use]
    pub fn rt_config(&self) -> RtConfig {
        let mut all = self.activities();
        let reserves = all.any(|one| matches!(one.dispatching, Dispatching::Reservation(_)));
        RtConfig {
            dynamic_scheduling: reserves.then(DynamicScheduling::default),
            ..RtConfig::default()
        }
    }

    /// Returns the activities that streams of the plan release.
    fn released(
        &self,
        priorities: &Priorities,
        dynamic: Dynamic,
    ) -> Result<BTreeMap<String, Arc<Activity>>, ScheduleError> {
        let mut activities: BTreeMap<String, Activity> = BTreeMap::new();
        for (index, stream) in self.plan.streams.iter().enumerate() {
            let Some((processor, priority)) = stream.processor.zip(priorities.of_stream(index))
            else {
                continue;
            };
            let stream = &PlannedStream {
                response: priorities.responses[index],
                ..stream.clone()
            };
            if stream.host != self.host {
                continue;
            }
            match activities.get_mut(&stream.operation) {
                Some(known) if known.processor != processor => {
                    return Err(ScheduleError::Scattered {
                        operation: stream.operation.clone(),
                        one: known.processor,
                        other: processor,
                    });
                }
                Some(known) => unite(known, stream, priority),
                None => {
                    let dispatching = self.dispatching(stream, dynamic);
                    let activity = self.activity_of(stream, (processor, priority), dispatching);
                    activities.insert(stream.operation.clone(), activity);
                }
            }
        }
        let shared = activities.into_iter();
        Ok(shared.map(|(name, one)| (name, Arc::new(one))).collect())
    }

    fn activity_of(
        &self,
        stream: &PlannedStream,
        (processor, priority): (usize, Priority),
        dispatching: Dispatching,
    ) -> Activity {
        let operation = self.model.operation(&stream.operation);
        let operation = operation.map(|index| &self.model.operations[index]);
        Activity {
            name: stream.operation.clone(),
            processor,
            priority,
            callers: Vec::new(),
            dispatching,
            wcet: stream.wcet,
            period: stream.period,
            deadline: stream.deadline,
            offset: operation.map_or(Time::ZERO, |one| one.offset),
            response: stream.response,
            criticality: stream.criticality,
            is_source: stream.source == stream.operation,
            threads: operation.map_or(0, |one| one.threads),
        }
    }

    fn dispatching(&self, stream: &PlannedStream, dynamic: Dynamic) -> Dispatching {
        let mut processors = self.plan.processors.iter();
        let its =
            processors.find(|one| one.host == self.host && Some(one.number) == stream.processor);
        let level = its
            .zip(stream.level)
            .and_then(|(its, level)| its.levels.get(level));
        match (level, dynamic) {
            (Some(&"DEADLINE"), Dynamic::Reservations) => match self.reservation(stream) {
                Some(reserved) => Dispatching::Reservation(Reservation {
                    runtime: reserved.runtime().into(),
                    deadline: reserved.deadline().into(),
                    period: reserved.period().into(),
                }),
                None => Dispatching::DeadlineQueue,
            },
            (Some(&"DEADLINE"), _) => Dispatching::DeadlineQueue,
            (Some(&"LAXITY"), _) => Dispatching::LaxityQueue,
            _ => Dispatching::Priority,
        }
    }

    fn reservation(&self, stream: &PlannedStream) -> Option<supply::Reservation> {
        let mut hosts = self.model.hosts.iter();
        let its = hosts.find(|one| one.name == self.host)?;
        dynamic::reservation(stream, its)
    }

    /// Adds the operations that run in the threads of their callers.
    fn add_called(&mut self) {
        for &caller in &self.model.order {
            let calling = &self.model.operations[caller];
            let Some(its) = self.activities.get(&calling.name).cloned() else {
                continue;
            };
            for call in calling.calls.iter().filter(|call| call.two_way) {
                let called = &self.model.operations[call.operation];
                if called.host != calling.host {
                    continue;
                }
                let known = self.activities.get(&called.name).map(|one| (**one).clone());
                let known = match known {
                    Some(known) if known.dispatching != Dispatching::Caller => continue,
                    Some(known) => known,
                    None => Activity {
                        name: called.name.clone(),
                        dispatching: Dispatching::Caller,
                        callers: Vec::new(),
                        wcet: called.times.worst,
                        response: None,
                        is_source: false,
                        threads: called.threads,
                        ..(*its).clone()
                    },
                };
                self.activities
                    .insert(called.name.clone(), Arc::new(called_by(known, &its)));
            }
        }
    }
}

fn chosen(
    model: &Model,
    options: &ScheduleOptions,
) -> Result<&'static dyn Strategy, ScheduleError> {
    let named = options.strategy.as_deref().or(model.strategy.as_deref());
    let Some(name) = named else { return Ok(&Rms) };
    by_name(name).ok_or_else(|| ScheduleError::Strategy(name.to_owned()))
}

/// Adds another stream of an operation to its activity: the more urgent of both priorities, the shorter of both
/// periods and deadlines.
fn unite(known: &mut Activity, stream: &PlannedStream, priority: Priority) {
    known.priority = known.priority.max(priority);
    known.period = known.period.min(stream.period);
    known.deadline = known.deadline.min(stream.deadline);
    known.wcet = known.wcet.max(stream.wcet);
    known.response = known
        .response
        .zip(stream.response)
        .map(|(one, other)| one.max(other));
    known.is_source |= stream.source == stream.operation;
}

/// Returns an activity that is called by this one, too.
fn called_by(mut called: Activity, caller: &Activity) -> Activity {
    called.priority = called.priority.max(caller.priority);
    called.period = called.period.min(caller.period);
    called.deadline = called.deadline.min(caller.deadline);
    match caller.dispatching {
        Dispatching::Caller => called.callers.extend(&caller.callers),
        _ => called.callers.push(caller.priority),
    }
    called.callers.sort_unstable();
    called.callers.dedup();
    called
}
