//! `punctual events watch`: what passes through a channel and waits in it, as tables.

mod queues;
mod shown;

use super::channel::{Channel, Common, Wanted};
use crate::call::Problem;
use crate::looks;
use crate::time::with_unit;
use punctual_host::run::ending_signals;
use punctual_rtevent_service::client::{Subscriber, SubscriberOptions};
use punctual_rtevent_service::inspect::{Traffic, TrafficCounts};
use queues::Queues;
use shown::Shown;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// It subscribes as a gateway does, so that observers do not hear of it, and prints tables at intervals, until it is
/// interrupted: types and sources with events and octets a second, and the time that events spent in the channel, from
/// its own time stamps; of channels of `punctual events serve` also each consumer's queue, what it has lost, and how far
/// it lags behind. Its own row is among the consumers.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    wanted: Wanted,
    /// Time between two looks.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = with_unit)]
    interval: Duration,
    /// Number of looks, then end.
    #[arg(long, value_name = "NUMBER")]
    looks: Option<u64>,
    /// Maximum number of consumers to show, those with the largest lag first; at most 1,000.
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    consumers: u32,
}

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let signals = ending_signals();
    let mut signals = signals.map_err(Problem::from)?;
    let channel = Channel::new(&options.common, orb_options)?;
    let traffic = Arc::new(Traffic::default());
    let subscriber = subscribe(options, &channel, traffic.clone())?;
    let mut queues = Queues::of(&channel, options.consumers);
    let (mut total, mut since) = (TrafficCounts::default(), Instant::now());
    let mut looks = 0;
    while options.looks.is_none_or(|most| looks < most)
        && looks::waited(&mut signals, options.interval)
    {
        let now = traffic.take();
        total.add(&now);
        let counts = subscriber.counts();
        let shown = Shown {
            now: &now,
            total: &total,
            time: since.elapsed(),
            is_connected: counts.is_connected,
            connections: counts.connections,
            queues: queues.look(),
        };
        let text = match options.common.json {
            true => shown.json() + "\n",
            false => shown.tables(),
        };
        if looks::print(&text).is_err() {
            // The reader has gone.
            break;
        }
        since = Instant::now();
        looks += 1;
    }
    Ok(())
}

fn subscribe(
    options: &Options,
    channel: &Channel,
    traffic: Arc<Traffic>,
) -> Result<Subscriber, Problem> {
    let subscriber_options = SubscriberOptions {
        form: channel.form,
        is_gateway: true,
        ..SubscriberOptions::default()
    };
    let (reference, filter) = (&channel.reference, options.wanted.filter());
    Subscriber::start(&channel.poa, reference, filter, subscriber_options, traffic)
        .map_err(|exception| Problem::System(exception, None))
}
