//! Shared code of the tests of typed channels: suppliers, consumers, and requests that are written by hand.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use punctual::stub::{Block, ByteOrder, Coding, Encoder, Marshal};
use punctual::{
    Any, Interface, NotNil, ObjectRef, SystemException, SystemExceptionKind as Kind, ValueType as _,
};
use punctual_cosevent::cos_event_channel_admin::ProxyPushSupplier;
use punctual_cosevent::cos_event_comm::{PushConsumer, PushConsumerPushError, PushConsumerServant};
use punctual_cosevent::cos_typed_event_channel_admin::{
    TypedConsumerAdmin, TypedEventChannel, TypedProxyPullSupplier, TypedProxyPushConsumer,
    TypedSupplierAdmin,
};
use punctual_cosevent::cos_typed_event_comm::{TypedPushConsumer, TypedPushConsumerServant};
use punctual_cosevent::{EventInterfaces, EventService, Limits};

use crate::plant::{
    Alarms, AlarmsServant, BeatsServant, Memo, MemoFactory, MemoState, Note, NoteState, Notes,
    NotesServant, PullAlarms, Reading, Severity,
};
use crate::support::{Program, Served, limits, until};

/// Returns the interfaces of the tests' IDL.
pub(crate) fn interfaces() -> EventInterfaces {
    let mut interfaces = EventInterfaces::default();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/idl/plant.idl");
    interfaces.add_idl(Path::new(file), &[]).unwrap();
    interfaces
}

/// Serves typed events with these limits.
pub(crate) fn served_with(limits: Limits) -> Served {
    let service = EventService::in_memory();
    service.set_limits(limits);
    service.set_interfaces(interfaces());
    Served::of(service, ("127.0.0.1", 0))
}

pub(crate) fn served() -> Served {
    served_with(limits())
}

/// Returns the typed channel, as the program sees it.
pub(crate) fn channel(served: &Served, program: &Program) -> TypedEventChannel {
    program.see(served.typed_channel.as_ref().unwrap())
}

pub(crate) fn consumers(served: &Served, program: &Program) -> TypedConsumerAdmin {
    let admin = channel(served, program).for_consumers();
    admin.unwrap().not_nil().unwrap()
}

pub(crate) fn suppliers(served: &Served, program: &Program) -> TypedSupplierAdmin {
    let admin = channel(served, program).for_suppliers();
    admin.unwrap().not_nil().unwrap()
}

/// Obtains a proxy for a supplier of an interface, and connects it.
pub(crate) fn supplies(served: &Served, program: &Program, id: &str) -> TypedProxyPushConsumer {
    let admin = suppliers(served, program);
    let proxy = admin.obtain_typed_push_consumer(id).unwrap();
    let proxy = proxy.not_nil().unwrap();
    proxy.connect_push_supplier(None).unwrap();
    proxy
}

/// Returns the object of the interface that a supplier calls.
pub(crate) fn entrance<I: Interface>(proxy: &TypedProxyPushConsumer) -> I {
    let object = proxy.get_typed_consumer().unwrap().unwrap();
    assert_eq!(object.type_id(), I::REPOSITORY_ID);
    I::narrow(object).unwrap()
}

/// Connects a supplier of alarms.
pub(crate) fn alarms(served: &Served, program: &Program) -> Alarms {
    entrance(&supplies(served, program, Alarms::REPOSITORY_ID))
}

/// Obtains a proxy for a consumer of an interface.
pub(crate) fn obtained(served: &Served, program: &Program, id: &str) -> ProxyPushSupplier {
    let admin = consumers(served, program);
    let proxy = admin.obtain_typed_push_supplier(id).unwrap();
    proxy.not_nil().unwrap()
}

/// Connects a consumer of alarms.
pub(crate) fn panel(served: &Served, program: &Program) -> (ProxyPushSupplier, Panel, Station) {
    let panel = Panel::default();
    let object: Alarms = program.object(panel.clone());
    let station = Station::of(object.as_object());
    let proxy = obtained(served, program, Alarms::REPOSITORY_ID);
    let consumer = station.connectable(program);
    proxy.connect_push_consumer(Some(&consumer)).unwrap();
    (proxy, panel, station)
}

/// Obtains a proxy for a consumer that pulls by an interface.
pub(crate) fn obtained_to_pull(
    served: &Served,
    program: &Program,
    id: &str,
) -> TypedProxyPullSupplier {
    let admin = consumers(served, program);
    let proxy = admin.obtain_typed_pull_supplier(id).unwrap();
    proxy.not_nil().unwrap()
}

/// Connects a consumer that pulls by an interface, without a reference to it.
pub(crate) fn pulls(served: &Served, program: &Program, id: &str) -> TypedProxyPullSupplier {
    let proxy = obtained_to_pull(served, program, id);
    proxy.connect_pull_consumer(None).unwrap();
    proxy
}

/// Returns the object of the interface by which a consumer pulls.
pub(crate) fn pull_exit<I: Interface>(proxy: &TypedProxyPullSupplier) -> I {
    let object = proxy.get_typed_supplier().unwrap().unwrap();
    assert_eq!(object.type_id(), I::REPOSITORY_ID);
    I::narrow(object).unwrap()
}

/// Connects a consumer that pulls alarms.
pub(crate) fn pulls_alarms(
    served: &Served,
    program: &Program,
) -> (TypedProxyPullSupplier, PullAlarms) {
    let proxy = pulls(served, program, PullAlarms::REPOSITORY_ID);
    let object = pull_exit(&proxy);
    (proxy, object)
}

/// Connects a consumer of notes, and a supplier.
pub(crate) fn notes(served: &Served, program: &Program) -> (Panel, Notes) {
    program.orb.register_value_factory(MemoFactory);
    let panel = Panel::default();
    let object: Notes = program.object(panel.clone());
    let consumer = Station::of(object.as_object()).connectable(program);
    let proxy = obtained(served, program, Notes::REPOSITORY_ID);
    proxy.connect_push_consumer(Some(&consumer)).unwrap();
    let supplies = supplies(served, program, Notes::REPOSITORY_ID);
    (panel, entrance(&supplies))
}

/// Returns a memo where a note is declared.
pub(crate) fn memo() -> Note {
    Note::from(Memo::new(MemoState {
        base: NoteState {
            text: "one".to_owned(),
        },
        pages: 3,
    }))
}

pub(crate) fn reading(sensor: &str) -> Reading {
    Reading {
        sensor: sensor.to_owned(),
        value: 1.5,
        level: Severity::High,
    }
}

/// Typed consumer, which tells its object. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Station(Arc<StationState>);

#[derive(Default)]
struct StationState {
    object: Option<ObjectRef>,
    asked: AtomicUsize,
    disconnects: AtomicUsize,
}

impl Station {
    pub(crate) fn of(object: &ObjectRef) -> Self {
        Self(Arc::new(StationState {
            object: Some(object.clone()),
            ..StationState::default()
        }))
    }

    /// Returns the object that is connected.
    pub(crate) fn connectable(&self, program: &Program) -> PushConsumer {
        let consumer: TypedPushConsumer = program.object(self.clone());
        PushConsumer::from_object(consumer.as_object().clone())
    }

    /// Returns how often the station was asked for its object.
    pub(crate) fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    pub(crate) fn disconnects(&self) -> usize {
        self.0.disconnects.load(Ordering::SeqCst)
    }
}

impl PushConsumerServant for Station {
    fn push(&self, _: &Any) -> Result<(), PushConsumerPushError> {
        Err(Kind::NoImplement.because("it is typed").into())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.0.disconnects.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl TypedPushConsumerServant for Station {
    fn get_typed_consumer(&self) -> Result<Option<ObjectRef>, SystemException> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        Ok(self.0.object.clone())
    }
}

/// Object of the interface that consumers have: keeps its calls as text. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Panel(Arc<PanelState>);

#[derive(Default)]
struct PanelState {
    calls: Mutex<Vec<String>>,
    origins: Mutex<Vec<ObjectRef>>,
    refuses: Mutex<bool>,
    blocked: Mutex<()>,
    begun: AtomicUsize,
}

impl Panel {
    /// Waits until so many calls have come, and returns them.
    pub(crate) fn wait_for(&self, count: usize) -> Vec<String> {
        until(|| self.0.calls.lock().len() >= count);
        self.0.calls.lock().clone()
    }

    /// Returns the references that have come.
    pub(crate) fn origins(&self) -> Vec<ObjectRef> {
        self.0.origins.lock().clone()
    }

    /// Makes each call raise an exception.
    pub(crate) fn refuse(&self) {
        *self.0.refuses.lock() = true;
    }

    /// Calls wait while the guard is held.
    pub(crate) fn block(&self) -> parking_lot::MutexGuard<'_, ()> {
        self.0.blocked.lock()
    }

    pub(crate) fn begun(&self) -> usize {
        self.0.begun.load(Ordering::SeqCst)
    }

    fn called(&self, call: String) -> Result<(), SystemException> {
        self.0.begun.fetch_add(1, Ordering::SeqCst);
        drop(self.0.blocked.lock());
        if *self.0.refuses.lock() {
            return Err(Kind::Internal.because("as the test wants it"));
        }
        self.0.calls.lock().push(call);
        Ok(())
    }
}

impl BeatsServant for Panel {
    fn beat(&self, number: u32) -> Result<(), SystemException> {
        self.called(format!("beat {number}"))
    }
}

impl AlarmsServant for Panel {
    fn raised(
        &self,
        zone: u8,
        cause: &Reading,
        history: &[Reading],
        origin: Option<&ObjectRef>,
    ) -> Result<(), SystemException> {
        self.0.origins.lock().extend(origin.cloned());
        let history: Vec<&str> = history.iter().map(|one| one.sensor.as_str()).collect();
        self.called(format!(
            "raised {zone} {} {} {:?} {history:?}",
            cause.sensor, cause.value, cause.level
        ))
    }

    fn cleared(&self, sensor: &str, remark: &str) -> Result<(), SystemException> {
        self.called(format!("cleared {sensor} {remark}"))
    }

    fn silence(&self) -> Result<(), SystemException> {
        self.called("silence".to_owned())
    }
}

impl NotesServant for Panel {
    fn noted(&self, first: Option<&Note>, again: Option<&Note>) -> Result<(), SystemException> {
        let memo: Memo = first.unwrap().as_value().downcast().unwrap();
        let text = memo.text();
        memo.set_text("changed");
        let again = again.unwrap().text();
        self.called(format!("noted {} {text} {again}", memo.pages()))
    }
}

/// Sends a request whose arguments are written in this byte order, and returns the status of its reply.
pub(crate) fn call_in(
    order: ByteOrder,
    object: &impl Interface,
    place: &str,
    operation: &str,
    arguments: impl FnOnce(&mut Encoder<'_>),
) -> u32 {
    let key = object.as_object().object_key().unwrap();
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    let is_little = matches!(order, ByteOrder::Little);
    out.put_bytes(&[b'G', b'I', b'O', b'P', 1, 2, u8::from(is_little), 0]);
    out.put_u32(0);
    // The request id, a reply is expected, and the target is a key.
    out.put_u32(7);
    out.put_bytes(&[3, 0, 0, 0]);
    out.put_u16(0);
    out.put_octets(&key).unwrap();
    operation.marshal(&mut out).unwrap();
    // No service contexts.
    out.put_u32(0);
    out.align(8);
    arguments(&mut out);
    let size = u32::try_from(out.position() - 12).unwrap();
    out.patch_u32(8, size);
    let mut stream = TcpStream::connect(place).unwrap();
    stream.write_all(&out.into_block().into_vec()).unwrap();
    let mut head = [0; 24];
    stream.read_exact(&mut head).unwrap();
    assert_eq!((&head[..4], head[7]), (&b"GIOP"[..], 1), "no reply");
    let status = head[16..20].try_into().unwrap();
    match head[6] & 1 {
        1 => u32::from_le_bytes(status),
        _ => u32::from_be_bytes(status),
    }
}
