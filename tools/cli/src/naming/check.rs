//! `punctual naming check`: search for bindings whose objects do not exist.

use std::time::Duration;

use super::names::parsed;
use super::read::{NOTE, WRONG};
use super::service::{Service, problem};
use super::service_options::Common;
use super::tree::{Leads, Node, Walk};
use crate::call::Problem;
use crate::shown;
use crate::time::with_unit;
use indicatif::{ProgressBar, ProgressStyle};
use punctual::ObjectRef;
use punctual_naming::client::Answer;
use serde_json::json;

/// Each object that is bound is asked whether it exists (`_non_existent`). It is *dead* where its
/// server says that it does not, *unreachable* where no server answers. The exit status is 1 if
/// there are such bindings.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The context; by default that of the service.
    #[arg(default_value = "", hide_default_value = true)]
    name: String,
    /// How long an object may take to answer.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = with_unit)]
    answer: Duration,
    /// Remove the bindings to dead objects.
    #[arg(long)]
    prune: bool,
    /// Remove the bindings to objects that cannot be reached, too: a server that is being started again loses its names.
    #[arg(long, requires = "prune")]
    prune_unreachable: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Number of objects that are asked at a time, each by a thread.
const AT_A_TIME: usize = 32;

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    let context = service.context(&options.name)?;
    let nodes = Walk::new(&service, false, true)?.below(&context, &options.name)?;
    let mut bound = Vec::new();
    gather(&nodes, &mut bound);
    let progress = progress(bound.len(), options.common.json);
    let (mut wrong, mut removed) = (0, 0);
    for some in bound.chunks(AT_A_TIME) {
        for ((name, _), answer) in some.iter().zip(answers(some, options.answer)) {
            progress.inc(1);
            let prunes = options.prune && (answer == Answer::Dead || options.prune_unreachable);
            if answer == Answer::Alive {
                continue;
            }
            wrong += 1;
            if prunes {
                let unbound = service.root.unbind(&parsed(name)?);
                unbound.map_err(|error| problem(name, &error))?;
                removed += 1;
            }
            progress.suspend(|| show(name, &answer, prunes, options.common.json));
        }
    }
    progress.finish_and_clear();
    let count = bound.len();
    if !options.common.json {
        println!("{count} objects, {wrong} dead or unreachable");
        if options.prune && wrong > 0 {
            println!("{}", pruned(removed, wrong - removed));
        }
    }
    match wrong {
        0 => Ok(()),
        _ => Err(Problem::Shown),
    }
}

/// Returns the line about removed bindings, and those that stay though their objects cannot be reached.
fn pruned(removed: usize, kept: usize) -> String {
    match kept {
        0 => format!("{removed} bindings removed"),
        _ => format!(
            "{removed} bindings removed, {kept} kept, whose objects cannot be reached: --prune-unreachable removes them, too"
        ),
    }
}

/// Collects names and objects, including contexts of other servers.
fn gather<'n>(nodes: &'n [Node], bound: &mut Vec<(&'n str, &'n ObjectRef)>) {
    for node in nodes {
        match &node.leads {
            Leads::Object(Some(object))
            | Leads::Temporary(Some(object))
            | Leads::Elsewhere(object)
            | Leads::Broken(object, _) => {
                bound.push((&node.name, object));
            }
            Leads::Context(nodes) => gather(nodes, bound),
            // The service itself checks the members of groups.
            Leads::Object(None) | Leads::Temporary(None) | Leads::Again(_) | Leads::Group(..) => {}
        }
    }
}

fn answers(bound: &[(&str, &ObjectRef)], within: Duration) -> Vec<Answer> {
    // Bare thread: it makes one call, and ends before the next ones begin.
    std::thread::scope(|scope| {
        let asking: Vec<_> = bound
            .iter()
            .map(|(_, object)| scope.spawn(|| Answer::of(object, within)))
            .collect();
        let lost = || Answer::Unreachable("it could not be asked".to_owned());
        let answers = asking.into_iter();
        answers
            .map(|one| one.join().unwrap_or_else(|_| lost()))
            .collect()
    })
}

fn progress(length: usize, json: bool) -> ProgressBar {
    if json {
        return ProgressBar::hidden();
    }
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}");
    // The template is a constant; if it is invalid, the bar has the usual look.
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}

fn show(name: &str, answer: &Answer, is_pruned: bool, json: bool) {
    let (what, why) = match answer {
        Answer::Alive => return,
        Answer::Dead => ("dead", ""),
        Answer::Unreachable(why) => ("unreachable", why.as_str()),
    };
    if json {
        let found = json!({ "name": name, "is": what, "why": why, "removed": is_pruned });
        println!("{}", shown::json(found));
        return;
    }
    let (name, why) = (shown::peer(name), shown::exception(why));
    let removed = if is_pruned { ", removed" } else { "" };
    println!("{WRONG}{what}{removed}{WRONG:#} {name} {NOTE}{why}{NOTE:#}");
}
