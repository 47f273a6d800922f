//! `punctual notify push`: structured events from a shell.

use super::channel::{Channel, failed};
use super::structured;
use crate::call::Problem;
use crate::json_value::{JsonValue, NamedValue};
use punctual::{Interface, NotNil};
use punctual_notification::cos_notification::{Property, StructuredEvent};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, StructuredProxyPushConsumer,
};

/// An event is JSON as `punctual call` has it.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    channel: Channel,
    /// Domain of the event's type.
    #[arg(long, default_value = "")]
    domain: String,
    /// Name of the event's type.
    #[arg(long = "type", value_name = "NAME", default_value = "")]
    kind: String,
    /// Name of the event.
    #[arg(long, default_value = "")]
    name: String,
    /// Property that filters see, with a value as JSON: `severity={"type": "long", "value": 5}`. May be given more than
    /// once.
    #[arg(long = "field", value_name = "NAME=JSON")]
    fields: Vec<NamedValue>,
    /// Remainder of the body, as JSON: `{"type": "string", "value": "open"}`.
    #[arg(long, value_name = "JSON")]
    body: Option<JsonValue>,
    /// All of an event, as JSON, which `punctual notify pull` prints.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["domain", "kind", "name", "fields", "body"])]
    event: Option<String>,
    /// Number of events.
    #[arg(long, default_value_t = 1)]
    count: u64,
}

const ON_EVENTS: &str = "--event takes JSON as `punctual notify pull` prints it";

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let event = event(options)?;
    let channel = options.channel.resolve(orb_options)?;
    let proxy = connect(&channel)?;
    for _ in 0..options.count {
        proxy.push_structured_event(&event).map_err(failed)?;
    }
    proxy.disconnect_structured_push_consumer().map_err(failed)
}

/// Connects a supplier of structured events that hears nothing.
pub(super) fn connect(channel: &EventChannel) -> Result<StructuredProxyPushConsumer, Problem> {
    let admin = channel.default_supplier_admin().map_err(failed)?;
    let admin = admin.not_nil().map_err(failed)?;
    let obtained = admin.obtain_notification_push_consumer(ClientType::StructuredEvent);
    let (proxy, _) = obtained.map_err(failed)?;
    let proxy = proxy.not_nil().map_err(failed)?;
    let proxy = StructuredProxyPushConsumer::narrow(proxy.as_object().clone()).map_err(failed)?;
    proxy
        .connect_structured_push_supplier(None)
        .map_err(failed)?;
    Ok(proxy)
}

fn event(options: &Options) -> Result<StructuredEvent, Problem> {
    if let Some(json) = &options.event {
        return structured::of_json(json).map_err(|error| Problem::usage(error, ON_EVENTS));
    }
    let mut event = StructuredEvent::default();
    let fixed = &mut event.header.fixed_header;
    fixed.event_type.domain_name.clone_from(&options.domain);
    fixed.event_type.type_name.clone_from(&options.kind);
    fixed.event_name.clone_from(&options.name);
    let fields = options.fields.iter().cloned();
    event.filterable_data = fields
        .map(|NamedValue { name, value }| Property { name, value })
        .collect();
    event.remainder_of_body = options
        .body
        .clone()
        .map(|JsonValue(body)| body)
        .unwrap_or_default();
    Ok(event)
}
