//! Processes that are killed while they work: a client, and a server that is restarted at the same
//! endpoints.

use crate::idl::soak::Target;
use crate::random::Random;
use crate::servant::TargetImpl;
use crate::speech::{self, Said, Served};
use crate::work::{Load, Tally, again_and_again};
use crate::{calls, links};
use calls::shown;
use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::{ListenEndpoint, RootPoa};
use std::error::Error;
use std::path::Path;
use std::time::Duration;

/// Runs a client that calls one server by one protocol, and reports to the controller once its
/// first call has completed.
///
/// # Errors
/// Reasons why it cannot call.
pub(crate) fn call(
    folder: &Path,
    seed: u64,
    (server, protocol): (&Served, &str),
) -> Result<(), Box<dyn Error>> {
    let orb = links::orb(folder).build()?;
    let target: Target = links::by(&links::named(&orb, &server.target)?, protocol)?;
    let is_one_way = links::is_one_way(protocol);
    let mut random = Random::new(seed, "victim");
    let (load, tally) = (Load::default(), Tally::default());
    let calling = (load.clone(), tally.clone());
    load.go();
    let caller = std::thread::spawn(move || {
        let mut has_begun = false;
        again_and_again((&calling.0, &calling.1), "calls", Duration::ZERO, |work| {
            match is_one_way {
                true => target.note(&[1; 100]).map_err(shown)?,
                false => calls::round(&target, &mut random, work)?,
            }
            if !std::mem::replace(&mut has_begun, true) {
                Said::Obeyed("calling".to_owned()).say();
            }
            Ok(())
        });
    });
    speech::obey(&load, &tally, |_| {});
    let _ = caller.join();
    Ok(())
}

/// Runs a server of one object at the given endpoints, or, where their addresses are left open, at
/// free ones.
///
/// # Errors
/// Reasons why it cannot serve.
pub(crate) fn serve(folder: &Path, endpoints: &[(String, String)]) -> Result<(), Box<dyn Error>> {
    let mut builder = links::orb(folder);
    for (protocol, place) in endpoints {
        builder = builder.listen(ListenEndpoint::new(protocol, place));
    }
    let orb = builder.build()?;
    let root = orb.root_poa()?;
    let policies = [
        PoaPolicy::Lifespan(LifespanPolicy::Persistent),
        PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
    ];
    let poa = root.create_poa("killed", Some(root.manager()), &policies)?;
    let target: Target = poa.activate_with_id(&"target".into(), TargetImpl::default())?;
    root.manager().activate()?;
    let at = orb.endpoints().into_iter();
    let served = Served {
        name: "killed".to_owned(),
        maker: String::new(),
        target: orb.object_to_string(&target)?,
        endpoints: at.map(|one| (one.protocol, one.place)).collect(),
    };
    Said::Ready(vec![served]).say();
    speech::obey(&Load::default(), &Tally::default(), |_| {});
    orb.shutdown(true)?;
    Ok(())
}
