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
    /// A value to change, e.g. radar.read.wcet=2ms: operation, key and value as in the file. Repeatable.
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
    let after = source.plan(&source.changed(&changed, &input)?)?;
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
    let unknown = || format!("there is no operation `{name}`");
    model.operation(name).ok_or_else(unknown)?;
    // An operation of IDL has no table yet.
    let table = file
        .entry("operation")
        .or_insert_with(empty)
        .as_table_mut()
        .map(|operations| operations.entry(name).or_insert_with(empty))
        .and_then(toml::Value::as_table_mut)
        .ok_or_else(unknown)?;
    let value = match value.parse::<i64>() {
        Ok(number) => toml::Value::Integer(number),
        Err(_) => toml::Value::String(value.to_owned()),
    };
    table.insert(key.to_owned(), value);
    Ok(())
}

fn empty() -> toml::Value {
    toml::Value::Table(toml::Table::new())
}
