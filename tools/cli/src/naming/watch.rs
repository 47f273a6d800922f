//! `punctual naming watch`: printing of changes.
//!
//! The standard's interface does not notify clients of changes, so the bindings are listed at
//! intervals and compared.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use super::read::{CONTEXT, NOTE, WRONG};
use super::service::Service;
use super::service_options::Common;
use super::tree::{Leads, Node, Walk};
use crate::call::Problem;
use crate::time::with_unit;
use crate::{looks, shown};
use punctual_host::run::ending_signals;
use serde_json::json;

/// It runs until it is interrupted. Changes that are undone between two looks are not seen.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The context; by default that of the service.
    #[arg(default_value = "", hide_default_value = true)]
    name: String,
    /// Interval of the checks.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = with_unit)]
    interval: Duration,
    /// Number of checks, then end.
    #[arg(long, value_name = "NUMBER")]
    looks: Option<u64>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Targets of names, as text.
type Seen = BTreeMap<String, String>;

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let signals = ending_signals();
    let mut signals = signals.map_err(Problem::from)?;
    let service = Service::new(&options.common, orb_options)?;
    let context = service.context(&options.name)?;
    let look = || -> Result<Seen, Problem> {
        let nodes = Walk::new(&service, false, true)?.below(&context, &options.name)?;
        let mut seen = Seen::new();
        gather(&service, &nodes, &mut seen)?;
        Ok(seen)
    };
    let mut before = look()?;
    eprintln!("{} bindings", before.len());
    let mut looks = 1;
    while options.looks.is_none_or(|most| looks < most)
        && looks::waited(&mut signals, options.interval)
    {
        let now = match look() {
            Ok(now) => now,
            // If the server is restarted, it is watched again.
            Err(Problem::System(exception, _)) => {
                eprintln!("{}", shown::exception(exception));
                continue;
            }
            Err(other) => return Err(other),
        };
        tell(&before, &now, options.common.json);
        before = now;
        looks += 1;
    }
    Ok(())
}

fn gather(service: &Service, nodes: &[Node], seen: &mut Seen) -> Result<(), Problem> {
    for node in nodes {
        let leads = match &node.leads {
            Leads::Object(object) | Leads::Temporary(object) => service.text(object.as_ref())?,
            Leads::Group(_, members) => {
                let ids: Vec<&str> = members.iter().map(|one| one.id.as_str()).collect();
                format!("a group of {}", ids.join(", "))
            }
            Leads::Context(nodes) => {
                gather(service, nodes, seen)?;
                "a context".to_owned()
            }
            Leads::Again(name) => format!("the context {name}/"),
            Leads::Elsewhere(object) | Leads::Broken(object, _) => service.text(Some(object))?,
        };
        seen.insert(node.name.clone(), leads);
    }
    Ok(())
}

fn tell(before: &Seen, now: &Seen, json: bool) {
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    for name in gone {
        show("unbound", name, None, json);
    }
    for (name, leads) in now {
        match before.get(name) {
            None => show("bound", name, Some(leads), json),
            Some(other) if other != leads => show("rebound", name, Some(leads), json),
            Some(_) => {}
        }
    }
    // If the reader has gone, the next look ends the command.
    let _ = std::io::stdout().flush();
}

fn show(what: &str, name: &str, leads: Option<&String>, json: bool) {
    if json {
        let change = json!({ "change": what, "name": name, "to": leads });
        println!("{}", shown::json(change));
        return;
    }
    let (style, sign) = match what {
        "unbound" => (WRONG, "-"),
        "bound" => (CONTEXT, "+"),
        _ => (NOTE, "~"),
    };
    anstream::println!("{style}{sign}{style:#} {}", shown::peer(name));
}
