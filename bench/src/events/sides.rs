//! Processes that the harness starts.

use super::setup::Setup;
use super::{channel, engine, peer, stream};
use crate::Result;
use crate::peer::serve_until_the_end;

/// Runs the server: the channel of `latency`. `dispatching` needs none, as all of it is in the
/// client.
///
/// # Errors
/// The channel cannot be served.
pub(crate) fn serve(setup: &Setup) -> Result<()> {
    match setup {
        Setup::Latency(setup) => channel::serve(setup),
        Setup::Throughput(setup) => channel::serve(&setup.remote),
        Setup::Dispatching(_) => serve_until_the_end("-".to_owned()),
    }
}

/// Runs the client, which makes the batches that its input asks for.
///
/// # Errors
/// The channel cannot be reached, or the harness is gone.
pub(crate) fn call(setup: &Setup, at: &str) -> Result<()> {
    match setup {
        Setup::Latency(setup) => peer::call(setup, at),
        Setup::Throughput(setup) => stream::call(setup, at),
        Setup::Dispatching(setup) => engine::call(setup),
    }
}
