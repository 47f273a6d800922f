//! Server process of a contender.

use super::floor;
use super::idl::bench_ami::{Echo, EchoServant};
use crate::Result;
use crate::peer::{run_at, serve_until_the_end};
use clap::Args;
use punctual::{ListenEndpoint, Orb, RootPoa, SystemException};

/// Options of a server.
#[derive(Debug, Args)]
pub struct Server {
    /// Processor to run on.
    #[arg(long)]
    pin: Option<usize>,
    /// Serve a raw socket.
    #[arg(long)]
    floor: bool,
}

struct Stamps;

impl EchoServant for Stamps {
    fn stamp(&self, when: u64) -> std::result::Result<u64, SystemException> {
        Ok(when)
    }
}

/// Serves until the input ends.
pub(super) fn serve(server: &Server) -> Result<()> {
    run_at(server.pin)?;
    if server.floor {
        return serve_until_the_end(floor::serve()?);
    }
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()?;
    let poa = orb.root_poa()?;
    poa.manager().activate()?;
    let echo: Echo = poa.activate(Stamps)?;
    serve_until_the_end(orb.object_to_string(&echo)?)
}
