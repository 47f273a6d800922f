//! `punctual events watch`: what passes through a channel, as a table.

use super::channel::{Channel, Common, Wanted};
use crate::call::Problem;
use crate::shown;
use crate::time::with_unit;
use parking_lot::Mutex;
use punctual_host::run::ending_signals;
use punctual_rtevent::{Consumer, Pushed};
use punctual_rtevent_service::client::{Subscriber, SubscriberOptions};
use punctual_rtevent_service::{Data, Event};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of rows: events of further types and sources are counted together.
const MOST_ROWS: usize = 200;

/// It subscribes as a gateway does, so that observers do not hear of it, and prints a table of types and sources at
/// intervals, until it is interrupted: events, events and octets a second, and the time that events spent in the
/// channel, from its own time stamps.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    wanted: Wanted,
    /// Time between two tables.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = with_unit)]
    interval: Duration,
    /// Number of tables, then end.
    #[arg(long, value_name = "NUMBER")]
    looks: Option<u64>,
}

/// Events of one type and source.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    events: u64,
    octets: u64,
    /// Longest time in the channel, in 100 ns.
    longest: u64,
}

/// Counter of events.
#[derive(Default)]
struct Table(Mutex<State>);

#[derive(Clone, Default)]
struct State {
    rows: BTreeMap<(i32, i32), Row>,
    /// Events of types and sources beyond the last row.
    others: Row,
}

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let signals = ending_signals();
    let mut signals = signals.map_err(Problem::from)?;
    let channel = Channel::new(&options.common, orb_options)?;
    let table = Arc::new(Table::default());
    let subscriber_options = SubscriberOptions {
        form: channel.form,
        is_gateway: true,
        ..SubscriberOptions::default()
    };
    let (poa, filter) = (&channel.poa, options.wanted.filter());
    let subscriber = Subscriber::start(
        poa,
        &channel.reference,
        filter,
        subscriber_options,
        table.clone(),
    );
    let subscriber = subscriber.map_err(|exception| Problem::System(exception, None))?;
    let (mut before, mut since) = (State::default(), Instant::now());
    let mut looks = 0;
    while options.looks.is_none_or(|most| looks < most) {
        std::thread::sleep(options.interval);
        if signals.pending().next().is_some() {
            break;
        }
        let now = std::mem::take(&mut *table.0.lock());
        let total = before.add(&now);
        let counts = subscriber.counts();
        let shown = Shown {
            now: &now,
            total: &total,
            time: since.elapsed(),
            is_connected: counts.is_connected,
            connections: counts.connections,
        };
        let text = match options.common.json {
            true => shown.json() + "\n",
            false => shown.table(),
        };
        let mut output = std::io::stdout();
        if output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush())
            .is_err()
        {
            // The reader has gone.
            break;
        }
        (before, since) = (total, Instant::now());
        looks += 1;
    }
    Ok(())
}

/// What one look shows.
struct Shown<'s> {
    /// Events since the last look.
    now: &'s State,
    total: &'s State,
    time: Duration,
    is_connected: bool,
    connections: u64,
}

impl Shown<'_> {
    fn rows(&self) -> impl Iterator<Item = (String, String, Row, Row)> {
        let rows = self.total.rows.iter().map(|((kind, source), total)| {
            let now = self.now.rows.get(&(*kind, *source)).copied();
            (
                kind.to_string(),
                source.to_string(),
                now.unwrap_or_default(),
                *total,
            )
        });
        let others = (self.total.others.events > 0).then(|| {
            let name = || "others".to_owned();
            (name(), name(), self.now.others, self.total.others)
        });
        rows.chain(others)
    }

    fn rate(&self, count: u64) -> f64 {
        count as f64 / self.time.as_secs_f64().max(1e-9)
    }

    fn table(&self) -> String {
        let state = match self.is_connected {
            true => "connected",
            false => "not connected",
        };
        let mut text = format!("{state}, {} connections so far\n", self.connections);
        text += &format!(
            "{:>11} {:>11} {:>12} {:>12} {:>14} {:>14}\n",
            "type", "source", "events", "events/s", "octets/s", "longest in it"
        );
        for (kind, source, now, total) in self.rows() {
            let (events, octets) = (self.rate(now.events), self.rate(now.octets));
            let longest = match now.longest {
                0 => "-".to_owned(),
                longest => format!("{:.3} ms", longest as f64 / 10_000.0),
            };
            text += &format!(
                "{kind:>11} {source:>11} {:>12} {events:>12.1} {octets:>14.1} {longest:>14}\n",
                total.events
            );
        }
        text + "\n"
    }

    fn json(&self) -> String {
        let rows = self.rows().map(|(kind, source, now, total)| {
            json!({
                "type": kind,
                "source": source,
                "events": total.events,
                "events_per_second": self.rate(now.events),
                "octets_per_second": self.rate(now.octets),
                "longest_seconds": now.longest as f64 / 1e7,
            })
        });
        let rows: Vec<_> = rows.collect();
        shown::json(json!({
            "is_connected": self.is_connected,
            "connections": self.connections,
            "events": rows,
        }))
    }
}

impl State {
    fn count(&mut self, event: &Event) {
        let key = (event.header.kind, event.header.source);
        let is_full = self.rows.len() >= MOST_ROWS && !self.rows.contains_key(&key);
        let row = match is_full {
            true => &mut self.others,
            false => self.rows.entry(key).or_default(),
        };
        row.add(&Row {
            events: 1,
            octets: event.data.contents().payload.len() as u64,
            longest: match event.header.received {
                // It has no time stamps.
                0 => 0,
                received => event.header.sent.saturating_sub(received),
            },
        });
    }

    /// Returns the sum of both.
    fn add(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        for (key, row) in &other.rows {
            match sum.rows.len() >= MOST_ROWS && !sum.rows.contains_key(key) {
                true => sum.others.add(row),
                false => sum.rows.entry(*key).or_default().add(row),
            }
        }
        sum.others.add(&other.others);
        sum
    }
}

impl Row {
    fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.octets += other.octets;
        self.longest = self.longest.max(other.longest);
    }
}

impl Consumer<Data> for Table {
    fn push(&self, events: &[Event]) -> Pushed {
        let mut state = self.0.lock();
        events.iter().for_each(|event| state.count(event));
        Pushed::Done
    }
}
