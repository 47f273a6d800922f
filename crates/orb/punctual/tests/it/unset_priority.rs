//! Client's thread without a CORBA priority, whose requests carry the lowest: it is warned of, once.

use crate::support::{Echo, EchoImpl, watchdog};
use punctual::poa::PoaPolicy;
use punctual::policy::Collocation;
use punctual::rt::{Priority, PriorityModelPolicy, RealTime, RtConfig, RtOrb};
use punctual::{Interface, ListenEndpoint, Orb, OrbBuilder, RootPoa};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Log output captured from one thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn warnings(&self) -> usize {
        let log = self.0.lock().unwrap();
        let text = String::from_utf8_lossy(&log);
        text.matches("a thread without a CORBA priority").count()
    }
}

fn extended(rt: &Arc<RtOrb>) -> OrbBuilder {
    rt.extend(Orb::builder())
        .unwrap()
        .configure(|config| config.collocation = Collocation::None)
}

#[test]
fn a_thread_that_sets_no_priority_is_warned_of_once_and_one_that_does_is_not() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let config = RtConfig {
        real_time: RealTime::BestEffort,
        ..RtConfig::default()
    };
    let rt = RtOrb::new(config).unwrap();
    let server = extended(&rt).listen(ListenEndpoint::iiop("127.0.0.1", 0));
    let server = server.build().unwrap();
    let root = server.root_poa().unwrap();
    root.manager().activate().unwrap();
    let model = PriorityModelPolicy::client_propagated(Priority::new(1000).unwrap());
    let policies = [PoaPolicy::of(model)];
    let poa = root.create_poa("valves", Some(root.manager()), &policies);
    let echo: Echo = poa
        .unwrap()
        .activate(Arc::new(EchoImpl::default()))
        .unwrap();
    let text = server.object_to_string(&echo).unwrap();

    let log = Log::default();
    let call = |client: &Orb| {
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let echo = Echo::from_object(client.string_to_object(&text).unwrap());
            echo.long(1).unwrap();
            echo.long(2).unwrap();
        });
    };
    let ordinary = extended(&rt).build().unwrap();
    call(&ordinary);
    assert_eq!(log.warnings(), 1);
    let urgent = extended(&rt).build().unwrap();
    // The priority stays with its thread.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let priority = Priority::new(7).unwrap();
            rt.current().set_the_priority(priority).unwrap();
            call(&urgent);
        });
    });
    assert_eq!(log.warnings(), 1);
    for orb in [ordinary, urgent, server] {
        orb.shutdown(true).unwrap();
    }
}
