//! `punctual notify watch`: what waits in a channel, and what was lost, as tables.

mod look;

use super::channel::{Channel, failed};
use crate::call::Problem;
use crate::time::with_unit;
use crate::{looks, shown};
use look::Look;
use punctual::{Interface, SystemException, SystemExceptionKind};
use punctual_host::run::ending_signals;
use punctual_notification::punctual_notify::Channel as Counting;
use std::time::{Duration, Instant};

/// It prints tables at intervals, until it is interrupted: what the channel has counted, and each proxy with its
/// administrator, its connection, its queue, how far it lags behind, and what it has lost. The channel is one of `punctual
/// notify serve`. If the server cannot be reached, the reason is on standard error, and the next look tries again.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    channel: Channel,
    /// Time between two looks.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = with_unit)]
    interval: Duration,
    /// Number of looks, then end.
    #[arg(long, value_name = "NUMBER")]
    looks: Option<u64>,
    /// Maximum number of consumers to show, those with the largest lag first, and of suppliers; at most 1,000.
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    proxies: u32,
    /// Print JSON, one line for each look.
    #[arg(long)]
    json: bool,
}

const ON_COUNTS: &str = "a service of another implementation tells no counts; `punctual notify channels` lists its channels";

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let mut signals = ending_signals().map_err(Problem::from)?;
    let channel = options.channel.resolve(orb_options)?;
    let object = channel.as_object();
    if !object.is_a(Counting::REPOSITORY_ID).map_err(failed)? {
        return Err(Problem::usage("the channel tells no counts", ON_COUNTS));
    }
    let channel = Counting::from_object(object.clone());
    let (mut before, mut since) = (None, Instant::now());
    let mut looks = 0;
    while options.looks.is_none_or(|most| looks < most) {
        if looks > 0 && !looks::waited(&mut signals, options.interval) {
            break;
        }
        looks += 1;
        let now = match channel.counts(options.proxies) {
            Ok(now) => now,
            // A server that is started again is watched on, if it has kept the channel.
            Err(exception) if before.is_some() && is_away(&exception) => {
                eprintln!("{}", shown::exception(exception));
                continue;
            }
            Err(exception) => return Err(failed(exception)),
        };
        let look = Look {
            now: &now,
            before: before.as_ref(),
            time: since.elapsed(),
        };
        let text = match options.json {
            true => look.json() + "\n",
            false => look.tables(),
        };
        if looks::print(&text).is_err() {
            // The reader has gone.
            break;
        }
        (before, since) = (Some(now), Instant::now());
    }
    Ok(())
}

/// Returns whether an exception says that the server cannot be reached now.
pub(super) fn is_away(exception: &SystemException) -> bool {
    use SystemExceptionKind::{CommFailure, NoResponse, Timeout, Transient};
    matches!(
        exception.kind(),
        CommFailure | NoResponse | Timeout | Transient
    )
}
