// Client, included by the programs, each with stubs of its own kind.

use punctual::{Interface, Orb};
use std::error::Error;
use std::hint::black_box;

include!(concat!(env!("OUT_DIR"), "/calls.rs"));

fn other(error: impl Error) -> Box<dyn Error> {
    error.to_string().into()
}

/// Calls one operation of the server as often as the command line says.
fn main() -> Result<(), Box<dyn Error>> {
    let (orb, arguments) = Orb::init(std::env::args())?;
    let [_, reference, operation, calls] = &arguments[..] else {
        return Err("expected REFERENCE OPERATION CALLS".into());
    };
    let stub = Stubs::from_object(orb.string_to_object(reference)?);
    let operation = operation.parse()?;
    for _ in 0..calls.parse::<u32>()? {
        call(&stub, operation)?;
    }
    Ok(())
}
