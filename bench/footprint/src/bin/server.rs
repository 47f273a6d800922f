//! Server of a device: activates objects, prints the reference of the first, and serves.

use punctual::prelude::*;
use std::io::Write;

mod idl {
    include!(concat!(env!("OUT_DIR"), "/hello.rs"));
}

struct Greeter;

impl idl::HelloServant for Greeter {
    fn greet(&self, name: &str) -> Result<String, SystemException> {
        Ok(["Hello, ", name, "!"].concat())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (orb, arguments) = Orb::init(std::env::args())?;
    let objects = arguments.get(1).map_or(Ok(1), |count| count.parse())?;
    let poa = orb.root_poa()?;
    let hello: idl::Hello = poa.activate(Greeter)?;
    for _ in 1..objects {
        let _: idl::Hello = poa.activate(Greeter)?;
    }
    poa.manager().activate()?;
    let mut output = std::io::stdout();
    writeln!(output, "{}", orb.object_to_string(&hello)?)?;
    output.flush()?;
    orb.run();
    Ok(())
}
