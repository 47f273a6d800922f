//! One Rust object that serves several interfaces, and one servant of several CORBA objects.
#![allow(clippy::unwrap_used)]

use crate::support;

use crate::collocation::generated::near::{
    Clock, ClockServant, Counter, CounterAddError, CounterServant, Thermometer, ThermometerServant,
};
use punctual::poa::{Current, IdUniquenessPolicy, PoaPolicy, Tie, servant_of};
use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, Orb, Poa, RootPoa, SystemException};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::watchdog;

/// Collocation strategies under test: calls by requests, and calls without requests.
const WAYS: [Collocation; 2] = [Collocation::None, Collocation::ThruPoa];

fn root_poa(way: Collocation) -> Poa {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.collocation = way)
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    poa
}

/// Makes a POA in which one servant may incarnate several objects (MULTIPLE_ID).
fn shared_poa(way: Collocation) -> Poa {
    let root = root_poa(way);
    let policies = [PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple)];
    root.create_poa("shared", Some(root.manager()), &policies)
        .unwrap()
}

fn ends(poa: &Poa) {
    poa.orb().shutdown(true).unwrap();
}

/// Servant of a thermometer and of a clock, whose operations have a name in common.
#[derive(Default)]
struct Station {
    resets: AtomicI32,
}

impl ThermometerServant for Station {
    fn read(&self) -> Result<i32, SystemException> {
        Ok(self.resets.load(Ordering::Relaxed))
    }

    fn reset(&self) -> Result<(), SystemException> {
        self.resets.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl ClockServant for Station {
    fn read(&self) -> Result<String, SystemException> {
        let resets = self.resets.load(Ordering::Relaxed);
        Ok(format!("{resets} o'clock"))
    }

    fn reset(&self) -> Result<(), SystemException> {
        self.resets.fetch_add(10, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_type_with_two_servant_traits_is_two_objects_with_one_state() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let poa = root_poa(way);
        let station = Arc::new(Station::default());
        // Unique ids: the thermometer and the clock count as two servants.
        let thermometer: Thermometer = poa.activate(station.clone()).unwrap();
        let clock: Clock = poa.activate(station).unwrap();
        thermometer.reset().unwrap();
        clock.reset().unwrap();
        assert_eq!(thermometer.read().unwrap(), 11, "{way:?}");
        assert_eq!(clock.read().unwrap(), "11 o'clock");
        assert_ne!(thermometer.as_object(), clock.as_object());
        ends(&poa);
    }
}

/// Type whose parts are the servants. It stands for a type of another crate, which implements no
/// servant trait itself.
struct Machine {
    name: String,
    inlet: Gauge,
    outlet: Gauge,
}

struct Gauge {
    value: AtomicI32,
}

impl Gauge {
    fn at(value: i32) -> Self {
        let value = value.into();
        Self { value }
    }
}

impl ThermometerServant for Gauge {
    fn read(&self) -> Result<i32, SystemException> {
        Ok(self.value.load(Ordering::Relaxed))
    }

    fn reset(&self) -> Result<(), SystemException> {
        self.value.store(0, Ordering::Relaxed);
        Ok(())
    }
}

fn machine() -> Arc<Machine> {
    Arc::new(Machine {
        name: "mill".to_owned(),
        inlet: Gauge::at(20),
        outlet: Gauge::at(80),
    })
}

#[test]
fn the_parts_of_an_object_serve_one_interface_each_as_an_object_of_its_own() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let (poa, machine) = (root_poa(way), machine());
        let tie = Tie::new(machine.clone(), |machine: &Machine| &machine.inlet);
        let inlet: Thermometer = poa.activate(tie).unwrap();
        let tie = Tie::new(machine.clone(), |machine: &Machine| &machine.outlet);
        let outlet: Thermometer = poa.activate(tie).unwrap();
        outlet.reset().unwrap();
        let readings = (inlet.read().unwrap(), outlet.read().unwrap());
        assert_eq!(readings, (20, 0), "{way:?}");
        assert_eq!(machine.outlet.read().unwrap(), 0);
        assert_eq!(machine.name, "mill");
        ends(&poa);
    }
}

#[test]
fn a_tie_keeps_its_object_and_nothing_else_does() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let (poa, machine) = (root_poa(Collocation::ThruPoa), machine());
    let held = Arc::downgrade(&machine);
    let tie = Tie::new(machine, |machine: &Machine| &machine.inlet);
    let inlet: Thermometer = poa.activate(tie).unwrap();
    assert_eq!(inlet.read().unwrap(), 20);
    assert!(held.upgrade().is_some());
    poa.deactivate(&inlet).unwrap();
    assert!(held.upgrade().is_none());
    ends(&poa);
}

#[test]
fn ties_of_one_part_are_one_servant_and_ties_of_two_are_two() {
    let machine = machine();
    let tie = |part: fn(&Machine) -> &Gauge| {
        servant_of::<Thermometer, _>(Tie::new(machine.clone(), part)).identity()
    };
    assert_eq!(tie(|it| &it.inlet), tie(|it| &it.inlet));
    assert_ne!(tie(|it| &it.inlet), tie(|it| &it.outlet));
}

#[test]
fn one_servant_is_one_whatever_holds_it() {
    let station = Arc::new(Station::default());
    let as_trait: Arc<dyn ThermometerServant> = station.clone();
    let tied = Tie::new(station.clone(), |station: &Station| station);
    let identity = servant_of::<Thermometer, _>(station.clone()).identity();
    assert_eq!(servant_of::<Thermometer, _>(as_trait).identity(), identity);
    assert_eq!(servant_of::<Thermometer, _>(tied).identity(), identity);
    assert_ne!(servant_of::<Clock, _>(station).identity(), identity);
    let other = Arc::new(Station::default());
    assert_ne!(servant_of::<Thermometer, _>(other).identity(), identity);
}

#[test]
fn a_box_of_a_trait_serves() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let poa = root_poa(way);
        let gauges: [Box<dyn ThermometerServant>; 2] =
            [Box::new(Gauge::at(3)), Box::new(Station::default())];
        let gauges = gauges.map(|gauge| {
            let thermometer: Thermometer = poa.activate(gauge).unwrap();
            thermometer.read().unwrap()
        });
        assert_eq!(gauges, [3, 0], "{way:?}");
        ends(&poa);
    }
}

/// Servant of many counters; the object id of the call selects the count.
#[derive(Default)]
struct Counters {
    counts: Mutex<std::collections::BTreeMap<Vec<u8>, i32>>,
}

impl CounterServant for Counters {
    fn count(&self) -> Result<i32, SystemException> {
        Ok(self.add(0).unwrap_or_default())
    }

    fn label(&self) -> Result<String, SystemException> {
        Ok(String::new())
    }

    fn set_label(&self, _value: &str) -> Result<(), SystemException> {
        Ok(())
    }

    fn add(&self, by: i32) -> Result<i32, CounterAddError> {
        let id = Current.object_id().unwrap().as_bytes().to_vec();
        let mut counts = self.counts.lock().unwrap();
        let count = counts.entry(id).or_default();
        *count += by;
        Ok(*count)
    }

    fn bump(&self, by: i32) -> Result<(), SystemException> {
        let _ = self.add(by);
        Ok(())
    }
}

#[test]
fn one_servant_is_many_objects_and_knows_which_is_called() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let poa = shared_poa(way);
        let counters = Arc::new(Counters::default());
        let objects: Vec<Counter> = (0..20)
            .map(|_| poa.activate(counters.clone()).unwrap())
            .collect();
        for (number, counter) in (0..).zip(&objects) {
            assert_eq!(counter.add(number).unwrap(), number, "{way:?}");
        }
        let counts: Vec<i32> = objects.iter().map(|one| one.count().unwrap()).collect();
        assert_eq!(counts, (0..20).collect::<Vec<i32>>(), "{way:?}");
        ends(&poa);
    }
}
