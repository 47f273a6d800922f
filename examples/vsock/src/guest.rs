//! Program of the virtual machine: `vsock-guest -ORBListenEndpoints vsock://:5000` serves the object that its host calls as
//! `corbaloc:vsock:CID:5000/Guest`, where CID is the machine's number.

use punctual::prelude::*;
use punctual_example_vsock::{Guest, Machine};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (orb, _) = Orb::builder().init(std::env::args())?;
    let root = orb.root_poa()?;
    let guest: Guest = root.activate(Machine)?;
    orb.ior_table()?.bind("Guest", &guest)?;
    root.manager().activate()?;
    for endpoint in orb.endpoints() {
        println!("listening at {endpoint}");
    }
    println!("{}", orb.object_to_string(&guest)?);
    orb.run();
    Ok(())
}
