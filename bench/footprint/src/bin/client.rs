//! Client of a device: calls the object that its argument names, and prints the reply.

use punctual::prelude::*;

mod idl {
    include!(concat!(env!("OUT_DIR"), "/hello.rs"));
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (orb, arguments) = Orb::init(std::env::args())?;
    let reference = arguments.get(1).ok_or("expected a reference")?;
    let hello = idl::Hello::narrow(orb.string_to_object(reference)?)?;
    println!("{}", hello.greet("world")?);
    Ok(())
}
