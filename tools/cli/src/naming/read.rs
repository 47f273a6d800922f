//! `punctual naming list`, `tree` and `resolve`.

use super::names::{below, parsed};
use super::service::{Service, as_json, list as all_of, problem};
use super::service_options::Common;
use super::tree::{Leads, Node, Walk};
use crate::call::Problem;
use crate::shown;
use anstyle::{AnsiColor, Style};
use punctual::ObjectRef;
use serde_json::{Value, json};

pub(super) const CONTEXT: Style = AnsiColor::Blue.on_default().bold();
pub(super) const NOTE: Style = AnsiColor::Cyan.on_default();
pub(super) const WRONG: Style = AnsiColor::Red.on_default();

#[derive(Debug, clap::Args)]
pub(crate) struct ListOptions {
    /// The context; by default that of the service.
    #[arg(default_value = "", hide_default_value = true)]
    name: String,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TreeOptions {
    /// The context; by default that of the service.
    #[arg(default_value = "", hide_default_value = true)]
    name: String,
    /// Descend into contexts of other servers, too.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResolveOptions {
    /// The name.
    name: String,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Prints bindings as they arrive, so that a context may have any number of them. With `--json` it
/// prints one object a line.
pub(super) fn list(options: &ListOptions, orb_options: &[String]) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    let context = service.context(&options.name)?;
    all_of(&service, &context, |some| {
        for entry in &some {
            let name = below("", &entry.component);
            let shown = shown::peer(&name);
            match (options.common.json, entry.is_context) {
                (true, _) => println!("{}", shown::json(as_json(&name, entry))),
                (false, true) => println!("{CONTEXT}{shown}/{CONTEXT:#}"),
                (false, false) => println!("{shown}"),
            }
        }
        Ok(())
    })
}

pub(super) fn tree(options: &TreeOptions, orb_options: &[String]) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    let context = service.context(&options.name)?;
    let nodes = Walk::new(&service, options.follow, false)?.below(&context, &options.name)?;
    if options.common.json {
        let nodes: Vec<Value> = nodes.iter().map(node_as_json).collect();
        println!("{}", shown::json(format_args!("{:#}", json!(nodes))));
        return Ok(());
    }
    let root = match options.name.as_str() {
        "" => "/",
        name => name,
    };
    println!("{CONTEXT}{}{CONTEXT:#}", shown::peer(root));
    draw(&nodes, "");
    Ok(())
}

fn draw(nodes: &[Node], indent: &str) {
    for (at, node) in nodes.iter().enumerate() {
        let (branch, more) = match at + 1 == nodes.len() {
            true => ("└── ", "    "),
            false => ("├── ", "│   "),
        };
        let name = shown::peer(below("", &node.entry.component));
        match &node.leads {
            Leads::Object(_) | Leads::Temporary(_) | Leads::Group(..) => {
                println!("{indent}{branch}{name}")
            }
            Leads::Context(nodes) => {
                println!("{indent}{branch}{CONTEXT}{name}/{CONTEXT:#}");
                draw(nodes, &format!("{indent}{more}"));
            }
            Leads::Again(other) => {
                let other = shown::peer(if other.is_empty() { "/" } else { other });
                println!("{indent}{branch}{CONTEXT}{name}/{CONTEXT:#} {NOTE}is {other}{NOTE:#}");
            }
            Leads::Elsewhere(_) => {
                println!(
                    "{indent}{branch}{CONTEXT}{name}/{CONTEXT:#} {NOTE}of another server{NOTE:#}"
                );
            }
            Leads::Broken(_, why) => {
                let why = shown::exception(why);
                println!("{indent}{branch}{CONTEXT}{name}/{CONTEXT:#} {WRONG}{why}{WRONG:#}");
            }
        }
    }
}

fn node_as_json(node: &Node) -> Value {
    let mut json = as_json(&node.name, &node.entry);
    let (key, value) = match &node.leads {
        Leads::Object(_) | Leads::Temporary(_) | Leads::Group(..) => return json,
        Leads::Context(nodes) => {
            let nodes: Vec<Value> = nodes.iter().map(node_as_json).collect();
            ("bindings", json!(nodes))
        }
        Leads::Again(other) => ("same_as", json!(other)),
        Leads::Elsewhere(_) => ("elsewhere", json!(true)),
        Leads::Broken(_, why) => ("broken", json!(why)),
    };
    if let Value::Object(members) = &mut json {
        members.insert(key.to_owned(), value);
    }
    json
}

pub(super) fn resolve(options: &ResolveOptions, orb_options: &[String]) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    let found = service.root.resolve(&parsed(&options.name)?);
    let found = found.map_err(|error| problem(&options.name, &error))?;
    let reference = service.text(found.as_ref())?;
    match options.common.json {
        true => println!(
            "{}",
            shown::json(json!({
                "name": options.name,
                "type_id": found.as_ref().map(ObjectRef::type_id),
                "reference": reference,
            }))
        ),
        false => println!("{reference}"),
    }
    Ok(())
}
