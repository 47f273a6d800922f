//! Tests of plans: of the examples, of models with faults, of rates that pass through calls.

mod admission;
mod after_change;
mod blockers;
mod blocking;
mod examples;
mod faults;
mod interference;
mod mends;
mod moves;
mod rates;
mod reorder;
mod several_rates;
mod suspension;
mod timed;
mod values;

use punctual_scheduling::model::{Model, read};
use punctual_scheduling::plan::{Plan, plan};
use punctual_scheduling::strategy::{Rms, by_name};

/// Reads a model that has no faults.
fn model(text: &str) -> Model {
    read("test.toml", text).unwrap_or_else(|faults| panic!("{}", shown(&faults)))
}

/// Plans a model by its strategy, or rate monotonic.
fn planned(model: &Model) -> Plan {
    let strategy = model.strategy.as_deref();
    let strategy = strategy.map_or(&Rms as _, |name| by_name(name).unwrap());
    plan(model, strategy).unwrap_or_else(|faults| panic!("{}", shown(&faults)))
}

/// Formats faults, a line each: `file:line:column: error: message`.
fn shown(faults: &[punctual_idl::diagnostic::Diagnostic]) -> String {
    let lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
