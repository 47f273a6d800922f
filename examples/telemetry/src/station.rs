//! Station: it knows the plant's sensors, and makes each when it is first called. References to
//! them stay valid when the station is restarted.
//!
//! `telemetry-station FOLDER -ORBListenEndpoints iiop://127.0.0.1:4711` stores readings in the
//! folder, and is reached as `corbaloc::127.0.0.1:4711/Station`.

mod sensor;

use punctual::poa::{RequestProcessingPolicy, ServantManager};
use punctual::prelude::*;
use punctual_example_telemetry::{
    Names, Sensor, Station, StationFindError, StationServant, UnknownSensor,
};
use sensor::PLANT;
use std::error::Error;
use std::path::PathBuf;

struct Knowing {
    sensors: Poa,
}

impl StationServant for Knowing {
    fn sensors(&self) -> Result<Names, SystemException> {
        Ok(PLANT.iter().map(|(name, ..)| (*name).into()).collect())
    }

    fn find(&self, name: &str) -> Result<Sensor, StationFindError> {
        if !PLANT.iter().any(|(known, ..)| *known == name) {
            Err(UnknownSensor { name: name.into() })?;
        }
        // No sensor is made yet: the first call does that.
        Ok(self
            .sensors
            .create_reference_with_id(&ObjectId::from(name))?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (orb, arguments) = Orb::builder().init(std::env::args())?;
    let folder = PathBuf::from(arguments.get(1).ok_or("name the folder of the readings")?);
    std::fs::create_dir_all(&folder)?;

    let root = orb.root_poa()?;
    let sensors = root.create_poa(
        "sensors",
        Some(root.manager()),
        &[
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
            PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager),
        ],
    )?;
    sensors.set_servant_manager(ServantManager::activator(move |id, _| {
        let sensor = sensor::Sensor::remembered(&id.to_string(), &folder)?;
        Ok(Sensor::servant(sensor))
    }))?;

    let station: Station = root.activate(Knowing { sensors })?;
    orb.ior_table()?.bind("Station", &station)?;
    root.manager().activate()?;
    println!("serving at {}", orb.object_to_string(&station)?);
    orb.run();
    Ok(())
}
