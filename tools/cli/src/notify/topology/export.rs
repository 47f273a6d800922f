//! `punctual notify export`.

use super::found::{Found, all};
use super::{Side, admin_name, channel_name, values};
use crate::call::Problem;
use crate::notify::channel::Factory;
use crate::notify::kinds;
use punctual_host::publish::write_reference;
use punctual_notification::cos_notification::EventType;
use punctual_notification::cos_notification::{CONNECTION_RELIABILITY, PERSISTENT, Property};
use punctual_notification::cos_notify_channel_admin::InterFilterGroupOperator as Operator;
use punctual_notification::punctual_notify::{AdminState, FilterState, ProxyState, Statement};
use std::path::PathBuf;
use toml::{Table, Value};

/// It prints channels with their administrators, and what clients have stated at these: quality of service, types and
/// filters; of proxies, those whose connection is persistent and whose client has a reference. Events are not exported.
/// The service is `punctual notify serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    #[command(flatten)]
    factory: Factory,
    /// Id of a channel; by default all.
    #[arg(long, value_name = "ID")]
    channel: Option<i32>,
    /// Write the file whole or not at all; by default it is printed.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(options: &Export, orb_options: &[String]) -> Result<(), Problem> {
    let (_, factory) = options.factory.resolve_with_orb(orb_options)?;
    let channels = all(&factory)?;
    let wanted = |found: &&Found| options.channel.is_none_or(|id| id == found.id);
    let mut left_out = 0;
    let mut tables = Table::new();
    for found in channels.iter().filter(wanted) {
        let name = channel_name(&found.topology.name, found.id);
        tables.insert(name, Value::Table(channel(found, &mut left_out)));
    }
    if let (Some(id), true) = (options.channel, tables.is_empty()) {
        return Err(Problem::Usage(
            format!("the service has no channel {id}"),
            None,
        ));
    }
    let file = Table::from_iter([("channel".to_owned(), Value::Table(tables))]);
    let text =
        toml::to_string_pretty(&file).map_err(|error| Problem::Usage(error.to_string(), None))?;
    if left_out > 0 {
        eprintln!(
            "{left_out} proxies, mapping filters and filters of other servers are not exported: their clients make them again"
        );
    }
    match &options.output {
        Some(path) => write_reference(path, &text).map_err(Problem::from),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

fn channel(found: &Found, left_out: &mut usize) -> Table {
    let topology = &found.topology;
    let mut table = Table::new();
    put_table(&mut table, "quality", properties(&topology.quality));
    put_table(
        &mut table,
        "administration",
        properties(&topology.administration),
    );
    for (side, admins) in [
        (Side::Consumers, &topology.consumers),
        (Side::Suppliers, &topology.suppliers),
    ] {
        let admins = admins.iter().map(|one| {
            let name = admin_name(&one.name, one.id);
            (name, Value::Table(admin(one, left_out)))
        });
        let admins: Table = admins.collect();
        put_table(&mut table, side.key(), admins);
    }
    table
}

fn admin(state: &AdminState, left_out: &mut usize) -> Table {
    let mut table = Table::new();
    let operator = match state.op {
        Operator::AndOp => "and",
        Operator::OrOp => "or",
    };
    table.insert("operator".to_owned(), operator.into());
    put_stated(&mut table, &state.stated, left_out);
    let (kept, others): (Vec<_>, Vec<_>) = state.proxies.iter().partition(|one| is_kept(one));
    *left_out += others.len();
    let proxies: Vec<_> = kept.into_iter().map(|one| proxy(one, left_out)).collect();
    put_list(&mut table, "proxies", proxies);
    table
}

/// Returns whether a proxy's connection is persistent, and its client can be named.
fn is_kept(proxy: &ProxyState) -> bool {
    let quality = &proxy.stated.quality;
    let reliability = quality
        .iter()
        .find(|one| one.name == CONNECTION_RELIABILITY);
    let is_persistent = reliability.is_some_and(|one| one.value.extract() == Ok(PERSISTENT));
    is_persistent && !proxy.client.is_empty()
}

fn proxy(state: &ProxyState, left_out: &mut usize) -> Value {
    let mut table = Table::new();
    table.insert("kind".to_owned(), kinds::name(state.kind).into());
    table.insert("client".to_owned(), state.client.as_str().into());
    put_stated(&mut table, &state.stated, left_out);
    Value::Table(table)
}

fn put_stated(table: &mut Table, stated: &Statement, left_out: &mut usize) {
    *left_out += usize::from(stated.has_mappings) + usize::from(stated.has_foreign_filters);
    put_table(table, "quality", properties(&stated.quality));
    if stated.has_types {
        table.insert("types".to_owned(), types(&stated.types));
    }
    let filters = stated.filters.iter().map(filter).collect();
    put_list(table, "filters", filters);
}

fn filter(state: &FilterState) -> Value {
    let constraints = state.constraints.iter().map(|one| {
        let mut table = Table::new();
        if !one.event_types.is_empty() {
            table.insert("types".to_owned(), types(&one.event_types));
        }
        table.insert("text".to_owned(), one.constraint_expr.as_str().into());
        Value::Table(table)
    });
    let constraints: Vec<_> = constraints.collect();
    let mut table = Table::new();
    table.insert("grammar".to_owned(), state.grammar.as_str().into());
    put_list(&mut table, "constraints", constraints);
    Value::Table(table)
}

fn types(types: &[EventType]) -> Value {
    let types = types.iter().map(|one| {
        let members = [("domain", &one.domain_name), ("type", &one.type_name)];
        let members = members.map(|(key, name)| (key.to_owned(), name.as_str().into()));
        Value::Table(Table::from_iter(members))
    });
    Value::Array(types.collect())
}

fn properties(properties: &[Property]) -> Table {
    let values = properties.iter();
    let values = values.filter_map(|one| Some((one.name.clone(), values::to_toml(one)?)));
    values.collect()
}

fn put_table(table: &mut Table, key: &str, value: Table) {
    if !value.is_empty() {
        table.insert(key.to_owned(), Value::Table(value));
    }
}

fn put_list(table: &mut Table, key: &str, values: Vec<Value>) {
    if !values.is_empty() {
        table.insert(key.to_owned(), Value::Array(values));
    }
}
