//! What the other clients are without stubs: the ORB, and one call that needs none.

use punctual::Orb;
use std::error::Error;

/// Asks the object whether it exists, so many times.
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
