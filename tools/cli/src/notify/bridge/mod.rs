//! `punctual notify bridge`: events of a channel as messages on NATS subjects, and the other way.

mod carried;
mod into;
mod outward;
mod servers;

use super::channel::{Channel, failed};
use crate::call::Problem;
use carried::{Carried, Form};
use into::Pusher;
use outward::Outward;
use punctual_host::run::ending_signals;
use punctual_jetstream::Subscription;
use servers::{Servers, on_nats};
use std::path::PathBuf;
use std::time::Duration;

/// Structured events of the channel are published as messages, messages are pushed as structured events, or both, until it is
/// interrupted. An event is acknowledged to the channel when its message is on the way to the NATS server, and comes again if that fails; NATS itself
/// gives a message at most once. Messages that the channel does not take while it is away wait, up to --waiting; the latest beyond that are lost, and
/// counted on standard error. A bridge does not carry back what it has carried.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    channel: Channel,
    #[command(flatten)]
    servers: Servers,
    /// Publish events on the subjects PREFIX.DOMAIN.TYPE, of the domain and the name of their type; `_` stands for signs that subjects cannot have.
    #[arg(long, value_name = "PREFIX", required_unless_present = "subscribe")]
    publish: Option<String>,
    /// Push messages on this subject; `*` stands for a word, and `>` at the end for all that follow.
    #[arg(long, value_name = "SUBJECT")]
    subscribe: Option<String>,
    /// Form of messages: JSON as `punctual notify pull` prints it, or CDR, an encapsulation of a CosNotification::StructuredEvent. A
    /// message whose header Content-Type is application/json or application/vnd.omg.cdr is read as that.
    #[arg(long, value_enum, default_value_t = Form::Json)]
    form: Form,
    /// Constraint in the extended Trader Constraint Language that published events have to meet.
    #[arg(long, value_name = "CONSTRAINT", requires = "publish")]
    filter: Option<String>,
    /// Leave the connection to the channel when this ends, and take it up again when it is started again: FILE has the id of its proxy. The channel keeps
    /// the events meanwhile, if it is one with persistent events. Needs -ORBListenEndpoints with a fixed port, at which the channel finds this program again.
    #[arg(long, value_name = "FILE", requires = "publish")]
    keep: Option<PathBuf>,
    /// Maximum number of messages that wait for the channel.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    waiting: usize,
}

/// Longest time for which an interrupted command goes on.
const NOTICED: Duration = Duration::from_millis(100);

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let mut signals = ending_signals().map_err(Problem::from)?;
    let (orb, channel) = options.channel.resolve_with_orb(orb_options)?;
    let nats = options.servers.open()?;
    let carried = Carried::new(&orb, options.form).map_err(failed)?;
    // Before anything is published: what this program publishes on these subjects is known, and not lost.
    let subscribed = options.subscribe.as_deref();
    let subscribed = subscribed.map(|subject| nats.subscribe(subject, options.waiting));
    let subscribed = subscribed.transpose().map_err(on_nats)?;
    let incoming = subscribed
        .map(|messages| Ok::<_, Problem>((messages, Pusher::connect(&channel, carried.clone())?)))
        .transpose()?;
    let outward = match &options.publish {
        Some(prefix) => Some(Outward::connect(
            (&orb, &channel),
            (nats, prefix, carried),
            (options.filter.as_deref(), options.keep.as_deref()),
        )?),
        None => None,
    };
    eprintln!("connected");
    let mut is_over = || {
        let has_ended = outward.as_ref().is_some_and(Outward::has_ended);
        has_ended || signals.pending().next().is_some()
    };
    let carried = match incoming {
        Some((messages, pusher)) => carry_in(messages, pusher, &mut is_over),
        None => {
            while !is_over() {
                std::thread::sleep(NOTICED);
            }
            Ok(())
        }
    };
    let ended = outward.map_or(Ok(()), Outward::end);
    orb.shutdown(false).map_err(failed)?;
    carried.and(ended)
}

/// Pushes messages until this is over.
fn carry_in(
    mut messages: Subscription,
    mut pusher: Pusher,
    is_over: &mut impl FnMut() -> bool,
) -> Result<(), Problem> {
    let mut lost = 0;
    while !is_over() {
        if let Some(message) = messages.next(NOTICED).map_err(on_nats)? {
            pusher.push(&message, is_over);
        }
        let now = messages.lost();
        if now > lost {
            eprintln!(
                "{} messages were lost, as the channel took none",
                now - lost
            );
            lost = now;
        }
    }
    pusher.end()
}
