//! What devices, gateway and client have in common: the IDL, and how a server serves.
//!
//! ```sh
//! gateway-devices devices.ior -ORBListenEndpoints iiop://127.0.0.1: &
//! gateway file://devices.ior gateway.ior -ORBListenEndpoints iiop://127.0.0.1: &
//! gateway-client file://gateway.ior 10000
//! ```

/// What the IDL compiler wrote.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/gateway.rs"));
}

pub use idl::gateway::*;

use punctual::asynchronous::Amh;
use punctual::config::Concurrency;
use punctual::{Orb, RootPoa};
use std::error::Error;
use std::path::Path;

/// An ORB whose requests one thread serves, however many clients there are: its servants answer later. What follows `-ORB`
/// is for it, the rest is handed back.
///
/// # Errors
/// What keeps it from starting.
pub fn start() -> Result<(Orb, Vec<String>), Box<dyn Error>> {
    let one_thread = |config: &mut punctual::OrbConfig| config.concurrency = Concurrency::Reactive;
    let (orb, arguments) = Orb::builder()
        .configure(one_thread)
        .init(std::env::args())?;
    Ok((orb, arguments))
}

/// Serves devices until the process is ended. The reference is written to a file.
///
/// # Errors
/// What keeps them from being served.
pub fn serve(
    orb: &Orb,
    devices: impl DevicesAmhServant,
    file: &Path,
) -> Result<(), Box<dyn Error>> {
    let poa = orb.root_poa()?;
    let devices: Devices = poa.activate(Amh::new(devices))?;
    poa.manager().activate()?;
    std::fs::write(file, orb.object_to_string(&devices)?)?;
    println!("serving");
    orb.run();
    Ok(())
}
