//! Settings of levels.

use super::planned::{GATEWAYS, PlannedLevels, UNPLANNED};
use super::scheduler::{SchedulerLevels, SchedulerOptions, UNSCHEDULED};
use super::threads::{threads_of, threads_of_scheduler};
use punctual::rt::{LinearMapping, Mapping, Priority, PriorityMapping, RealTime, RtConfig, RtOrb};
use punctual_host::Problem;
use punctual_host::settings::{Key, Setting, Values};
use punctual_rtevent::{Level, Schedule, ThreadFunction};
use punctual_scheduling_runtime::{Schedule as Plan, ScheduleOptions};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const SCHEDULE: Key<Option<PathBuf>> = Key::path("schedule").doc(
    "Deliver by the priorities of a plan: that of this model, as `punctual schedule check` reads it. Its proof includes the \
     channel's part where the model has it: pushes as one-way calls. Consumers without a --handle come behind all \
     operations of the plan.",
);
const HOST: Key<Option<String>> = Key::text("host")
    .doc("Host of the plan on which this server runs; may be left out if the model has only one.");
const SCHEDULER: Key<Option<String>> = Key::text("scheduler")
    .value_name("REFERENCE")
    .conflicts(&["schedule"])
    .doc(
        "Deliver by the schedule of a scheduling service, such as `corbaloc:iiop:HOST:PORT/SchedulingService`, which is asked \
         when a consumer connects: an `rt_info` of its filter is the handle of an operation there. The channel does not start \
         without it; if it goes away later, what it has answered before stays. Consumers without a handle of the schedule \
         come behind all of its levels.",
    );
const SCHEDULER_TIMEOUT: Key<Duration> = Key::time("scheduler-timeout")
    .default("2s")
    .requires(&["scheduler"])
    .doc("Time after which a call to the scheduler fails. After that, it is not called for 10 s.");
const HANDLE: Key<Vec<String>> = Key::list("handle", check_handle)
    .value_name("HANDLE=OPERATION")
    .doc(
        "Deliver what an entry of a filter with this `rt_info` accepts at the priority of the operation: `7=radar.track`. \
         May be given more than once; a consumer may have entries with different ones. Needs `schedule` or `scheduler`.",
    );
const REAL_TIME: Key<String> = Key::one_of("real-time", &["require", "best-effort", "off"])
    .default("require")
    .doc(
        "Native priorities (SCHED_FIFO) of the threads that deliver by --schedule or --scheduler: `require` does not start without the \
         right to them; `best-effort` then starts with a warning; `off` orders deliveries alone. `punctual doctor` says \
         what the machine grants.",
    );
const LOWEST_PRIORITY: Key<u64> = Key::number("lowest-priority", 1..=99)
    .default("1")
    .doc(
        "Native priority of CORBA priority 0; those of a plan are spread from it to --highest-priority. Those of a scheduler \
         are as it says, and must lie between.",
    );
const HIGHEST_PRIORITY: Key<u64> = Key::number("highest-priority", 1..=99)
    .default("99")
    .doc("Native priority of CORBA priority 32767, the highest.");

/// Settings of levels, in the order of `--help`.
pub(crate) const SETTINGS: &[&Setting] = &[
    &SCHEDULE.setting,
    &SCHEDULER.setting,
    &SCHEDULER_TIMEOUT.setting,
    &HOST.setting,
    &HANDLE.setting,
    &REAL_TIME.setting,
    &LOWEST_PRIORITY.setting,
    &HIGHEST_PRIORITY.setting,
];

/// Levels of a channel, and the threads that they get.
pub(crate) struct Levels {
    source: Source,
    /// Level of consumers without a handle.
    pub(crate) usual: Level,
    /// Level of gateways.
    pub(crate) gateways: Level,
    native: Native,
}

/// Origin of the levels of handles.
enum Source {
    None,
    Plan(Arc<PlannedLevels>),
    Scheduler(Arc<SchedulerLevels>),
}

/// Native priorities of the levels' threads.
enum Native {
    None,
    /// Those of CORBA priorities.
    Mapped(Arc<dyn PriorityMapping>),
    /// Those that the scheduler says, in this range.
    AsScheduled(RangeInclusive<i32>),
}

const ON_PLANS: &str = "`punctual schedule check` shows what is in the plan";
const ON_RIGHTS: &str =
    "`punctual doctor` says what this machine grants; `--real-time best-effort` starts without it";
const ON_RANGES: &str =
    "widen the range of --lowest-priority and --highest-priority, or use `--real-time off`";
const ON_SCHEDULERS: &str =
    "name it as `corbaloc:iiop:HOST:PORT/SchedulingService`, or by its IOR: text";
const ON_HANDLES: &str = "give each operation its own `--handle NUMBER=OPERATION`, from 1 on";

impl Levels {
    /// Makes the levels that settings describe.
    ///
    /// # Errors
    /// A plan that is none or is not proved, operations that it does not have, priorities that the machine does not grant,
    /// handles without a schedule.
    pub(crate) fn open(values: &Values) -> Result<Self, Problem> {
        if let Some(scheduler) = values.get(&SCHEDULER) {
            return Self::of_scheduler(values, &scheduler);
        }
        let Some(file) = values.get(&SCHEDULE) else {
            if !values.get(&HANDLE).is_empty() {
                let text = "`handle` needs `schedule` or `scheduler`, and neither is given";
                return Err(Problem::new(text, "name the plan with `--schedule FILE`"));
            }
            return Ok(Self {
                source: Source::None,
                usual: Level::default(),
                gateways: Level::default(),
                native: Native::None,
            });
        };
        let plan = plan(&file, &values.get(&HOST).unwrap_or_default())?;
        let handles = values.get(&HANDLE);
        let pairs = handles.iter().filter_map(|text| handle(text));
        let planned = PlannedLevels::new(&plan, pairs);
        let planned = planned.map_err(|error| Problem::new(error, ON_PLANS))?;
        Ok(Self {
            source: Source::Plan(Arc::new(planned)),
            usual: UNPLANNED,
            gateways: GATEWAYS,
            native: mapping(values, &plan)?.map_or(Native::None, Native::Mapped),
        })
    }

    fn of_scheduler(values: &Values, reference: &str) -> Result<Self, Problem> {
        check_scheduler(reference)?;
        let handles = values.get(&HANDLE);
        let pairs = handles.iter().filter_map(|text| handle(text));
        let native = as_scheduled(values)?;
        let options = SchedulerOptions {
            timeout: values.get(&SCHEDULER_TIMEOUT),
            native: native.clone(),
            handles: pairs
                .map(|(handle, name)| (handle, name.to_owned()))
                .collect(),
            ..SchedulerOptions::default()
        };
        let levels = SchedulerLevels::new(reference, options);
        let levels = levels.map_err(|error| Problem::new(error, ON_HANDLES))?;
        Ok(Self {
            source: Source::Scheduler(Arc::new(levels)),
            usual: UNSCHEDULED,
            gateways: GATEWAYS,
            native: native.map_or(Native::None, Native::AsScheduled),
        })
    }

    /// Returns the schedule that knows the levels of handles, if there is one.
    pub(crate) fn schedule(&self) -> Option<Arc<dyn Schedule>> {
        match &self.source {
            Source::None => None,
            Source::Plan(planned) => Some(planned.clone()),
            Source::Scheduler(levels) => Some(levels.clone()),
        }
    }

    /// Returns the scheduler that is to be asked, if there is one.
    pub(crate) fn scheduler(&self) -> Option<Arc<SchedulerLevels>> {
        match &self.source {
            Source::Scheduler(levels) => Some(levels.clone()),
            Source::None | Source::Plan(_) => None,
        }
    }

    /// Returns whether threads get native priorities.
    pub(crate) fn are_native(&self) -> bool {
        !matches!(self.native, Native::None)
    }

    /// Returns the specification of threads of this name.
    pub(crate) fn threads(&self, name: &'static str) -> ThreadFunction {
        match &self.native {
            Native::None => threads_of(name, None),
            Native::Mapped(mapping) => threads_of(name, Some(mapping.clone())),
            Native::AsScheduled(range) => threads_of_scheduler(name, range.clone()),
        }
    }

    /// Returns the number of levels: of a scheduler's, as many as there are native priorities.
    pub(crate) fn count(&self) -> usize {
        let scheduled = match &self.source {
            Source::None => 0,
            Source::Plan(planned) => {
                let levels: BTreeSet<_> = planned.handles().map(|(_, level)| level).collect();
                levels.len()
            }
            Source::Scheduler(_) => NATIVE.count(),
        };
        scheduled + [self.usual, self.gateways].len()
    }
}

/// Native priorities of `SCHED_FIFO`.
const NATIVE: RangeInclusive<i32> = 1..=99;

fn plan(file: &Path, host: &str) -> Result<Arc<Plan>, Problem> {
    let plan = Plan::from_file(file, host, &ScheduleOptions::default());
    plan.map_err(|error| Problem::new(error, ON_PLANS))
}

/// Returns the mapping to native priorities that settings ask for; `None` if threads are to have none.
fn mapping(values: &Values, plan: &Plan) -> Result<Option<Arc<dyn PriorityMapping>>, Problem> {
    let Some((range, real_time)) = native_range(values)? else {
        return Ok(None);
    };
    let mapping: Arc<dyn PriorityMapping> = Arc::new(LinearMapping::new(range.clone()));
    check_apart(plan, &*mapping, &range)?;
    let is_native = grants(mapping.clone(), real_time)?;
    Ok(is_native.then_some(mapping))
}

/// Returns the range of native priorities that threads of a scheduler's levels get; `None` if they are to have none.
fn as_scheduled(values: &Values) -> Result<Option<RangeInclusive<i32>>, Problem> {
    let Some((range, real_time)) = native_range(values)? else {
        return Ok(None);
    };
    let is_native = grants(Arc::new(LinearMapping::new(range.clone())), real_time)?;
    Ok(is_native.then_some(range))
}

/// Returns the range of native priorities, and how much they matter; `None` if there are to be none.
fn native_range(values: &Values) -> Result<Option<(RangeInclusive<i32>, RealTime)>, Problem> {
    let real_time = match values.get(&REAL_TIME).as_str() {
        "off" => return Ok(None),
        "best-effort" => RealTime::BestEffort,
        _ => RealTime::Require,
    };
    let native = |key| i32::try_from(values.get(key)).unwrap_or(i32::MAX);
    let range = native(&LOWEST_PRIORITY)..=native(&HIGHEST_PRIORITY);
    if range.is_empty() {
        let text = "--lowest-priority is above --highest-priority";
        return Err(Problem::new(text, ON_RANGES));
    }
    Ok(Some((range, real_time)))
}

/// Returns whether the machine grants native priorities.
///
/// # Errors
/// It does not, and they are required.
fn grants(mapping: Arc<dyn PriorityMapping>, real_time: RealTime) -> Result<bool, Problem> {
    let config = RtConfig {
        mapping: Mapping::Custom(mapping),
        real_time,
        ..RtConfig::default()
    };
    let rt = RtOrb::new(config).map_err(|error| Problem::new(error, ON_RIGHTS))?;
    Ok(rt.schedules_natively())
}

/// Checks that CORBA priorities that differ do so in the kernel, too.
fn check_apart(
    plan: &Plan,
    mapping: &dyn PriorityMapping,
    range: &RangeInclusive<i32>,
) -> Result<(), Problem> {
    let priorities: BTreeSet<Priority> = plan.activities().map(|one| one.priority()).collect();
    let native: BTreeSet<_> = priorities
        .iter()
        .map(|one| mapping.to_native(*one))
        .collect();
    if native.len() == priorities.len() {
        return Ok(());
    }
    let text = format!(
        "native priorities {} to {} are too few for the {} priorities of the plan",
        range.start(),
        range.end(),
        priorities.len()
    );
    Err(Problem::new(text, ON_RANGES))
}

/// Checks that a text is a reference that leads to an object without a call.
fn check_scheduler(text: &str) -> Result<(), Problem> {
    let schemes = ["corbaloc:", "IOR:"];
    match schemes.iter().any(|scheme| text.starts_with(scheme)) {
        true => Ok(()),
        false => {
            let text = format!("`{text}` is no reference of a scheduler");
            Err(Problem::new(text, ON_SCHEDULERS))
        }
    }
}

fn check_handle(text: &str) -> Result<(), String> {
    match handle(text) {
        Some(_) => Ok(()),
        None => Err(format!(
            "`{text}` is not a handle and an operation, such as 7=radar.track"
        )),
    }
}

/// Returns a handle and the name of its operation.
fn handle(text: &str) -> Option<(i32, &str)> {
    let (handle, name) = text.split_once('=')?;
    let handle = handle.trim().parse().ok()?;
    Some((handle, name.trim())).filter(|(_, name)| !name.is_empty())
}
