//! `punctual schedule what-if`.

use super::source::{Source, print_json, status};
use super::text;
use crate::fail;
use punctual_scheduling::model::Model;
use punctual_scheduling::plan::PlannedStream;
use serde::Serialize;
use std::process::ExitCode;

/// Options of `punctual schedule what-if`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    source: Source,
    /// A value to change, e.g. radar.read.wcet=2ms: operation, key and value as in the file. Repeatable. Of a host:
    /// host.station.processors=2, host.station.interference.most=1ms.
    #[arg(long = "set", value_name = "OPERATION.KEY=VALUE", required = true)]
    changes: Vec<String>,
}

/// Comparison in JSON.
#[derive(Serialize)]
struct Compared<'p> {
    before: &'p [PlannedStream],
    after: &'p [PlannedStream],
    fits_before: bool,
    fits_after: bool,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, ExitCode> {
    let source = &options.source;
    let input = source.read()?;
    let model = source.model(&input)?;
    let before = source.plan(&model)?;
    // The text is TOML, or it would be no model.
    let mut file: toml::Table = input.text.parse().map_err(|error| fail(error, None))?;
    for change in &options.changes {
        apply(&mut file, &model, change).map_err(|message| {
            fail(
                message,
                Some("a change is written as --set radar.read.wcet=2ms"),
            )
        })?;
    }
    let changed = toml::to_string(&file).map_err(|error| fail(error, None))?;
    let after = source.plan_after(&before, &source.changed(&changed, &input)?)?;
    match source.json {
        true => print_json(&Compared {
            before: &before.streams,
            after: &after.streams,
            fits_before: before.fits(),
            fits_after: after.fits(),
        })?,
        false => text::print_comparison(&before, &after),
    }
    Ok(status(&after))
}

/// Changes one value of a file: a number if it is one, else a text.
fn apply(file: &mut toml::Table, model: &Model, change: &str) -> Result<(), String> {
    let (path, value) = change
        .split_once('=')
        .ok_or_else(|| format!("`{change}` has no `=`"))?;
    let (name, key) = path
        .rsplit_once('.')
        .ok_or_else(|| format!("`{path}` names no key of an operation"))?;
    let value = match value.parse::<i64>() {
        Ok(number) => toml::Value::Integer(number),
        Err(_) => toml::Value::String(value.to_owned()),
    };
    let table = match (model.operation(name), name.strip_prefix("host.")) {
        // An operation of IDL has no table yet.
        (Some(_), _) => table_at(file, &["operation", name]),
        (None, Some(rest)) => {
            let (host, table) = of_host(rest);
            let has_host = model.hosts.iter().any(|known| known.name == host);
            let table = [&["host", host][..], table].concat();
            has_host.then(|| table_at(file, &table)).flatten()
        }
        (None, None) => return Err(format!("there is no operation `{name}`")),
    };
    let table = table.ok_or_else(|| format!("there is no table `{name}`"))?;
    table.insert(key.to_owned(), value);
    Ok(())
}

/// Returns the name of a host, and the table of it to which a path leads.
fn of_host(path: &str) -> (&str, &[&str]) {
    match path.strip_suffix(".interference") {
        Some(host) => (host, &["interference"]),
        None => (path, &[]),
    }
}

/// Returns a table of a file by the names that lead to it; makes those that are missing.
fn table_at<'f>(file: &'f mut toml::Table, path: &[&str]) -> Option<&'f mut toml::Table> {
    let mut table = file;
    for name in path {
        table = table.entry(*name).or_insert_with(empty).as_table_mut()?;
    }
    Some(table)
}

fn empty() -> toml::Value {
    toml::Value::Table(toml::Table::new())
}
