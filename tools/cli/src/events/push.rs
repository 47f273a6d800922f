//! `punctual events push`: events from a shell.

use super::channel::{Channel, Common};
use crate::call::Problem;
use crate::json_value::JsonValue;
use crate::time::with_unit;
use punctual::Any;
use punctual_rtevent::{Event, Header, Selector};
use punctual_rtevent_service::client::Publisher;
use punctual_rtevent_service::{Data, RtecEventData};
use std::sync::Arc;
use std::time::Duration;

/// It ends when the events are handed to the operating system; the exit status is 3 if one could not be sent.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    /// Type of the events, from 16 on.
    #[arg(long = "type", value_name = "TYPE", value_parser = clap::value_parser!(i32).range(16..))]
    kind: i32,
    /// Source of the events.
    #[arg(long, default_value_t = 1)]
    source: i32,
    /// Number of gateways that the events may cross.
    #[arg(long, default_value_t = 0)]
    ttl: i32,
    /// Octets, as text.
    #[arg(long, conflicts_with = "hex")]
    text: Option<String>,
    /// Octets, as hexadecimal digits.
    #[arg(long, value_parser = octets)]
    hex: Option<Octets>,
    /// Value, as JSON: `{"type": "long", "value": 5}`.
    #[arg(long, value_name = "JSON")]
    any: Option<String>,
    /// Number of events.
    #[arg(long, default_value_t = 1)]
    count: u64,
    /// Time between two events.
    #[arg(long, value_name = "TIME", value_parser = with_unit)]
    every: Option<Duration>,
}

/// Octets on the command line.
#[derive(Clone, Debug)]
struct Octets(Vec<u8>);

fn octets(text: &str) -> Result<Octets, String> {
    let digits = text.as_bytes().chunks(2);
    let octets = digits.map(|pair| {
        let pair = std::str::from_utf8(pair)
            .ok()
            .filter(|pair| pair.len() == 2);
        pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())
    });
    let octets: Option<_> = octets.collect();
    octets
        .map(Octets)
        .ok_or_else(|| "expected two hexadecimal digits for each octet".to_owned())
}

const ON_VALUES: &str =
    "--any takes JSON with a type and a value: `{\"type\": \"string\", \"value\": \"open\"}`";

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let event = event(options)?;
    let channel = Channel::new(&options.common, orb_options)?;
    let selectors = vec![Selector::new(options.kind, options.source)];
    let publisher = Publisher::new(&channel.poa, &channel.reference, channel.form, selectors);
    let system = |exception| Problem::System(exception, None);
    publisher.connect().map_err(system)?;
    for number in 0..options.count {
        if let (Some(every), 1..) = (options.every, number) {
            std::thread::sleep(every);
        }
        publisher
            .push(std::slice::from_ref(&event))
            .map_err(system)?;
    }
    if options.common.json {
        println!(
            "{}",
            serde_json::json!({ "pushed": publisher.counts().events })
        );
    }
    Ok(())
}

fn event(options: &Options) -> Result<Event<Data>, Problem> {
    let text = options.text.as_ref().map(|text| text.clone().into_bytes());
    let hex = options.hex.as_ref().map(|octets| octets.0.clone());
    let any_value = match &options.any {
        None => Any::default(),
        Some(json) => value(json)?,
    };
    let data = RtecEventData {
        payload: text.or(hex).unwrap_or_default(),
        any_value,
        ..RtecEventData::default()
    };
    let mut header = Header::new(options.kind, options.source);
    header.ttl = options.ttl;
    Ok(Event::new(header, Arc::new(data.into())))
}

fn value(json: &str) -> Result<Any, Problem> {
    let parsed = json.parse();
    let JsonValue(value) = parsed.map_err(|error: String| Problem::usage(error, ON_VALUES))?;
    Ok(value)
}
