//! Smallest complete program: an object, and a call to it through its reference.
//!
//! Without an argument it serves an object and calls it; with one, it calls the object that the
//! argument names: an `IOR:`, a `corbaloc:` or a `file://` with one of these in it.

use punctual::prelude::*;

/// Rust code that the IDL compiler generates from the hello example's IDL.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/hello.rs"));
}

struct Greeter;

impl idl::HelloServant for Greeter {
    fn greet(&self, name: &str) -> Result<String, SystemException> {
        Ok(format!("Hello, {name}!"))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (orb, arguments) = Orb::init(std::env::args())?;
    let hello = match arguments.get(1) {
        Some(reference) => idl::Hello::narrow(orb.string_to_object(reference)?)?,
        None => {
            let poa = orb.root_poa()?;
            poa.manager().activate()?;
            poa.activate(Greeter)?
        }
    };
    println!("{}", hello.greet("world")?);
    orb.shutdown(true)?;
    Ok(())
}
