//! Client without stubs, but otherwise equal to the others: the ORB, and one call that needs no
//! stub.

use punctual::Orb;
use std::error::Error;

/// Asks the object the given number of times whether it exists.
fn main() -> Result<(), Box<dyn Error>> {
    let (orb, arguments) = Orb::init(std::env::args())?;
    let [_, reference, _, calls] = &arguments[..] else {
        return Err("expected REFERENCE OPERATION CALLS".into());
    };
    let object = orb.string_to_object(reference)?;
    for _ in 0..calls.parse::<u32>()? {
        object.non_existent()?;
    }
    Ok(())
}
