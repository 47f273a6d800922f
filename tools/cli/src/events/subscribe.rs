//! `punctual events subscribe`: events as lines.

use super::channel::{Channel, Common, Wanted};
use crate::call::Problem;
use crate::{payload, shown};
use parking_lot::{Condvar, Mutex};
use punctual_host::run::ending_signals;
use punctual_rtevent::{Consumer, Pushed};
use punctual_rtevent_service::client::{Subscriber, SubscriberOptions};
use punctual_rtevent_service::{Data, Event};
use serde_json::json;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// It runs until it is interrupted, and connects again when the channel has been started again. A line for each event
/// has its type, source, ttl, octets and value.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    wanted: Wanted,
    /// Number of events, then end.
    #[arg(long, value_name = "NUMBER")]
    count: Option<u64>,
}

/// Printer of events.
struct Lines {
    json: bool,
    most: Option<u64>,
    printed: Mutex<Printed>,
    changed: Condvar,
}

#[derive(Default)]
struct Printed {
    lines: u64,
    /// The reader of the lines has gone.
    is_closed: bool,
}

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let signals = ending_signals();
    let mut signals = signals.map_err(Problem::from)?;
    let channel = Channel::new(&options.common, orb_options)?;
    let lines = Arc::new(Lines {
        json: options.common.json,
        most: options.count,
        printed: Mutex::default(),
        changed: Condvar::new(),
    });
    let subscriber = Subscriber::start(
        &channel.poa,
        &channel.reference,
        options.wanted.filter(),
        SubscriberOptions {
            form: channel.form,
            ..SubscriberOptions::default()
        },
        lines.clone(),
    );
    let subscriber = subscriber.map_err(|exception| Problem::System(exception, None))?;
    let (mut connections, mut shown) = (0, None);
    while !lines.is_complete(Duration::from_millis(100)) && signals.pending().next().is_none() {
        let counts = subscriber.counts();
        if counts.connections != connections {
            connections = counts.connections;
            eprintln!("connected");
        }
        let problem = subscriber.problem();
        if problem != shown {
            if let Some(problem) = &problem {
                eprintln!("not connected, and tried again: {}", shown::error(problem));
            }
            shown = problem;
        }
    }
    Ok(())
}

impl Lines {
    /// Waits for some time, and returns true if there is nothing more to print.
    fn is_complete(&self, time: Duration) -> bool {
        let mut printed = self.printed.lock();
        if !self.has_all(&printed) {
            self.changed.wait_for(&mut printed, time);
        }
        self.has_all(&printed)
    }

    fn has_all(&self, printed: &Printed) -> bool {
        printed.is_closed || self.most.is_some_and(|most| printed.lines >= most)
    }

    fn print(&self, event: &Event) -> std::io::Result<()> {
        let line = match self.json {
            true => json_line(event),
            false => text_line(event),
        };
        writeln!(std::io::stdout(), "{line}")
    }
}

impl Consumer<Data> for Lines {
    fn push(&self, events: &[Event]) -> Pushed {
        let mut printed = self.printed.lock();
        for event in events {
            if self.has_all(&printed) {
                break;
            }
            match self.print(event) {
                Ok(()) => printed.lines += 1,
                Err(_) => printed.is_closed = true,
            }
        }
        self.changed.notify_all();
        Pushed::Done
    }
}

fn json_line(event: &Event) -> String {
    let (header, contents) = (&event.header, event.data.contents());
    let value = payload::json(&contents.any_value).ok();
    let line = json!({
        "type": header.kind,
        "source": header.source,
        "ttl": header.ttl,
        "created": header.created,
        "received": header.received,
        "sent": header.sent,
        "octets": hex(&contents.payload),
        "any": value,
    });
    shown::json(line)
}

fn text_line(event: &Event) -> String {
    let (header, contents) = (&event.header, event.data.contents());
    let mut line = format!(
        "type {} source {} ttl {}",
        header.kind, header.source, header.ttl
    );
    if !contents.payload.is_empty() {
        let text = std::str::from_utf8(&contents.payload).ok();
        let text = text.filter(|text| !text.contains(|it: char| it.is_control()));
        match text {
            Some(text) => line += &format!(" \"{}\"", shown::peer(text)),
            None => line += &format!(" {}", hex(&contents.payload)),
        }
    }
    if !contents.any_value.is_null() {
        let value = payload::json(&contents.any_value);
        let value = value
            .as_deref()
            .map_or_else(String::as_str, serde_json::value::RawValue::get);
        line += &format!(" {}", shown::json(value));
    }
    line
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}
