//! Tests of the order in which a queue serves jobs.

use crate::setting::idl::rehearsal::{Operation, OperationServant};
use crate::setting::{any_schedule, ordinary, server};
use punctual::{Orb, RootPoa, SystemException};
use punctual_scheduling_runtime::ServerScheduler;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// Servant that notes the calls of several objects; a call of 0 waits for the gate.
struct Noting {
    name: &'static str,
    gate: Arc<Mutex<Receiver<()>>>,
    order: Sender<&'static str>,
}

impl OperationServant for Noting {
    fn run(&self, released: u64) -> Result<(), SystemException> {
        self.order.send(self.name).unwrap();
        if released == 0 {
            self.gate.lock().unwrap().recv().unwrap();
        }
        Ok(())
    }
}

fn buffered(orb: &Orb) -> u64 {
    let lanes = orb.lane_statistics().into_iter();
    lanes.map(|lane| lane.waiting as u64).sum()
}

fn order_of(text: &str) -> Vec<&'static str> {
    let schedule = any_schedule(text);
    let rt = ordinary(&schedule);
    let orb = server(&rt, &schedule);
    let names = ["late", "soon", "now"];
    let scheduler = ServerScheduler::new(&rt, &orb, &schedule, &names).unwrap();
    let root = orb.root_poa().unwrap();
    let manager = Some(root.manager());
    // Two adapters share one queue.
    let adapters = [&names[..1], &names[1..]].map(|names| {
        let created = scheduler.create_poa(&root, names[0], manager, &[], names);
        created.unwrap()
    });
    let (open, gate) = channel();
    let (order, ordered) = channel();
    let gate = Arc::new(Mutex::new(gate));
    let objects = names.map(|name| -> Operation {
        let (gate, order) = (gate.clone(), order.clone());
        let poa = &adapters[usize::from(name != names[0])];
        poa.schedule_object(Noting { name, gate, order }, name)
            .unwrap()
    });
    objects[0].run(0).unwrap();
    ordered.recv().unwrap();
    for (count, object) in (1..).zip(&objects) {
        object.run(1).unwrap();
        while buffered(&orb) < count {
            std::thread::yield_now();
        }
    }
    open.send(()).unwrap();
    let served = ordered.iter().take(3).collect();
    orb.shutdown(true).unwrap();
    served
}

#[test]
fn a_queue_serves_the_earliest_deadline_first() {
    let text = "
        strategy = 'EDF'
        [operation.late]\nwcet = '3960s'\nperiod = '10000s'
        [operation.soon]\nwcet = '50s'\nperiod = '5000s'
        [operation.now]\nwcet = '580s'\nperiod = '1000s'
    ";
    assert_eq!(order_of(text), ["now", "soon", "late"]);
}

#[test]
fn a_queue_serves_the_least_laxity_first() {
    // The laxities are 1000, 4950 and 5000 seconds.
    let text = "
        strategy = 'MLF'
        [operation.late]\nwcet = '9000s'\nperiod = '10000s'
        [operation.soon]\nwcet = '50s'\nperiod = '5000s'
        [operation.now]\nwcet = '1s'\nperiod = '5001s'
    ";
    assert_eq!(order_of(text), ["late", "soon", "now"]);
}
