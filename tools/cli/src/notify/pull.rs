//! `punctual notify pull`: structured events as lines of JSON.

use super::channel::{Channel, failed};
use super::filter::refusal;
use super::structured;
use crate::call::Problem;
use crate::shown;
use punctual::{Interface, NotNil};
use punctual_host::run::ending_signals;
use punctual_notification::cos_notification::StructuredEvent;
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, SequenceProxyPullSupplier,
};
use punctual_notification::cos_notify_filter::{ConstraintExp, Filter, FilterAddConstraintsError};
use std::io::Write;
use std::time::Duration;

/// It runs until it is interrupted. Events that are pushed from its connection on are pulled.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    channel: Channel,
    /// Constraint in the extended Trader Constraint Language that events have to meet: `$severity > 3`.
    #[arg(long, value_name = "CONSTRAINT")]
    filter: Option<String>,
    /// Number of events, then end.
    #[arg(long, value_name = "NUMBER")]
    count: Option<u64>,
}

const ON_CONSTRAINTS: &str = "a constraint is in the extended Trader Constraint Language, e.g. `$severity > 3 and $type_name == 'NT_ALARM'`";

/// Events that are pulled at a time.
const BATCH: i32 = 100;

/// Time between two calls without an event.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let mut signals = ending_signals().map_err(Problem::from)?;
    let channel = options.channel.resolve(orb_options)?;
    let filter = options.filter.as_deref();
    let filter = filter.map(|text| filter_of(&channel, text)).transpose()?;
    let proxy = connect(&channel, filter.as_ref())?;
    eprintln!("connected");
    let mut left = options.count.unwrap_or(u64::MAX);
    while left > 0 && signals.pending().next().is_none() {
        let most = i32::try_from(left).unwrap_or(BATCH).min(BATCH);
        let (events, _) = proxy.try_pull_structured_events(most).map_err(failed)?;
        if events.is_empty() {
            std::thread::sleep(PAUSE);
        }
        for event in &events {
            left = left.saturating_sub(1);
            if print(event).is_err() {
                // The reader of the lines has gone.
                left = 0;
            }
        }
    }
    proxy.disconnect_sequence_pull_supplier().map_err(failed)?;
    match filter {
        Some(filter) => filter.destroy().map_err(failed),
        None => Ok(()),
    }
}

fn connect(
    channel: &EventChannel,
    filter: Option<&Filter>,
) -> Result<SequenceProxyPullSupplier, Problem> {
    let admin = channel.default_consumer_admin().map_err(failed)?;
    let admin = admin.not_nil().map_err(failed)?;
    let obtained = admin.obtain_notification_pull_supplier(ClientType::SequenceEvent);
    let (proxy, _) = obtained.map_err(failed)?;
    let proxy = proxy.not_nil().map_err(failed)?;
    let proxy = SequenceProxyPullSupplier::narrow(proxy.as_object().clone()).map_err(failed)?;
    if filter.is_some() {
        proxy.add_filter(filter).map_err(failed)?;
    }
    proxy.connect_sequence_pull_consumer(None).map_err(failed)?;
    Ok(proxy)
}

pub(super) fn filter_of(channel: &EventChannel, text: &str) -> Result<Filter, Problem> {
    let factory = channel.default_filter_factory().map_err(failed)?;
    let factory = factory.not_nil().map_err(failed)?;
    let filter = factory.create_filter("EXTENDED_TCL").map_err(failed)?;
    let filter = filter.not_nil().map_err(failed)?;
    let constraint = ConstraintExp {
        event_types: Vec::new(),
        constraint_expr: text.to_owned(),
    };
    let added = filter.add_constraints(&[constraint]);
    added.map_err(|error| {
        // The service would keep it.
        let _ = filter.destroy();
        match error {
            FilterAddConstraintsError::InvalidConstraint(_) => {
                Problem::usage(refusal("EXTENDED_TCL", text), ON_CONSTRAINTS)
            }
            other => failed(other),
        }
    })?;
    Ok(filter)
}

fn print(event: &StructuredEvent) -> std::io::Result<()> {
    let json = structured::to_json(event);
    let line = match &json {
        Ok(json) => shown::json(json),
        Err(error) => format!("{{\"error\": {}}}", serde_json::Value::from(error.as_str())),
    };
    writeln!(std::io::stdout(), "{line}")
}
