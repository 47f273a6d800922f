//! Notify logs whose suppliers are pulled from.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use punctual::policy::Collocation;
use punctual::{
    Interface, ListenEndpoint, NotNil, Orb, RootPoa, SystemException, SystemExceptionKind as Kind,
};
use punctual_host::store::Faults;
use punctual_log::ds_log_admin::OperationalState;
use punctual_log::ds_notify_log_admin::NotifyLog;
use punctual_notification::cos_notification::{
    CONNECTION_RELIABILITY, EventType, PERSISTENT, StructuredEvent,
};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, ProxyConsumer, StructuredProxyPullConsumer,
};
use punctual_notification::cos_notify_comm::{
    NotifySubscribeServant, NotifySubscribeSubscriptionChangeError,
    StructuredPullSupplierPullStructuredEventError, StructuredPullSupplierServant,
    StructuredPullSupplierTryPullStructuredEventError,
};

use crate::notify::{event, narrowed, property, pulled, pulls_from, recorded, suppliers};
use crate::support::{Served, until};

/// Supplier that has some events to be pulled. Clones share them.
#[derive(Clone, Default)]
struct Source(Arc<Mutex<VecDeque<i32>>>);

impl NotifySubscribeServant for Source {
    fn subscription_change(
        &self,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), NotifySubscribeSubscriptionChangeError> {
        Ok(())
    }
}

impl StructuredPullSupplierServant for Source {
    fn pull_structured_event(
        &self,
    ) -> Result<StructuredEvent, StructuredPullSupplierPullStructuredEventError> {
        let reason = "it is asked by `try_pull_structured_event`";
        Err(Kind::NoImplement.because(reason).into())
    }

    fn try_pull_structured_event(
        &self,
    ) -> Result<(StructuredEvent, bool), StructuredPullSupplierTryPullStructuredEventError> {
        let next = self.0.lock().pop_front();
        Ok((event(next.unwrap_or_default()), next.is_some()))
    }

    fn disconnect_structured_pull_supplier(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Program with a supplier, which outlives the server.
struct Program {
    orb: Orb,
    source: Source,
}

impl Program {
    fn new() -> Self {
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(|config| config.collocation = Collocation::None)
            .build()
            .unwrap();
        orb.root_poa().unwrap().manager().activate().unwrap();
        Self {
            orb,
            source: Source::default(),
        }
    }

    /// Connects the supplier, which the log pulls from, persistently or not.
    fn supplies_to(&self, log: &NotifyLog, reliability: i16) {
        let text = log
            .as_object()
            .orb()
            .object_to_string(log.as_object())
            .unwrap();
        let log = NotifyLog::from_object(self.orb.string_to_object(&text).unwrap());
        let admin = suppliers(&log);
        let obtained = admin.obtain_notification_pull_consumer(ClientType::StructuredEvent);
        let proxy: ProxyConsumer = obtained.unwrap().0.not_nil().unwrap();
        let proxy: StructuredProxyPullConsumer = narrowed(&proxy);
        let reliability = punctual::Any::new(&reliability).unwrap();
        proxy
            .set_qos(&[property(CONNECTION_RELIABILITY, reliability)])
            .unwrap();
        let object = self
            .orb
            .root_poa()
            .unwrap()
            .activate(self.source.clone())
            .unwrap();
        proxy
            .connect_structured_pull_supplier(Some(&object))
            .unwrap();
    }

    fn supply(&self, numbers: impl IntoIterator<Item = i32>) {
        self.source.0.lock().extend(numbers);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

#[test]
fn events_that_are_pulled_are_recorded_and_reach_consumers() {
    let (served, program) = (Served::new(), Program::new());
    let log = served.notify_log(&[]);
    let pulls = pulls_from(&log);
    program.supply(1..=3);
    program.supplies_to(&log, 0);
    until(|| log.get_n_records().unwrap() == 3);
    assert_eq!(recorded(&log), [1, 2, 3]);
    let got = Mutex::new(Vec::new());
    until(|| {
        let mut got = got.lock();
        got.extend(pulled(&pulls));
        got.len() == 3
    });
    assert_eq!(got.into_inner(), [1, 2, 3]);
}

#[test]
fn events_that_were_pulled_wait_while_the_disk_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let (faults, program) = (Faults::default(), Program::new());
    let served = Served::faulty(&folder.path().join("logs.redb"), &faults);
    let log = served.notify_log(&[]);
    let pulls = pulls_from(&log);
    program.supplies_to(&log, 0);
    faults.fill_after(0);
    program.supply(1..=3);
    until(|| log.get_operational_state().unwrap() == OperationalState::Disabled);
    assert!(pulled(&pulls).is_empty());
    faults.mend();
    until(|| log.get_n_records().unwrap() == 3);
    assert_eq!(recorded(&log), [1, 2, 3]);
}

#[test]
fn events_of_a_persistent_connection_are_recorded_after_a_restart_without_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let program = Program::new();
    let served = Served::at(&path, ("127.0.0.1", 0));
    let log = served.notify_log(&[]);
    program.supplies_to(&log, PERSISTENT);
    program.supply(1..=3);
    until(|| log.get_n_records().unwrap() == 3);
    drop(served);
    // It is pulled from as soon as the service starts, when the log is not there yet.
    program.supply(4..=9);
    let served = Served::at(&path, ("127.0.0.1", 0));
    let log = served.find_notify(1);
    until(|| log.get_n_records().unwrap() == 9);
    assert_eq!(recorded(&log), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}
