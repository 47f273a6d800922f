//! Settings of levels.

use super::planned::{GATEWAYS, PlannedLevels, UNPLANNED};
use super::threads::threads_of;
use punctual::rt::{LinearMapping, Mapping, Priority, PriorityMapping, RealTime, RtConfig, RtOrb};
use punctual_host::Problem;
use punctual_host::settings::{Key, Setting, Values};
use punctual_rtevent::{Level, ThreadFunction};
use punctual_scheduling_runtime::{Schedule as Plan, ScheduleOptions};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SCHEDULE: Key<Option<PathBuf>> = Key::path("schedule").doc(
    "Deliver by the priorities of a plan: that of this model, as `punctual schedule check` reads it. Its proof includes the \
     channel's part where the model has it: pushes as one-way calls. Consumers without a --handle come behind all \
     operations of the plan.",
);
const HOST: Key<Option<String>> = Key::text("host")
    .doc("Host of the plan on which this server runs; may be left out if the model has only one.");
const HANDLE: Key<Vec<String>> = Key::list("handle", check_handle)
    .value_name("HANDLE=OPERATION")
    .requires(&["schedule"])
    .doc(
        "Deliver what an entry of a filter with this `rt_info` accepts at the priority of the operation: `7=radar.track`. \
         May be given more than once; a consumer may have entries with different ones.",
    );
const REAL_TIME: Key<String> = Key::one_of("real-time", &["require", "best-effort", "off"])
    .default("require")
    .doc(
        "Native priorities (SCHED_FIFO) of the threads that deliver by --schedule: `require` does not start without the \
         right to them; `best-effort` then starts with a warning; `off` orders deliveries alone. `punctual doctor` says \
         what the machine grants.",
    );
const LOWEST_PRIORITY: Key<u64> = Key::number("lowest-priority", 1..=99)
    .default("1")
    .doc("Native priority of CORBA priority 0; those of a plan are spread from it to --highest-priority.");
const HIGHEST_PRIORITY: Key<u64> = Key::number("highest-priority", 1..=99)
    .default("99")
    .doc("Native priority of CORBA priority 32767, the highest.");

/// Settings of levels, in the order of `--help`.
pub(crate) const SETTINGS: &[&Setting] = &[
    &SCHEDULE.setting,
    &HOST.setting,
    &HANDLE.setting,
    &REAL_TIME.setting,
    &LOWEST_PRIORITY.setting,
    &HIGHEST_PRIORITY.setting,
];

/// Levels of a channel, and the threads that they get.
pub(crate) struct Levels {
    /// Levels of handles, if there is a plan.
    pub(crate) planned: Option<Arc<PlannedLevels>>,
    /// Level of consumers without a handle.
    pub(crate) usual: Level,
    /// Level of gateways.
    pub(crate) gateways: Level,
    /// Native priorities of the plan's levels, if they have some.
    mapping: Option<Arc<dyn PriorityMapping>>,
}

const ON_PLANS: &str = "`punctual schedule check` shows what is in the plan";
const ON_RIGHTS: &str =
    "`punctual doctor` says what this machine grants; `--real-time best-effort` starts without it";
const ON_RANGES: &str =
    "widen the range of --lowest-priority and --highest-priority, or use `--real-time off`";

impl Levels {
    /// Makes the levels that settings describe.
    ///
    /// # Errors
    /// A plan that is none or is not proved, operations that it does not have, priorities that the machine does not grant.
    pub(crate) fn open(values: &Values) -> Result<Self, Problem> {
        let Some(file) = values.get(&SCHEDULE) else {
            return Ok(Self {
                planned: None,
                usual: Level::default(),
                gateways: Level::default(),
                mapping: None,
            });
        };
        let plan = plan(&file, &values.get(&HOST).unwrap_or_default())?;
        let handles = values.get(&HANDLE);
        let pairs = handles.iter().filter_map(|text| handle(text));
        let planned = PlannedLevels::new(&plan, pairs);
        let planned = planned.map_err(|error| Problem::new(error, ON_PLANS))?;
        Ok(Self {
            planned: Some(Arc::new(planned)),
            usual: UNPLANNED,
            gateways: GATEWAYS,
            mapping: mapping(values, &plan)?,
        })
    }

    /// Returns whether threads get native priorities.
    pub(crate) fn are_native(&self) -> bool {
        self.mapping.is_some()
    }

    /// Returns the specification of threads of this name.
    pub(crate) fn threads(&self, name: &'static str) -> ThreadFunction {
        threads_of(name, self.mapping.clone())
    }

    /// Returns the number of levels.
    pub(crate) fn count(&self) -> usize {
        let handles = self.planned.iter().flat_map(|planned| planned.handles());
        let levels: BTreeSet<_> = handles.map(|(_, level)| level).collect();
        levels.len() + [self.usual, self.gateways].len()
    }
}

fn plan(file: &Path, host: &str) -> Result<Arc<Plan>, Problem> {
    let plan = Plan::from_file(file, host, &ScheduleOptions::default());
    plan.map_err(|error| Problem::new(error, ON_PLANS))
}

/// Returns the native priorities that settings ask for; `None` if threads are to have none.
fn mapping(values: &Values, plan: &Plan) -> Result<Option<Arc<dyn PriorityMapping>>, Problem> {
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
    let mapping: Arc<dyn PriorityMapping> = Arc::new(LinearMapping::new(range.clone()));
    check_apart(plan, &*mapping, &range)?;
    let config = RtConfig {
        mapping: Mapping::Custom(mapping.clone()),
        real_time,
        ..RtConfig::default()
    };
    let rt = RtOrb::new(config).map_err(|error| Problem::new(error, ON_RIGHTS))?;
    Ok(rt.schedules_natively().then_some(mapping))
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
