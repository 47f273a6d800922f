//! `punctual schedule check`.

use super::here::{Planned, Remark, compare, with_own_mutexes};
use super::source::{Source, print_json, status};
use super::text;
use crate::doctor::facts;
use crate::fail;
use punctual_scheduling::model::{Host, Model};
use punctual_scheduling::plan::{Blocker, Mends, Move, Plan, PlannedProcessor, PlannedStream};
use punctual_scheduling_runtime::{Schedule, ScheduleOptions, Unproved};
use serde::Serialize;
use std::process::ExitCode;

/// Options of `punctual schedule check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    /// Compare the plan of this host with this machine: processors, priorities, rights. The exit status is 1 if
    /// something is missing. Without a name, the model has one host.
    #[arg(long, value_name = "HOST", num_args = 0..=1, default_missing_value = "")]
    here: Option<String>,
}

/// Verdict in JSON.
#[derive(Serialize)]
struct Checked<'p> {
    strategy: &'p str,
    fits: bool,
    processors: &'p [PlannedProcessor],
    streams: &'p [PlannedStream],
    mends: Vec<Mends>,
    moves: Vec<Move>,
    blockers: Vec<Blocker>,
    /// Strategy that meets all deadlines by another order of fixed priorities.
    strategy_that_fits: Option<&'static str>,
    /// Needs of the plan beside what this machine has; only with `--here`.
    here: Option<Vec<Remark>>,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let source = &options.source;
    let model = source.model(&source.read()?)?;
    let plan = source.plan(&model)?;
    let strategy = source.chosen(&model)?;
    let mends = plan.confirmed_mends(&model, strategy);
    let moves = plan.moves(&model, strategy);
    let blockers = plan.blockers(&model, strategy);
    let strategy_that_fits = plan.other_order(&model);
    let here = match &options.here {
        Some(name) => Some(remarks(source, &model, &plan, name)?),
        None => None,
    };
    let mut unmet = here.iter().flatten().filter(|remark| !remark.is_met);
    let is_able = unmet.next().is_none();
    match source.json {
        true => print_json(&Checked {
            strategy: &plan.strategy,
            fits: plan.fits(),
            processors: &plan.processors,
            streams: &plan.streams,
            mends,
            moves,
            blockers,
            strategy_that_fits,
            here,
        })?,
        false => {
            text::print(&plan, &mends, &moves, &blockers);
            text::print_other_order(strategy_that_fits);
            text::print_here(here.as_deref());
        }
    }
    Ok(match is_able {
        true => status(&plan),
        false => ExitCode::FAILURE,
    })
}

/// Compares the plan of a host, as a program executes it, with this machine; a host of an empty name is the model's only one.
fn remarks(
    source: &Source,
    model: &Model,
    plan: &Plan,
    name: &str,
) -> Result<Vec<Remark>, ExitCode> {
    let its = |host: &&Host| host.name == name || (name.is_empty() && model.hosts.len() == 1);
    let host = model.hosts.iter().find(its).ok_or_else(|| {
        let known: Vec<_> = model.hosts.iter().map(|host| &*host.name).collect();
        let first = known.first().copied().unwrap_or_default();
        let known = known.join(", ");
        let message = match name {
            "" => format!("the model has several hosts: {known}"),
            _ => format!("the model has no host `{name}`; it has {known}"),
        };
        let help = format!("say which of them this machine is, for example `--here={first}`");
        fail(message, Some(&help))
    })?;
    let inheriting = with_own_mutexes(model).map(|model| source.plan(&model));
    let inheriting = inheriting.transpose()?;
    let options = ScheduleOptions {
        strategy: source.strategy.map(str::to_owned),
        unproved: Unproved::Admit,
        ..ScheduleOptions::default()
    };
    let schedule = match Schedule::new(model.clone(), &host.name, &options) {
        Ok(schedule) => schedule,
        Err(error) => return Ok(vec![Remark::of(false, error.to_string())]),
    };
    let planned = Planned {
        model,
        plan,
        schedule: &schedule,
        inheriting: inheriting.as_ref(),
    };
    Ok(compare(planned, host, facts()))
}
