//! Contents of the page for its template.

use super::tails::Look;
use crate::layout::Link;
use askama::Template;
use punctual_notification::ChannelLook;
use punctual_notification::cos_notify_channel_admin::ProxyType;
use punctual_notification::punctual_notify::{
    ConnectionState, ConsumerCounts, ProxyPlace, SupplierCounts,
};

/// URL path of the page.
pub(super) const PATH: &str = "/channels";

/// Template of the page, with the data to be shown.
#[derive(Debug, Template)]
#[template(path = "channels.html")]
pub(super) struct ChannelsPage<'p> {
    pages: &'p [Link],
    here: &'static str,
    channels: Vec<ChannelRow<'p>>,
    chosen: Option<&'p ChannelLook>,
    consumers: Vec<ConsumerRow<'p>>,
    suppliers: Vec<SupplierRow<'p>>,
    filter: &'p str,
    tail: Option<Shown>,
}

/// Tail that is looked at.
#[derive(Debug)]
struct Shown {
    count: u64,
    events: Vec<String>,
    problem: Option<String>,
}

/// Channel among all.
#[derive(Debug)]
struct ChannelRow<'p> {
    of: &'p ChannelLook,
    lag: String,
    is_chosen: bool,
}

/// Consumer with its queue.
#[derive(Debug)]
struct ConsumerRow<'p> {
    of: &'p ConsumerCounts,
    at: Place<'p>,
    lag: String,
}

/// Supplier.
#[derive(Debug)]
struct SupplierRow<'p> {
    of: &'p SupplierCounts,
    at: Place<'p>,
}

/// Proxy, as rows of both kinds show it.
#[derive(Debug)]
struct Place<'p> {
    of: &'p ProxyPlace,
    kind: &'static str,
    class: &'static str,
    state: &'static str,
}

impl<'p> ChannelsPage<'p> {
    pub(super) fn new(
        pages: &'p [Link],
        channels: &'p [ChannelLook],
        chosen: Option<&'p ChannelLook>,
        (filter, tail): (&'p str, Option<Look>),
    ) -> Self {
        let is_chosen = |one: &ChannelLook| chosen.is_some_and(|chosen| chosen.id == one.id);
        let counts = chosen.map(|one| &one.counts);
        let consumers = counts.map(|counts| counts.consumers.as_slice());
        let suppliers = counts.map(|counts| counts.suppliers.as_slice());
        let rows = channels.iter().map(|one| ChannelRow {
            of: one,
            lag: lag(one.counts.consumers.first().map_or(0, |first| first.lag)),
            is_chosen: is_chosen(one),
        });
        Self {
            pages,
            here: PATH,
            channels: rows.collect(),
            chosen,
            consumers: consumers.unwrap_or_default().iter().map(consumer).collect(),
            suppliers: suppliers.unwrap_or_default().iter().map(supplier).collect(),
            filter,
            tail: tail.map(shown),
        }
    }
}

fn shown(look: Look) -> Shown {
    match look {
        Ok((events, count)) => Shown {
            count,
            events,
            problem: None,
        },
        Err(problem) => Shown {
            count: 0,
            events: Vec::new(),
            problem: Some(problem),
        },
    }
}

fn consumer(of: &ConsumerCounts) -> ConsumerRow<'_> {
    ConsumerRow {
        of,
        at: place(&of.place),
        lag: lag(of.lag),
    }
}

fn supplier(of: &SupplierCounts) -> SupplierRow<'_> {
    SupplierRow {
        of,
        at: place(&of.place),
    }
}

fn place(of: &ProxyPlace) -> Place<'_> {
    let (class, state) = match of.state {
        ConnectionState::Unconnected => ("away", "not connected"),
        ConnectionState::Connected => ("alive", "connected"),
        ConnectionState::Suspended => ("away", "suspended"),
        ConnectionState::Failing => ("dead", "failing"),
    };
    Place {
        of,
        kind: kind(of.kind),
        class,
        state,
    }
}

const fn kind(kind: ProxyType) -> &'static str {
    match kind {
        ProxyType::PushAny => "push any",
        ProxyType::PullAny => "pull any",
        ProxyType::PushStructured => "push structured",
        ProxyType::PullStructured => "pull structured",
        ProxyType::PushSequence => "push sequence",
        ProxyType::PullSequence => "pull sequence",
        ProxyType::PushTyped => "push typed",
        ProxyType::PullTyped => "pull typed",
    }
}

/// Formats microseconds.
fn lag(microseconds: u64) -> String {
    format!("{:.3} ms", microseconds as f64 / 1e3)
}
