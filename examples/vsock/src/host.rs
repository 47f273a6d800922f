//! Program of the host: `vsock-host corbaloc:vsock:CID:5000/Guest` calls the virtual machine with the number CID.

use punctual::prelude::*;
use punctual_example_vsock::Guest;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (orb, arguments) = Orb::builder().init(std::env::args())?;
    let reference = arguments.get(1).ok_or("usage: vsock-host REFERENCE")?;
    let guest = Guest::narrow(orb.string_to_object(reference)?)?;
    let octets = vec![7; 1 << 20];
    let copied = guest.copy(&octets)?;
    let at = guest.as_object().connected_to().ok_or("not connected")?;
    println!(
        "{} answers at {at}, and copies {} bytes",
        guest.hostname()?,
        copied.len()
    );
    orb.shutdown(true)?;
    Ok(())
}
