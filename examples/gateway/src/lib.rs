//! Common code of devices, gateway and client: the IDL, and the set-up of a server.
//!
//! ```sh
//! gateway-devices devices.ior -ORBListenEndpoints iiop://127.0.0.1: &
//! gateway file://devices.ior gateway.ior -ORBListenEndpoints iiop://127.0.0.1: &
//! gateway-client file://gateway.ior 10000
//! ```

/// Rust code that the IDL compiler generates from the gateway example's IDL.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/gateway.rs"));
}

pub use idl::gateway::*;

use punctual::asynchronous::Amh;
use punctual::config::Concurrency;
use punctual::{Orb, RootPoa};
use std::error::Error;
use std::path::Path;

/// Starts an ORB in which one thread serves the requests of all clients, as its servants answer
/// later. Arguments that begin with `-ORB` configure it; the others are returned.
///
/// # Errors
/// The ORB could not be started.
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
/// Reasons why they cannot be served.
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
