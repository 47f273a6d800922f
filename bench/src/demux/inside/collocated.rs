//! Cost of a call of an operation without parameters on an object of the same process, by its stub.

use super::super::idl::demux::One;
use super::super::interfaces::Idle;
use super::{Line, each};
use crate::Result;
use punctual::policy::Collocation;
use punctual::{ListenEndpoint, Orb, RootPoa};

/// Number of collocated calls in a timed batch.
const CALLS: usize = 10_000;

pub(super) fn measure() -> Result<Vec<Line>> {
    Ok(vec![
        call(Collocation::Direct, "past the adapter")?.at_most(30.0),
        call(Collocation::ThruPoa, "through the adapter")?.at_most(120.0),
    ])
}

fn call(collocation: Collocation, how: &str) -> Result<Line> {
    let orb = Orb::builder()
        .configure(|config| {
            config.collocation = collocation;
            config.listen.push(ListenEndpoint::iiop("127.0.0.1", 0));
        })
        .build()?;
    let root = orb.root_poa()?;
    let object: One = root.activate(Idle)?;
    orb.listen()?;
    root.manager().activate()?;
    let mut failed = 0_u32;
    let calls = vec![(); CALLS];
    let time = each(&calls, |()| failed += u32::from(object.call_00().is_err()));
    drop((object, root));
    orb.shutdown(true)?;
    match failed {
        0 => Ok(Line::new(format!("collocated call, {how}"), "ns", time)),
        _ => Err(format!("{failed} calls failed").into()),
    }
}
