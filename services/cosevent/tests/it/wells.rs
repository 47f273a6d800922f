//! Suppliers of the tests from which typed events are pulled.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use punctual::{Any, Interface, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_cosevent::cos_event_channel_admin::{
    ProxyPullConsumer, ProxyPullConsumerConnectPullSupplierError as ConnectError,
};
use punctual_cosevent::cos_event_comm::{
    PullSupplier, PullSupplierPullError, PullSupplierServant, PullSupplierTryPullError,
};
use punctual_cosevent::cos_typed_event_comm::{TypedPullSupplier, TypedPullSupplierServant};

use crate::plant::{PullAlarms, PullAlarmsServant, PullBeatsServant, Reading};
use crate::support::{Program, Served, until};
use crate::typed::{reading, suppliers};

/// Typed supplier, which tells its object. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Plant(Arc<PlantState>);

#[derive(Default)]
struct PlantState {
    object: Mutex<Option<ObjectRef>>,
    asked: AtomicUsize,
    disconnects: AtomicUsize,
}

impl Plant {
    pub(crate) fn of(object: &ObjectRef) -> Self {
        Self(Arc::new(PlantState {
            object: Mutex::new(Some(object.clone())),
            ..PlantState::default()
        }))
    }

    /// Returns the object that is connected.
    pub(crate) fn connectable(&self, program: &Program) -> PullSupplier {
        let supplier: TypedPullSupplier = program.object(self.clone());
        PullSupplier::from_object(supplier.as_object().clone())
    }

    /// Makes the plant return nil from now on.
    pub(crate) fn forget(&self) {
        *self.0.object.lock() = None;
    }

    /// Returns how often the plant was asked for its object.
    pub(crate) fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    pub(crate) fn disconnects(&self) -> usize {
        self.0.disconnects.load(Ordering::SeqCst)
    }
}

impl PullSupplierServant for Plant {
    fn pull(&self) -> Result<Any, PullSupplierPullError> {
        Err(Kind::NoImplement.because("it is typed").into())
    }

    fn try_pull(&self) -> Result<(Any, bool), PullSupplierTryPullError> {
        Err(Kind::NoImplement.because("it is typed").into())
    }

    fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        self.0.disconnects.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl TypedPullSupplierServant for Plant {
    fn get_typed_supplier(&self) -> Result<Option<ObjectRef>, SystemException> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        Ok(self.0.object.lock().clone())
    }
}

/// Object of `PullAlarms`, with events that are pulled from it. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Well(Arc<WellState>);

#[derive(Default)]
struct WellState {
    beats: Events<u32>,
    cleared: Events<(String, String)>,
    raised: Events<u8>,
    silences: Events<()>,
    /// Number of calls that are being executed, and the greatest that it was.
    open: AtomicUsize,
    most_open: AtomicUsize,
    is_ended: AtomicBool,
}

/// Events of an operation, and the number of calls that have pulled them.
#[derive(Default)]
struct Events<T> {
    queue: Mutex<VecDeque<T>>,
    calls: AtomicUsize,
}

impl<T> Events<T> {
    fn add(&self, event: T) {
        self.queue.lock().push_back(event);
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl Well {
    pub(crate) fn beat(&self, number: u32) {
        self.0.beats.add(number);
    }

    pub(crate) fn cleared(&self, sensor: &str, remark: &str) {
        self.0.cleared.add((sensor.to_owned(), remark.to_owned()));
    }

    pub(crate) fn raised(&self, zone: u8) {
        self.0.raised.add(zone);
    }

    pub(crate) fn silence(&self) {
        self.0.silences.add(());
    }

    /// Returns the numbers of calls: of beats, of cleared and raised alarms, and of silences.
    pub(crate) fn calls(&self) -> [usize; 4] {
        let state = &self.0;
        [
            state.beats.calls(),
            state.cleared.calls(),
            state.raised.calls(),
            state.silences.calls(),
        ]
    }

    /// Returns the greatest number of calls that were executed at the same time.
    pub(crate) fn most_open(&self) -> usize {
        self.0.most_open.load(Ordering::SeqCst)
    }

    /// Makes all calls raise an exception from now on.
    pub(crate) fn end(&self) {
        self.0.is_ended.store(true, Ordering::SeqCst);
    }

    fn take<T>(&self, events: &Events<T>, waits: bool) -> Result<Option<T>, SystemException> {
        let state = &self.0;
        events.calls.fetch_add(1, Ordering::SeqCst);
        let open = state.open.fetch_add(1, Ordering::SeqCst) + 1;
        state.most_open.fetch_max(open, Ordering::SeqCst);
        let taken = loop {
            if state.is_ended.load(Ordering::SeqCst) {
                break Err(Kind::Internal.because("as the test wants it"));
            }
            let event = events.queue.lock().pop_front();
            if event.is_some() || !waits {
                break Ok(event);
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        state.open.fetch_sub(1, Ordering::SeqCst);
        taken
    }

    fn wait<T: Default>(&self, events: &Events<T>) -> Result<T, SystemException> {
        Ok(self.take(events, true)?.unwrap_or_default())
    }
}

impl PullBeatsServant for Well {
    fn pull_beat(&self) -> Result<u32, SystemException> {
        self.wait(&self.0.beats)
    }

    fn try_beat(&self) -> Result<(bool, u32), SystemException> {
        let taken = self.take(&self.0.beats, false)?;
        Ok((taken.is_some(), taken.unwrap_or_default()))
    }
}

type Raised = (u8, Reading, Vec<Reading>, Option<ObjectRef>);

fn of_zone(zone: u8) -> Raised {
    (zone, reading("t1"), vec![reading("t2")], None)
}

impl PullAlarmsServant for Well {
    fn pull_raised(&self) -> Result<Raised, SystemException> {
        Ok(of_zone(self.wait(&self.0.raised)?))
    }

    fn try_raised(
        &self,
    ) -> Result<(bool, u8, Reading, Vec<Reading>, Option<ObjectRef>), SystemException> {
        let taken = self.take(&self.0.raised, false)?;
        let (zone, cause, history, origin) = of_zone(taken.unwrap_or_default());
        Ok((taken.is_some(), zone, cause, history, origin))
    }

    fn pull_cleared(&self) -> Result<(String, String), SystemException> {
        self.wait(&self.0.cleared)
    }

    fn try_cleared(&self) -> Result<(bool, String, String), SystemException> {
        let taken = self.take(&self.0.cleared, false)?;
        let has_event = taken.is_some();
        let (sensor, remark) = taken.unwrap_or_default();
        Ok((has_event, sensor, remark))
    }

    fn pull_silence(&self) -> Result<(), SystemException> {
        self.wait(&self.0.silences)
    }

    fn try_silence(&self) -> Result<bool, SystemException> {
        Ok(self.take(&self.0.silences, false)?.is_some())
    }
}

/// Obtains a proxy for a supplier that is pulled from by an interface.
pub(crate) fn obtained_to_be_pulled(
    served: &Served,
    program: &Program,
    id: &str,
) -> ProxyPullConsumer {
    let admin = suppliers(served, program);
    let proxy = admin.obtain_typed_pull_consumer(id).unwrap();
    proxy.unwrap()
}

/// Connects a supplier with an object of an interface.
pub(crate) fn connected(
    served: &Served,
    program: &Program,
    object: &impl Interface,
) -> (ProxyPullConsumer, Plant) {
    let plant = Plant::of(object.as_object());
    let id = object.as_object().type_id();
    let proxy = obtained_to_be_pulled(served, program, id);
    let supplier = plant.connectable(program);
    until(|| match proxy.connect_pull_supplier(Some(&supplier)) {
        Ok(()) => true,
        // Some tests have a time limit that a busy machine exceeds.
        Err(ConnectError::System(exception)) if exception.kind() == Kind::Timeout => false,
        Err(refused) => panic!("{refused}"),
    });
    (proxy, plant)
}

/// Connects a supplier of alarms that are pulled.
pub(crate) fn well(served: &Served, program: &Program) -> (ProxyPullConsumer, Well, Plant) {
    let well = Well::default();
    let object: PullAlarms = program.object(well.clone());
    let (proxy, plant) = connected(served, program, &object);
    (proxy, well, plant)
}
