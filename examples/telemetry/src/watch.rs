//! Client that watches a sensor: `telemetry-watch STATION SENSOR` prints what the sensor is,
//! records values that are too high, and is notified of one.

use punctual::json::AnyJson;
use punctual::prelude::*;
use punctual_example_telemetry::{
    Observer, ObserverServant, Reading, Sensor, SensorRecordError, Station,
};
use std::error::Error;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

struct Telling(Sender<(String, Reading)>);

impl ObserverServant for Telling {
    fn changed(&self, sensor: &str, now: &Reading) -> Result<(), SystemException> {
        // The receiver may have ended.
        let _ = self.0.send((sensor.into(), now.clone()));
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (orb, arguments) = Orb::builder().init(std::env::args())?;
    let [_, station, sensor] = arguments.as_slice() else {
        return Err("usage: telemetry-watch STATION SENSOR".into());
    };
    let sensor = match sensor.starts_with("IOR:") {
        // The sensor's reference was found before, perhaps before the station was restarted.
        true => Sensor::narrow(orb.string_to_object(sensor)?)?,
        false => Station::narrow(orb.string_to_object(station)?)?.find(sensor)?,
    };
    println!("reference {}", orb.object_to_string(&sensor)?);
    let plate = sensor.nameplate()?;
    let unit = plate.unit_of_measure();
    println!(
        "{} by {}, to {} {unit}",
        sensor.name()?,
        plate.maker(),
        plate.highest()
    );
    for reading in sensor.history(100)? {
        println!("measured {} {unit}", reading.value);
    }

    let root = orb.root_poa()?;
    root.manager().activate()?;
    let (told, is_told) = mpsc::channel();
    let observer: Observer = root.activate(Telling(told))?;
    let ticket = sensor.watch(&observer)?;
    sensor.set_alarm_above(plate.highest() / 2.0)?;

    let calibrated = Any::new(&true)?;
    match sensor.record(plate.highest() * 2.0, &calibrated) {
        Err(SensorRecordError::OutOfRange(range)) => {
            println!("refused: not above {}", range.highest)
        }
        other => other?,
    }
    match sensor.record(plate.lowest(), &Any::new("a text")?) {
        Err(error) => println!("refused: {error}"),
        Ok(()) => return Err("a detail of another type was taken".into()),
    }
    sensor.record(plate.highest() - 1.0, &calibrated)?;
    let (name, reading) = is_told.recv_timeout(Duration::from_secs(10))?;
    let detail = reading.detail.to_json()?;
    println!(
        "told that {name} has {} {unit}, {:?}, {detail}",
        reading.value, reading.how_good
    );

    sensor.unwatch(ticket)?;
    orb.shutdown(true)?;
    Ok(())
}
