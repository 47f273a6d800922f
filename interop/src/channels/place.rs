//! Our program of suppliers and consumers at a peer's Notification Service.

use punctual::{Implements, Interface, ListenEndpoint, NotNil, Orb, Poa, RootPoa};
use punctual_notification::cos_notification::{EventType, Property, StructuredEvent};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, ConsumerAdmin, EventChannel, EventChannelFactory, ProxyConsumer, ProxyPullConsumer,
    ProxyPullSupplier, ProxyPushConsumer, ProxyPushSupplier, ProxySupplier,
    SequenceProxyPullConsumer, SequenceProxyPullSupplier, SequenceProxyPushConsumer,
    SequenceProxyPushSupplier, StructuredProxyPullConsumer, StructuredProxyPullSupplier,
    StructuredProxyPushConsumer, StructuredProxyPushSupplier,
};

use super::client::{Client, any_of, number, number_in};
use crate::Failure;
use crate::sides::LIMIT;
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which a sequence is asked for until there is one.
const POLL: Duration = Duration::from_millis(5);

/// Forms of events, with their names in rows.
pub(super) const FORMS: [(ClientType, &str); 3] = [
    (ClientType::AnyEvent, "any"),
    (ClientType::StructuredEvent, "structured"),
    (ClientType::SequenceEvent, "sequence"),
];

/// ORB of our clients, and the factory that they call.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) orb: Orb,
    poa: Poa,
    pub(super) factory: EventChannelFactory,
}

/// Narrows a proxy to its own interface.
pub(super) fn narrowed<I: Interface>(object: &impl Interface) -> Result<I, Failure> {
    Ok(I::narrow(object.as_object().clone())?)
}

impl Place {
    /// Makes the ORB.
    ///
    /// # Errors
    /// There is no such factory.
    pub(super) fn new(reference: &str) -> Result<Self, Failure> {
        let (orb, poa) = orb()?;
        let factory = EventChannelFactory::narrow(orb.string_to_object(reference)?)?;
        Ok(Self { orb, poa, factory })
    }

    pub(super) fn channel(&self, quality: &[Property]) -> Result<EventChannel, Failure> {
        Ok(self.factory.create_channel(quality, &[])?.0.not_nil()?)
    }

    fn object<I: Interface + Implements<Client>>(&self, client: &Client) -> Result<I, Failure> {
        Ok(self.poa.activate(client.clone())?)
    }

    /// Connects a consumer that is pushed to.
    pub(super) fn pushed(
        &self,
        admin: &ConsumerAdmin,
        form: ClientType,
    ) -> Result<(ProxySupplier, Client), Failure> {
        let proxy = admin.obtain_notification_push_supplier(form)?.0.not_nil()?;
        let client = Client::default();
        match form {
            ClientType::AnyEvent => narrowed::<ProxyPushSupplier>(&proxy)?
                .connect_any_push_consumer(Some(&self.object(&client)?))?,
            ClientType::StructuredEvent => narrowed::<StructuredProxyPushSupplier>(&proxy)?
                .connect_structured_push_consumer(Some(&self.object(&client)?))?,
            ClientType::SequenceEvent => narrowed::<SequenceProxyPushSupplier>(&proxy)?
                .connect_sequence_push_consumer(Some(&self.object(&client)?))?,
        }
        Ok((proxy, client))
    }

    /// Connects a consumer that pulls.
    pub(super) fn pulling(
        &self,
        admin: &ConsumerAdmin,
        form: ClientType,
    ) -> Result<Pulling, Failure> {
        let proxy = admin.obtain_notification_pull_supplier(form)?.0.not_nil()?;
        let client = Client::default();
        let by = match form {
            ClientType::AnyEvent => {
                let by: ProxyPullSupplier = narrowed(&proxy)?;
                by.connect_any_pull_consumer(Some(&self.object(&client)?))?;
                By::Any(by)
            }
            ClientType::StructuredEvent => {
                let by: StructuredProxyPullSupplier = narrowed(&proxy)?;
                by.connect_structured_pull_consumer(Some(&self.object(&client)?))?;
                By::Structured(by)
            }
            ClientType::SequenceEvent => {
                let by: SequenceProxyPullSupplier = narrowed(&proxy)?;
                by.connect_sequence_pull_consumer(Some(&self.object(&client)?))?;
                By::Sequence(by)
            }
        };
        Ok(Pulling { proxy, client, by })
    }

    /// Connects a supplier that pushes.
    pub(super) fn pushing(
        &self,
        channel: &EventChannel,
        form: ClientType,
    ) -> Result<Pushing, Failure> {
        let admin = channel.default_supplier_admin()?.not_nil()?;
        let proxy = admin.obtain_notification_push_consumer(form)?.0.not_nil()?;
        let client = Client::default();
        let to = match form {
            ClientType::AnyEvent => {
                let to: ProxyPushConsumer = narrowed(&proxy)?;
                to.connect_any_push_supplier(Some(&self.object(&client)?))?;
                To::Any(to)
            }
            ClientType::StructuredEvent => {
                let to: StructuredProxyPushConsumer = narrowed(&proxy)?;
                to.connect_structured_push_supplier(Some(&self.object(&client)?))?;
                To::Structured(to)
            }
            ClientType::SequenceEvent => {
                let to: SequenceProxyPushConsumer = narrowed(&proxy)?;
                to.connect_sequence_push_supplier(Some(&self.object(&client)?))?;
                To::Sequence(to)
            }
        };
        Ok(Pushing { proxy, client, to })
    }

    /// Connects a supplier that is pulled from.
    pub(super) fn pulled(
        &self,
        channel: &EventChannel,
        form: ClientType,
    ) -> Result<Client, Failure> {
        let admin = channel.default_supplier_admin()?.not_nil()?;
        let proxy = admin.obtain_notification_pull_consumer(form)?.0.not_nil()?;
        let client = Client::default();
        match form {
            ClientType::AnyEvent => narrowed::<ProxyPullConsumer>(&proxy)?
                .connect_any_pull_supplier(Some(&self.object(&client)?))?,
            ClientType::StructuredEvent => narrowed::<StructuredProxyPullConsumer>(&proxy)?
                .connect_structured_pull_supplier(Some(&self.object(&client)?))?,
            ClientType::SequenceEvent => narrowed::<SequenceProxyPullConsumer>(&proxy)?
                .connect_sequence_pull_supplier(Some(&self.object(&client)?))?,
        }
        Ok(client)
    }
}

/// Makes an ORB of clients that are called back.
pub(super) fn orb() -> Result<(Orb, Poa), Failure> {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()?;
    let poa = orb.root_poa()?;
    poa.manager().activate()?;
    Ok((orb, poa))
}

/// Returns the default administrator of consumers.
pub(super) fn consumers(channel: &EventChannel) -> Result<ConsumerAdmin, Failure> {
    Ok(channel.default_consumer_admin()?.not_nil()?)
}

/// Consumer that pulls.
#[derive(Debug)]
pub(super) struct Pulling {
    pub(super) proxy: ProxySupplier,
    pub(super) client: Client,
    by: By,
}

#[derive(Debug)]
enum By {
    Any(ProxyPullSupplier),
    Structured(StructuredProxyPullSupplier),
    Sequence(SequenceProxyPullSupplier),
}

impl Pulling {
    /// Pulls so many events, and returns their numbers in ascending order.
    pub(super) fn take(&self, count: usize) -> Result<Vec<i32>, Failure> {
        let (mut taken, deadline) = (Vec::new(), Instant::now() + LIMIT);
        while taken.len() < count {
            match &self.by {
                By::Any(by) => taken.push(number_in(&by.pull()?)),
                By::Structured(by) => taken.push(number(&by.pull_structured_event()?)),
                By::Sequence(by) => {
                    // JacORB's `pull_structured_events` does not wait, and returns empty events instead.
                    let (events, has_event) = by.try_pull_structured_events(1)?;
                    match has_event {
                        true => taken.extend(events.iter().map(number)),
                        false if Instant::now() < deadline => thread::sleep(POLL),
                        false => return Err(format!("only {taken:?} after {LIMIT:?}").into()),
                    }
                }
            }
        }
        taken.sort_unstable();
        Ok(taken)
    }

    /// Returns whether there is an event at once.
    pub(super) fn poll(&self) -> Result<bool, Failure> {
        Ok(match &self.by {
            By::Any(by) => by.try_pull()?.1,
            By::Structured(by) => by.try_pull_structured_event()?.1,
            By::Sequence(by) => by.try_pull_structured_events(1)?.1,
        })
    }
}

/// Supplier that pushes.
#[derive(Debug)]
pub(super) struct Pushing {
    pub(super) proxy: ProxyConsumer,
    pub(super) client: Client,
    to: To,
}

#[derive(Debug)]
enum To {
    Any(ProxyPushConsumer),
    Structured(StructuredProxyPushConsumer),
    Sequence(SequenceProxyPushConsumer),
}

impl Pushing {
    /// Pushes an event; one of an Any is its number alone.
    pub(super) fn push(&self, event: &StructuredEvent) -> Result<(), Failure> {
        match &self.to {
            To::Any(to) => to.push(&any_of(event))?,
            To::Structured(to) => to.push_structured_event(event)?,
            To::Sequence(to) => to.push_structured_events(std::slice::from_ref(event))?,
        }
        Ok(())
    }

    /// Says which types it offers.
    pub(super) fn offer(&self, types: &[EventType]) -> Result<(), Failure> {
        narrowed::<StructuredProxyPushConsumer>(&self.proxy)?.offer_change(types, &[])?;
        Ok(())
    }
}
