//! `punctual notify serve --store`, killed while channels are created: no acknowledged one is lost, and none appears that
//! was not asked for. Connected clients go on.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use punctual::policy::Collocation;
use punctual::{Any, Interface, ListenEndpoint, NotNil, Orb, RootPoa, SystemException};
use punctual_notification::cos_notification::{
    CONNECTION_RELIABILITY, EventType, PERSISTENT, Property, StructuredEvent,
};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, EventChannelFactory, StructuredProxyPushConsumer,
    StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_comm::{
    NotifyPublishOfferChangeError, NotifyPublishServant, StructuredPushConsumer,
    StructuredPushConsumerPushStructuredEventError, StructuredPushConsumerServant,
};

use crate::support::{Process, until};

const KILLS: i32 = 3;

/// Number of channels that are created before each kill at least.
const CREATED: usize = 5;

/// Returns an address with a port that stays free: no other program and no other test uses the host.
fn place() -> String {
    let free = TcpListener::bind(("127.79.2.1", 0)).unwrap();
    free.local_addr().unwrap().to_string()
}

fn serve(place: &str, store: &Path) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    let endpoint = format!("iiop://{place}");
    command.args(["notify", "serve", "--most-channels", "10000"]);
    command.args(["--listen", &endpoint, "--store"]).arg(store);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = Process(command.spawn().unwrap());
    let reference = process.reference();
    assert!(!reference.is_empty(), "it has not started");
    (process, reference)
}

/// Consumer that keeps the numbers that it receives.
#[derive(Clone, Default)]
struct Numbers(Arc<Mutex<Vec<i32>>>);

impl NotifyPublishServant for Numbers {
    fn offer_change(
        &self,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), NotifyPublishOfferChangeError> {
        Ok(())
    }
}

impl StructuredPushConsumerServant for Numbers {
    fn push_structured_event(
        &self,
        event: &StructuredEvent,
    ) -> Result<(), StructuredPushConsumerPushStructuredEventError> {
        let number = event.remainder_of_body.extract().unwrap();
        self.0.lock().unwrap().push(number);
        Ok(())
    }

    fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

fn program() -> Orb {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.collocation = Collocation::None)
        .build()
        .unwrap();
    orb.root_poa().unwrap().manager().activate().unwrap();
    orb
}

fn persistent() -> Property {
    Property {
        name: CONNECTION_RELIABILITY.to_owned(),
        value: Any::new(&PERSISTENT).unwrap(),
    }
}

/// Connects a consumer and a supplier.
fn connected(
    channel: &EventChannel,
    consumer: &StructuredPushConsumer,
) -> StructuredProxyPushConsumer {
    let consumers = channel.default_consumer_admin().unwrap().not_nil().unwrap();
    let supplier = consumers.obtain_notification_push_supplier(ClientType::StructuredEvent);
    let supplier = supplier.unwrap().0.not_nil().unwrap();
    StructuredProxyPushSupplier::narrow(supplier.as_object().clone())
        .unwrap()
        .connect_structured_push_consumer(Some(consumer))
        .unwrap();
    let suppliers = channel.default_supplier_admin().unwrap().not_nil().unwrap();
    let proxy = suppliers.obtain_notification_push_consumer(ClientType::StructuredEvent);
    let proxy = proxy.unwrap().0.not_nil().unwrap();
    let proxy = StructuredProxyPushConsumer::narrow(proxy.as_object().clone()).unwrap();
    proxy.connect_structured_push_supplier(None).unwrap();
    proxy
}

/// Creates channels until the server is killed; notes the ids of those that are acknowledged.
fn create(factory: &EventChannelFactory, ids: &Mutex<BTreeSet<i32>>) {
    while let Ok((_, id)) = factory.create_channel(&[persistent()], &[]) {
        ids.lock().unwrap().insert(id);
    }
}

/// Kills the server while channels are created. Returns the ids of those that were acknowledged.
fn killed(factory: &EventChannelFactory, process: Process) -> BTreeSet<i32> {
    let ids = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        let creating = scope.spawn(|| create(factory, &ids));
        until(|| ids.lock().unwrap().len() >= CREATED);
        drop(process);
        creating.join().unwrap();
    });
    ids.into_inner().unwrap()
}

fn event(number: i32) -> StructuredEvent {
    StructuredEvent {
        remainder_of_body: Any::new(&number).unwrap(),
        ..StructuredEvent::default()
    }
}

#[test]
fn persistent_channels_and_connections_outlive_that_the_server_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let (store, place) = (folder.path().join("notification.redb"), place());
    let (orb, numbers) = (program(), Numbers::default());
    let (mut process, reference) = serve(&place, &store);
    let factory = EventChannelFactory::from_object(orb.string_to_object(&reference).unwrap());
    let (channel, id) = factory.create_channel(&[persistent()], &[]).unwrap();
    let consumer = orb.root_poa().unwrap().activate(numbers.clone()).unwrap();
    let pushes = connected(&channel.not_nil().unwrap(), &consumer);
    let mut acknowledged = BTreeSet::from([id]);
    for round in 1..=KILLS {
        acknowledged.extend(killed(&factory, process));
        process = serve(&place, &store).0;
        let there: BTreeSet<i32> = factory.get_all_channels().unwrap().into_iter().collect();
        assert!(
            there.is_superset(&acknowledged),
            "round {round}: some are lost"
        );
        // The one that was under way when the server was killed may be there.
        assert!(there.len() <= acknowledged.len() + 1);
        acknowledged = there;
        pushes.push_structured_event(&event(round)).unwrap();
        until(|| numbers.0.lock().unwrap().last() == Some(&round));
    }
    let received = numbers.0.lock().unwrap().clone();
    assert_eq!(received, (1..=KILLS).collect::<Vec<_>>());
    drop(process);
    orb.shutdown(true).unwrap();
}
