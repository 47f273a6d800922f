//! Settings of the scheduler.

use std::path::{Path, PathBuf};

use punctual_host::Problem;
use punctual_host::access::{Rules, check_principal};
use punctual_host::settings::{BIND_NAME, COMPACT, Key, NAMING, PROCESS, Setting, Values, listen};
use punctual_scheduling::strategy::by_name;

use crate::limits::Limits;
use crate::service::{OpenError, Options, SchedulingService};

/// Setting for the endpoints at which the scheduler listens.
pub const LISTEN: Key<Vec<String>> = listen().required();

const STORE: Key<Option<PathBuf>> = Key::path("store").doc(
    "The file that operations, dependencies and the schedule are kept in; it is created if it does not exist. Without \
     it, they are lost when the server ends.",
);
const STRATEGY: Key<String> = Key::one_of(
    "strategy",
    &[
        "RMS",
        "DMS",
        "EDF",
        "MLF",
        "MUF",
        "RMS_MLF",
        "MUF_FAIR",
        "RMS_FAIR",
        "OPA",
        "CRITICALITY",
    ],
)
.default("RMS")
.doc(
    "Strategy by which priorities are assigned: by period (RMS), by deadline (DMS), by criticality and laxity (MUF), or \
     as the guide says of the others. Chains of calls are proved under RMS, DMS, RMS_FAIR, OPA and \
     CRITICALITY alone: under others there are anomalies of them.",
);
const STRICT: Key<bool> = Key::flag("strict").doc(
    "Raise UTILIZATION_BOUND_EXCEEDED if an operation may miss its deadline. Without it, the schedule is computed, and \
     an anomaly says so.",
);
const ALLOW: Key<Vec<String>> = Key::list("allow", check_principal)
    .value_name("WHO")
    .doc(
        "Let WHO change operations and compute schedules, and no others: an address, a network such as 10.0.0.0/8, `local` \
         (Unix sockets, shared memory), `cert:NAME` (a name in a TLS certificate) or `any`. May be given more than \
         once. Without it, every client that reaches the server may.",
    );
const MOST_OPERATIONS: Key<u64> = Key::number("most-operations", 0..=100_000)
    .default("10000")
    .doc("Maximum number of operations; beyond, `create` raises NO_RESOURCES.");
const MOST_DEPENDENCIES: Key<u64> = Key::number("most-dependencies", 0..=10_000_000)
    .default("100000")
    .doc("Maximum number of dependencies; beyond, `add_dependency` raises NO_RESOURCES.");

/// Returns all settings of the scheduler, in the order of `--help`.
#[must_use]
pub fn settings() -> Vec<&'static Setting> {
    [OWN, PROCESS].concat()
}

/// Settings of the scheduler's own.
const OWN: &[&Setting] = &[
    &LISTEN.setting,
    &STORE.setting,
    &STRATEGY.setting,
    &STRICT.setting,
    &ALLOW.setting,
    &MOST_OPERATIONS.setting,
    &MOST_DEPENDENCIES.setting,
    &COMPACT.setting,
    &BIND_NAME.setting,
    &NAMING.setting,
];

const ON_STORES: &str =
    "name a file that `punctual schedule serve` made, and that no server has open";

/// Opens the scheduler that settings describe.
///
/// # Errors
/// The store cannot be opened.
pub fn open(values: &Values) -> Result<SchedulingService, Problem> {
    let service = stored(values)?;
    service.set_limits(Limits {
        operations: values.count(&MOST_OPERATIONS),
        dependencies: values.count(&MOST_DEPENDENCIES),
    });
    let options = Options::default();
    service.set_options(Options {
        strategy: by_name(&values.get(&STRATEGY)).unwrap_or(options.strategy),
        is_strict: values.get(&STRICT),
    });
    service.set_writers(Rules::of(&values.get(&ALLOW))?);
    Ok(service)
}

fn stored(values: &Values) -> Result<SchedulingService, Problem> {
    let Some(path) = values.get(&STORE) else {
        return Ok(SchedulingService::in_memory());
    };
    let bad = |error: OpenError| bad(&path, &error);
    let service = SchedulingService::open(&path).map_err(bad)?;
    if values.get(&COMPACT) {
        service.compact().map_err(bad)?;
    }
    Ok(service)
}

fn bad(path: &Path, error: &OpenError) -> Problem {
    Problem::new(format!("{}: {error}", path.display()), ON_STORES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_scheduling::strategy::ALL;

    #[test]
    fn without_a_setting_limits_and_strategy_are_as_they_are_in_code() {
        let values =
            Values::from_toml(&settings(), "scheduler.toml", "listen = \"iiop://:0\"").unwrap();
        let limits = Limits {
            operations: values.count(&MOST_OPERATIONS),
            dependencies: values.count(&MOST_DEPENDENCIES),
        };
        assert_eq!(limits, Limits::default());
        let strategy = Options::default().strategy;
        assert_eq!(values.get(&STRATEGY), strategy.name());
    }

    #[test]
    fn every_strategy_of_the_library_can_be_set() {
        for strategy in ALL {
            let text = format!("listen = \"iiop://:0\"\nstrategy = \"{}\"", strategy.name());
            let values = Values::from_toml(&settings(), "scheduler.toml", &text).unwrap();
            open(&values).unwrap();
        }
    }
}
