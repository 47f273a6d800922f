//! Server that runs for the whole soak: one ORB for each concurrency strategy, with every link.

use crate::speech::{self, Said, Served};
use crate::work::{Load, Tally};
use crate::{clock, links, servant};
use punctual::{Orb, RootPoa};
use std::error::Error;
use std::path::Path;

/// Serves until the controller ends the run.
///
/// # Errors
/// Reasons why it cannot serve.
pub(crate) fn run(folder: &Path, seed: u64) -> Result<(), Box<dyn Error>> {
    let mut orbs = Vec::new();
    let mut served = Vec::new();
    for (name, concurrency, protocols) in links::strategies() {
        let mut builder = links::orb(folder).configure(|config| config.concurrency = concurrency);
        for protocol in protocols {
            builder = builder.listen(links::endpoint(protocol, folder, name));
        }
        let orb = builder.build()?;
        served.push(serve(&orb, name)?);
        orbs.push(orb);
    }
    Said::Ready(served).say();
    let (load, tally) = (Load::default(), Tally::default());
    let (clock_load, clock_tally) = (load.clone(), tally.clone());
    let clock =
        std::thread::spawn(move || clock::step_now_and_then(&clock_load, &clock_tally, seed));
    speech::obey(&load, &tally, |_| {});
    let _ = clock.join();
    for orb in orbs {
        orb.shutdown(true)?;
    }
    speech::conclude(&tally);
    Ok(())
}

/// Activates an ORB's objects, and returns their references and endpoints.
fn serve(orb: &Orb, name: &str) -> Result<Served, Box<dyn Error>> {
    let (maker, target) = servant::serve(&orb.root_poa()?)?;
    let endpoints = orb.endpoints().into_iter();
    Ok(Served {
        name: name.to_owned(),
        maker: orb.object_to_string(&maker)?,
        target: orb.object_to_string(&target)?,
        endpoints: endpoints.map(|one| (one.protocol, one.place)).collect(),
    })
}
