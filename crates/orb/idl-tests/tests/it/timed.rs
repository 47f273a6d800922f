//! Timing that `@rt` states in IDL, in the table of the generated reference type.

use punctual::rt::{RtLevel, RtOperation};
use punctual::{Orb, RootPoa, SystemException};
use std::time::Duration;

#[allow(clippy::all, clippy::pedantic, dead_code)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/timed.rs"));
}

use generated::timed::{Base, BaseServant, Sensor, SensorServant};

struct Radar;

impl BaseServant for Radar {
    fn scan(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn plain(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl SensorServant for Radar {
    fn read(&self) -> Result<i32, SystemException> {
        Ok(7)
    }

    fn level(&self) -> Result<i32, SystemException> {
        Ok(3)
    }
}

fn names(operations: &[RtOperation]) -> Vec<&'static str> {
    operations.iter().map(|operation| operation.name).collect()
}

#[test]
fn a_reference_type_lists_timed_operations_with_inherited_ones() {
    assert_eq!(names(Base::RT_OPERATIONS), ["scan"]);
    assert_eq!(names(Sensor::RT_OPERATIONS), ["scan", "read", "_get_level"]);
    let [scan, read, _] = Sensor::RT_OPERATIONS else {
        panic!("three operations");
    };
    assert_eq!(scan.scoped_name, "timed::Base::scan");
    assert_eq!(scan.period, Some(Duration::from_millis(20)));
    assert_eq!(read.wcet, Some(Duration::from_micros(200)));
    assert_eq!(read.deadline, Some(Duration::from_millis(5)));
    assert_eq!(read.criticality, Some(RtLevel::VeryHigh));
    assert_eq!((read.period, read.threads), (None, None));
}

#[test]
fn timed_operations_are_called_as_others() {
    const READ: Duration = match Sensor::RT_OPERATIONS[1].wcet {
        Some(wcet) => wcet,
        None => Duration::ZERO,
    };
    assert_eq!(READ, Duration::from_micros(200));
    let orb = Orb::builder().build().unwrap();
    let poa = orb.root_poa().unwrap();
    let radar: Sensor = poa.activate(Radar).unwrap();
    poa.manager().activate().unwrap();
    assert_eq!(radar.read().unwrap(), 7);
    assert_eq!(radar.level().unwrap(), 3);
    radar.scan().unwrap();
}
