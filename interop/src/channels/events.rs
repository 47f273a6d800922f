//! Our suppliers and consumers at a peer's event channel.

use punctual::{Any, Interface, NotNil, Poa};
use punctual_notification::cos_event_channel_admin::{
    EventChannel, ProxyPullConsumer, ProxyPullSupplier, ProxyPushConsumer, ProxyPushSupplier,
};

use super::alarms::event;
use super::client::Client;
use super::place;
use super::tried::Tried;
use crate::Failure;
use crate::names::expect;

/// A client of each kind at one channel, connected.
struct Clients {
    client: Client,
    to_consumer: ProxyPushSupplier,
    pulls: ProxyPullSupplier,
    pushes: ProxyPushConsumer,
    from_supplier: ProxyPullConsumer,
}

impl Clients {
    fn new(poa: &Poa, channel: &EventChannel) -> Result<Self, Failure> {
        let client = Client::default();
        let consumers = channel.for_consumers()?.not_nil()?;
        let suppliers = channel.for_suppliers()?.not_nil()?;
        let to_consumer = consumers.obtain_push_supplier()?.not_nil()?;
        to_consumer.connect_push_consumer(Some(&poa.activate(client.clone())?))?;
        let pulls = consumers.obtain_pull_supplier()?.not_nil()?;
        pulls.connect_pull_consumer(Some(&poa.activate(client.clone())?))?;
        let pushes = suppliers.obtain_push_consumer()?.not_nil()?;
        pushes.connect_push_supplier(Some(&poa.activate(client.clone())?))?;
        let from_supplier = suppliers.obtain_pull_consumer()?.not_nil()?;
        from_supplier.connect_pull_supplier(Some(&poa.activate(client.clone())?))?;
        Ok(Self {
            client,
            to_consumer,
            pulls,
            pushes,
            from_supplier,
        })
    }

    fn end(&self) -> Result<(), Failure> {
        self.to_consumer.disconnect_push_supplier()?;
        self.pulls.disconnect_pull_supplier()?;
        self.pushes.disconnect_push_consumer()?;
        Ok(self.from_supplier.disconnect_pull_consumer()?)
    }
}

/// Runs the cases.
///
/// # Errors
/// There is no such channel.
pub(super) fn run(reference: &str, tried: &mut Tried<'_>) -> Result<(), Failure> {
    let (orb, poa) = place::orb()?;
    let channel = EventChannel::narrow(orb.string_to_object(reference)?)?;
    cases(&poa, &channel, tried);
    Ok(orb.shutdown(true)?)
}

fn cases(poa: &Poa, channel: &EventChannel, tried: &mut Tried<'_>) {
    tried.case("pushed and pulled", || {
        let clients = Clients::new(poa, channel)?;
        for number in 1..=3 {
            clients.pushes.push(&Any::new(&number)?)?;
            clients.client.supply(event(10 + number)?);
        }
        let expected = [1, 2, 3, 11, 12, 13];
        let pushed = clients.client.first(6)?;
        expect(
            &format!("all are pushed on ({pushed:?})"),
            pushed == expected,
        )?;
        let mut pulled = Vec::new();
        for _ in expected {
            pulled.push(clients.pulls.pull()?.extract::<i32>()?);
        }
        pulled.sort_unstable();
        expect(&format!("all are pulled ({pulled:?})"), pulled == expected)?;
        clients.end()
    });
    tried.case("a second connection is refused", || {
        let clients = Clients::new(poa, channel)?;
        let again = poa.activate(clients.client.clone())?;
        let refused = clients.to_consumer.connect_push_consumer(Some(&again));
        expect("AlreadyConnected", refused.is_err())?;
        clients.end()
    });
    tried.case("there is nothing to pull", || {
        let clients = Clients::new(poa, channel)?;
        expect("nothing", !clients.pulls.try_pull()?.1)?;
        clients.end()
    });
    tried.case("all are told of the end", || {
        let clients = Clients::new(poa, channel)?;
        clients.end()?;
        clients.client.wait_for_ends(4)
    });
    tried.case("a push behind the end is refused", || {
        let clients = Clients::new(poa, channel)?;
        clients.end()?;
        Ok(expect(
            "an exception",
            clients.pushes.push(&Any::new(&1)?).is_err(),
        )?)
    });
}
