//! Server process of a contender.

use super::Setup;
use super::floor;
use super::idl::bench_ami::{Echo, EchoServant};
use crate::Result;
use crate::peer::serve_until_the_end;
use punctual::{ListenEndpoint, Orb, RootPoa, SystemException};

struct Stamps;

impl EchoServant for Stamps {
    fn stamp(&self, when: u64) -> std::result::Result<u64, SystemException> {
        Ok(when)
    }
}

/// Serves the benchmark's requests until the standard input ends.
pub(crate) fn serve(setup: &Setup) -> Result<()> {
    if setup.floor {
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
