//! Contents of the page for its template.

use super::meter::Passed;
use crate::layout::Link;
use askama::Template;
use punctual_rtevent_service::inspect::TrafficRow;
use punctual_rtevent_service::punctual_events::{ChannelCounts, ConnectionState, ConsumerCounts};
use std::time::Duration;

/// URL path of the page.
pub(super) const PATH: &str = "/events";

/// Template of the page, with the data to be shown.
#[derive(Debug, Template)]
#[template(path = "events.html")]
pub(super) struct EventsPage<'p> {
    pages: &'p [Link],
    here: &'static str,
    counts: &'p ChannelCounts,
    types: Vec<TypeRow>,
    consumers: Vec<ConsumerRow<'p>>,
    /// Number of consumers that are not shown.
    further: u64,
}

/// Events of one type and source.
#[derive(Debug)]
struct TypeRow {
    kind: String,
    source: String,
    events: u64,
    /// Events and octets a second.
    rate: String,
    octets: String,
    longest: String,
}

/// Consumer with its queue.
#[derive(Debug)]
struct ConsumerRow<'p> {
    of: &'p ConsumerCounts,
    lag: String,
    class: &'static str,
    state: &'static str,
}

impl<'p> EventsPage<'p> {
    pub(super) fn new(pages: &'p [Link], counts: &'p ChannelCounts, passed: &Passed) -> Self {
        let rows = passed.total.rows.iter().map(|(key, total)| {
            let now = passed.now.rows.get(key).copied().unwrap_or_default();
            let source = key.1.to_string();
            TypeRow::new(key.0.to_string(), source, total.events, now, passed.span)
        });
        let others = (passed.total.others.events > 0).then(|| {
            let (kind, total) = ("others".to_owned(), passed.total.others.events);
            TypeRow::new(kind, String::new(), total, passed.now.others, passed.span)
        });
        Self {
            pages,
            here: PATH,
            counts,
            types: rows.chain(others).collect(),
            consumers: counts.consumers.iter().map(ConsumerRow::new).collect(),
            further: counts
                .consumer_count
                .saturating_sub(counts.consumers.len() as u64),
        }
    }
}

impl TypeRow {
    fn new(kind: String, source: String, events: u64, now: TrafficRow, span: Duration) -> Self {
        let rate = |count: u64| match span.is_zero() {
            true => "–".to_owned(),
            false => format!("{:.1}", count as f64 / span.as_secs_f64()),
        };
        Self {
            kind,
            source,
            events,
            rate: rate(now.events),
            octets: rate(now.octets),
            longest: match now.longest {
                0 => "–".to_owned(),
                longest => format!("{:.3} ms", longest as f64 / 1e4),
            },
        }
    }
}

impl<'p> ConsumerRow<'p> {
    fn new(of: &'p ConsumerCounts) -> Self {
        let (class, state) = match of.state {
            ConnectionState::Connected => ("alive", "connected"),
            ConnectionState::Suspended => ("away", "suspended"),
            ConnectionState::Ended => ("dead", "ended"),
        };
        Self {
            of,
            lag: format!("{:.3} ms", of.lag as f64 / 1e3),
            class,
            state,
        }
    }
}
