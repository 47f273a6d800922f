//! Serves the interface until its input ends.

/// Rust that the IDL compiler generates from `compiled.idl`.
#[allow(unused)]
mod idl {
    include!(concat!(env!("OUT_DIR"), "/compiled.rs"));
}
use idl::*;
use punctual::{ListenEndpoint, Orb, RootPoa, SystemException};
use std::error::Error;
use std::io::Read;

struct Servant;

include!(concat!(env!("OUT_DIR"), "/servant.rs"));

/// Reports that the server is ready, with the object's reference.
fn main() -> Result<(), Box<dyn Error>> {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()?;
    let poa = orb.root_poa()?;
    let stubs: Stubs = poa.activate(Servant)?;
    poa.manager().activate()?;
    println!("ready {}", orb.object_to_string(&stubs)?);
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(orb.shutdown(true)?)
}
