//! Measurement of operations that interfaces inherit: each is one operation, named by the interface that declares it.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::rt::measurement::{
    Expected, Measured, MeasuredOperation, Recording, RecordingOptions,
};
use punctual::{ListenEndpoint, Orb, RootPoa, SystemException};
use punctual_idl_tests::families::family::{
    Bottom, BottomServant, DescribedServant, Left, LeftServant, RightServant, RootOfRootError,
    RootServant,
};
use std::sync::Arc;
use std::time::Duration;
use support::{alone::alone, watchdog};

struct Thing;

impl RootServant for Thing {
    fn state(&self) -> Result<i32, SystemException> {
        Ok(1)
    }

    fn set_state(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }

    fn of_root(&self, n: i32) -> Result<i32, RootOfRootError> {
        Ok(n)
    }
}

impl LeftServant for Thing {
    fn of_left(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n)
    }
}

impl RightServant for Thing {
    fn of_right(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n)
    }
}

impl DescribedServant for Thing {
    fn description(&self) -> Result<String, SystemException> {
        Ok("a thing".to_owned())
    }
}

impl BottomServant for Thing {
    fn of_bottom(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n)
    }
}

fn names(measured: &Measured) -> Vec<(&str, u64, bool)> {
    let operations = measured.operations.iter();
    let each = operations.map(|one| (&*one.name, one.jobs(), one.is_planned));
    each.collect()
}

fn jobs(measured: &Measured) -> u64 {
    let operations = measured.operations.iter();
    operations.map(MeasuredOperation::jobs).sum()
}

#[test]
fn an_inherited_operation_is_measured_once_under_the_interface_that_declares_it() {
    let _watchdog = watchdog(Duration::from_secs(120));
    alone(|| {
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let bottom: Bottom = poa.activate(Arc::new(Thing)).unwrap();
        let left: Left = poa.activate(Arc::new(Thing)).unwrap();
        let planned = ["family::Root::of_root", "family::Described::description"];
        let plan = planned.map(|operation| Expected {
            operation: operation.to_owned(),
            ..Expected::default()
        });
        let recording = Recording::start(RecordingOptions {
            plan: Some(plan.to_vec()),
            ..RecordingOptions::default()
        });
        let recording = recording.unwrap();
        for _ in 0..2 {
            bottom.of_root(1).unwrap();
            left.of_root(1).unwrap();
            bottom.description().unwrap();
            bottom.of_bottom(1).unwrap();
            bottom.of_right(1).unwrap();
            left.state().unwrap();
        }
        // An upcall is counted after its reply was sent.
        while jobs(&recording.measured()) < 12 {
            std::thread::yield_now();
        }
        let measured = recording.stop();
        let expected = [
            ("family::Bottom::of_bottom", 2, false),
            ("family::Described::description", 2, true),
            ("family::Right::of_right", 2, false),
            ("family::Root::_get_state", 2, false),
            ("family::Root::of_root", 4, true),
        ];
        assert_eq!(names(&measured), expected);
        let of_root = measured.operations.last().unwrap();
        assert_eq!(of_root.interface, "IDL:family/Root:1.0");
        assert_eq!(of_root.distance.count, 3, "over both objects");
        orb.shutdown(true).unwrap();
    });
}
