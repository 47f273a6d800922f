//! Client that opens many calls at once, makes the devices measure once a line has come on standard
//! input, and takes the answers.

use punctual::{Interface, Orb};
use punctual_example_gateway::{Devices, DevicesReadError};
use std::error::Error;
use std::io::stdin;
use std::thread::yield_now;

fn main() -> Result<(), Box<dyn Error>> {
    let (orb, arguments) = Orb::init(std::env::args())?;
    let [_, gateway, count] = arguments.as_slice() else {
        return Err("gateway-client REFERENCE COUNT".into());
    };
    let devices = Devices::narrow(orb.string_to_object(gateway)?)?;
    let count: i32 = count.parse()?;
    let reads: Vec<_> = (0..count)
        .map(|number| devices.sendp_read(&format!("device {number}")))
        .collect();
    let none = devices.sendp_read("a chair");
    while i64::from(devices.open_reads()?) <= i64::from(count) {
        yield_now();
    }
    println!("{} calls are open", devices.open_reads()?);
    stdin().read_line(&mut String::new())?;
    devices.measure()?;
    for (number, read) in (0..count).zip(reads) {
        let value = read.wait()?;
        if value != number {
            return Err(format!("device {number} has {value}").into());
        }
    }
    match none.wait() {
        Err(DevicesReadError::NoSuchDevice(none)) => println!("unknown device `{}`", none.name),
        other => return Err(format!("a chair has answered {other:?}").into()),
    }
    println!("{count} calls were answered");
    orb.shutdown(true)?;
    Ok(())
}
