//! Priorities at which calls within the process run.

use crate::collocation::servant::{Counter, CounterAddError, CounterServant, WAYS, this_thread};
use crate::support::watchdog;
use punctual::poa::PoaPolicy;
use punctual::policy::Collocation;
use punctual::rt::{NativePolicy, Priority, PriorityModelPolicy, RtConfig, RtOrb};
use punctual::{ListenEndpoint, Orb, Policy, RootPoa, SetOverride, SystemException};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Servant that returns the CORBA priority at which it runs.
struct SaysPriority {
    rt: Arc<RtOrb>,
    thread: Mutex<String>,
}

impl CounterServant for SaysPriority {
    fn count(&self) -> Result<i32, SystemException> {
        *self.thread.lock().unwrap() = this_thread();
        Ok(self.rt.current().the_priority()?.into())
    }

    fn label(&self) -> Result<String, SystemException> {
        Ok(self.thread.lock().unwrap().clone())
    }

    fn set_label(&self, _: &str) -> Result<(), SystemException> {
        Ok(())
    }

    fn add(&self, by: i32) -> Result<i32, CounterAddError> {
        Ok(by)
    }

    fn bump(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }
}

fn at(priority: i16) -> Priority {
    Priority::new(priority).unwrap()
}

#[test]
fn a_servant_runs_at_the_priority_of_its_model_and_the_caller_at_its_own_again() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let config = RtConfig {
            policy: NativePolicy::Other,
            ..RtConfig::default()
        };
        let rt = RtOrb::new(config).unwrap();
        let builder = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
        let orb = rt.extend(builder).unwrap().build().unwrap();
        let policies = [Policy::Collocation(way)];
        let manager = orb.policy_manager();
        manager
            .set_policy_overrides(&policies, SetOverride::Add)
            .unwrap();
        let root = orb.root_poa().unwrap();
        root.manager().activate().unwrap();
        let object = |name: &str, model| {
            let policies = [PoaPolicy::of(model)];
            let poa = root
                .create_poa(name, Some(root.manager()), &policies)
                .unwrap();
            let servant = Arc::new(SaysPriority {
                rt: rt.clone(),
                thread: Mutex::default(),
            });
            poa.activate::<Counter, _>(servant).unwrap()
        };
        let declared = object("declared", PriorityModelPolicy::server_declared(at(12)));
        let propagated = object("propagated", PriorityModelPolicy::client_propagated(at(3)));
        let current = rt.current();
        current.set_the_priority(at(80)).unwrap();
        assert_eq!(declared.count().unwrap(), 12, "{way:?}");
        assert_eq!(current.the_priority().unwrap(), at(80), "{way:?}");
        assert_eq!(propagated.count().unwrap(), 80, "{way:?}");
        assert_eq!(current.the_priority().unwrap(), at(80), "{way:?}");
        // Without a request, but never past the adapter, which knows the model.
        let is_here = declared.label().unwrap() == this_thread();
        assert_eq!(is_here, way != Collocation::None, "{way:?}");
    }
}
