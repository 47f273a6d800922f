//! IDL files compiled separately that include a common file, and share one Rust type for each of
//! its declarations.
#![allow(clippy::unwrap_used)]

use crate::support;

/// Rust code generated from `idl/side_by_side/pumps.idl`, with the declarations of `common.idl`.
mod pumps {
    include!(concat!(env!("OUT_DIR"), "/pumps.rs"));
}

/// Rust of `idl/side_by_side/tanks.idl`, which refers to `pumps` for those declarations.
mod tanks {
    include!(concat!(env!("OUT_DIR"), "/tanks.rs"));
}

use pumps::plant::device::Place;
use pumps::plant::{DeviceReadError, DeviceServant, Pump, PumpServant, Reading, Setting, State};
use punctual::policy::Collocation;
use punctual::{Orb, RootPoa, SystemException};
use std::sync::Mutex;
use std::time::Duration;
use support::watchdog;
use tanks::plant::storage::{Level, MOST, Tank, TankFillError, TankServant};

type Device = pumps::plant::Device;
type Note = pumps::plant::Note;

const FULL: Reading = Reading {
    now: State::Running,
    bars: 2.5,
};

/// Servant of a pump, and of a tank that the pump fills.
#[derive(Default)]
struct Thing {
    feeder: Mutex<Option<Device>>,
}

impl DeviceServant for Thing {
    fn stands_at(&self) -> Result<Place, SystemException> {
        Ok(Place { row: 7 })
    }

    fn read(&self, why: Option<&Note>) -> Result<Reading, DeviceReadError> {
        assert!(why.is_none());
        Ok(FULL)
    }
}

impl PumpServant for Thing {
    fn history(&self, count: i16) -> Result<Vec<Reading>, SystemException> {
        Ok(vec![FULL; usize::try_from(count).unwrap()])
    }
}

impl TankServant for Thing {
    fn feeder(&self) -> Result<Option<Device>, SystemException> {
        Ok(self.feeder.lock().unwrap().clone())
    }

    fn set_feeder(&self, value: Option<&Device>) -> Result<(), SystemException> {
        *self.feeder.lock().unwrap() = value.cloned();
        Ok(())
    }

    fn fill(&self, from: &[Reading], setting: &mut Setting) -> Result<Level, TankFillError> {
        let level = Level {
            last: from[0].clone(),
            stands_at: Place { row: MOST },
            wanted: setting.clone(),
        };
        *setting = Setting::Bars(from[0].bars);
        Ok(level)
    }
}

#[test]
fn what_one_file_gives_the_other_takes() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let orb = Orb::builder().configure(|config| config.collocation = Collocation::None);
    let orb = orb.listen("iiop://127.0.0.1:0".parse().unwrap()).build();
    let orb = orb.unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let pump: Pump = poa.activate(Thing::default()).unwrap();
    let tank: Tank = poa.activate(Thing::default()).unwrap();

    tank.set_feeder(Some(&Device::from(pump.clone()))).unwrap();
    let feeder = tank.feeder().unwrap().unwrap();
    let history = pump.history(3).unwrap();
    assert_eq!(history[0], feeder.read(None).unwrap());
    assert_eq!(tank.stands_at().unwrap(), Place { row: 7 });
    let mut setting = Setting::Bars(1.0);
    let level = tank.fill(&history, &mut setting).unwrap();
    assert_eq!((level.last, level.stands_at.row), (FULL, 17));
    assert_eq!(setting, Setting::Bars(2.5));
}
