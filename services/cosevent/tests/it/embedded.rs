//! Channels within another service, whose gates look at each event.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::Mutex;
use punctual::policy::Collocation;
use punctual::{Any, ListenEndpoint, NotNil, Orb, RootPoa, SystemException};
use punctual_cosevent::{EmbeddedChannel, EventService, Gate};
use punctual_host::Service;

use crate::peers::Source;
use crate::support::{Program, event, limits, number};

/// Service whose channels are those of another one.
struct Embedded {
    orb: Orb,
    service: EventService,
}

impl Embedded {
    fn new() -> Self {
        let service = EventService::in_memory();
        service.set_limits(limits());
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(|config| {
                EventService::configure(config);
                config.collocation = Collocation::None;
            })
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        service.embed(&poa).unwrap();
        poa.manager().activate().unwrap();
        Self { orb, service }
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

/// Gate that tells of each event, and lets none pass before it is opened.
struct Shut {
    seen: Sender<i32>,
    opened: Mutex<Receiver<()>>,
}

impl Gate for Shut {
    fn pass(&self, event: &Any) -> Result<bool, SystemException> {
        self.seen.send(number(event)).unwrap();
        // It ends with the sender, too.
        let _ = self.opened.lock().recv();
        Ok(true)
    }
}

/// Gate that lets all events pass.
struct Open;

impl Gate for Open {
    fn pass(&self, _: &Any) -> Result<bool, SystemException> {
        Ok(true)
    }
}

/// Connects a supplier of a program, which is pulled from.
fn source(program: &Program, channel: &EmbeddedChannel) -> Source {
    let source = Source::default();
    let suppliers = program.see(&channel.for_suppliers());
    let proxy = suppliers.obtain_pull_consumer().unwrap();
    let proxy = proxy.not_nil().unwrap();
    let object = program.object(source.clone());
    proxy.connect_pull_supplier(Some(&object)).unwrap();
    source
}

#[test]
fn a_gate_that_blocks_delays_no_events_that_are_pulled_for_other_channels() {
    let (embedded, program) = (Embedded::new(), Program::new());
    let (seen, sees) = channel();
    let (open, opened) = channel();
    let shut = Shut {
        seen,
        opened: Mutex::new(opened),
    };
    let shut = embedded.service.embedded_channel(Arc::new(shut)).unwrap();
    let other = embedded.service.embedded_channel(Arc::new(Open)).unwrap();
    let pulls = |channel: &EmbeddedChannel| {
        let consumers = program.see(&channel.for_consumers());
        let proxy = consumers.obtain_pull_supplier().unwrap().not_nil().unwrap();
        proxy.connect_pull_consumer(None).unwrap();
        proxy
    };
    let (from_shut, from_other) = (pulls(&shut), pulls(&other));
    source(&program, &shut).supply(event(1));
    assert_eq!(sees.recv().unwrap(), 1);
    // The replies of this supplier come by the same connection.
    source(&program, &other).supply(event(2));
    assert_eq!(number(&from_other.pull().unwrap()), 2);
    assert!(!from_shut.try_pull().unwrap().1);
    drop(open);
    assert_eq!(number(&from_shut.pull().unwrap()), 1);
}
