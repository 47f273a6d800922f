//! Models, RTORBs and ORBs of the tests.

use punctual::rt::{Mapping, NativePolicy, RtConfig, RtOrb};
use punctual::{ListenEndpoint, Orb, RootPoa};
use punctual_scheduling::model::{Model, read};
use punctual_scheduling_runtime::{Schedule, ScheduleError, ScheduleOptions, Unproved};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Stubs and skeletons of the rehearsals' IDL, which has one operation.
#[allow(unnameable_types)]
pub(crate) mod idl {
    include!(concat!(env!("OUT_DIR"), "/Rehearsal.rs"));
}

/// Two sources, an operation that both call one-way, and one that runs in its caller's thread.
pub(crate) const PLANT: &str = r#"
    [operation."sensor.read"]
    wcet = "1ms"
    period = "10ms"
    calls = [{ operation = "store", kind = "one-way" }]

    [operation."display.refresh"]
    wcet = "4ms"
    period = "40ms"
    calls = [{ operation = "store", kind = "one-way" }, { operation = "display.draw", kind = "two-way" }]

    [operation.log]
    wcet = "2ms"
    period = "20ms"

    [operation.store]
    wcet = "500us"

    [operation."display.draw"]
    wcet = "1ms"
"#;

pub(crate) fn model(text: &str) -> Model {
    read("test.toml", text).unwrap_or_else(|faults| panic!("{faults:?}"))
}

pub(crate) fn scheduled(
    text: &str,
    options: &ScheduleOptions,
) -> Result<Arc<Schedule>, ScheduleError> {
    Schedule::new(model(text), "", options)
}

/// Returns the schedule of a model, whether or not it fits.
pub(crate) fn any_schedule(text: &str) -> Arc<Schedule> {
    let options = ScheduleOptions {
        unproved: Unproved::Admit,
        ..ScheduleOptions::default()
    };
    scheduled(text, &options).unwrap()
}

/// Returns an RTORB whose priorities have no effect on the kernel.
pub(crate) fn ordinary(schedule: &Schedule) -> Arc<RtOrb> {
    let config = RtConfig {
        policy: NativePolicy::Other,
        ..schedule.rt_config()
    };
    RtOrb::new(config).unwrap()
}

/// Returns an RTORB with SCHED_FIFO if this process may use it; otherwise prints the reason.
pub(crate) fn fifo(schedule: &Schedule, mapping: Mapping) -> Option<Arc<RtOrb>> {
    let config = RtConfig {
        mapping,
        ..schedule.rt_config()
    };
    match RtOrb::new(config) {
        Ok(rt) => Some(rt),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// Returns an ORB that serves by a schedule.
pub(crate) fn server(rt: &Arc<RtOrb>, schedule: &Arc<Schedule>) -> Orb {
    let endpoint: ListenEndpoint = "iiop://127.0.0.1:0".parse().unwrap();
    let builder = schedule.extend(rt, Orb::builder()).unwrap();
    let orb = builder.listen(endpoint).build().unwrap();
    orb.root_poa().unwrap().manager().activate().unwrap();
    orb
}

/// Servant that sends what it observes in each call.
pub(crate) struct Observer<T> {
    observe: Box<dyn Fn(u64) -> T + Send + Sync>,
    sender: Sender<T>,
}

impl<T: Send + 'static> Observer<T> {
    pub(crate) fn new(observe: impl Fn(u64) -> T + Send + Sync + 'static) -> (Self, Receiver<T>) {
        let (sender, receiver) = channel();
        let observe = Box::new(observe);
        (Self { observe, sender }, receiver)
    }
}

impl<T: Send + 'static> idl::rehearsal::OperationServant for Observer<T> {
    fn run(&self, released: u64) -> Result<(), punctual::SystemException> {
        self.sender.send((self.observe)(released)).unwrap();
        Ok(())
    }
}
