//! Our suppliers and consumers at a peer's Notification Service: events of each form, channels and their properties.

use punctual::{Any, Interface, NotNil};
use punctual_notification::cos_notification::QoSErrorCode;
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannelFactoryCreateChannelError, StructuredProxyPushSupplier,
};

use super::alarms::{event, property};
use super::place::{FORMS, Place, consumers, narrowed};
use super::tried::Tried;
use crate::Failure;
use crate::names::expect;

/// Value of OrderPolicy.
const FIFO: i16 = 1;

/// Runs the cases.
pub(super) fn run(place: &Place, tried: &mut Tried<'_>) {
    for (form, name) in FORMS {
        for pushes in [true, false] {
            crossing(place, (form, name), pushes, tried);
        }
    }
    ends(place, tried);
    channels(place, tried);
    connections(place, tried);
}

fn way(pushed: bool) -> &'static str {
    match pushed {
        true => "pushed",
        false => "pulled",
    }
}

/// Passes events of suppliers of one kind to consumers of each kind.
fn crossing(place: &Place, (from, name): (ClientType, &str), pushes: bool, tried: &mut Tried<'_>) {
    for (to, to_name) in FORMS {
        for pushed in [true, false] {
            let row = format!("{name} {}, {to_name} {}", way(pushes), way(pushed));
            tried.case(&row, || passed(place, (from, pushes), (to, pushed)));
        }
    }
}

fn passed(
    place: &Place,
    (from, pushes): (ClientType, bool),
    (to, pushed): (ClientType, bool),
) -> Result<(), Failure> {
    let channel = place.channel(&[])?;
    let admin = consumers(&channel)?;
    let take: Box<dyn Fn() -> Result<Vec<i32>, Failure>> = match pushed {
        true => {
            let (_, client) = place.pushed(&admin, to)?;
            Box::new(move || client.first(3))
        }
        false => {
            let consumer = place.pulling(&admin, to)?;
            Box::new(move || consumer.take(3))
        }
    };
    if pushes {
        let supplier = place.pushing(&channel, from)?;
        for number in 1..=3 {
            supplier.push(&event(number)?)?;
        }
    } else {
        let supplier = place.pulled(&channel, from)?;
        for number in 1..=3 {
            supplier.supply(event(number)?);
        }
    }
    let taken = take()?;
    channel.destroy()?;
    Ok(expect(&format!("1, 2, 3 ({taken:?})"), taken == [1, 2, 3])?)
}

/// Tries that clients of each form are told of the end of their channel.
fn ends(place: &Place, tried: &mut Tried<'_>) {
    let forms = || FORMS.into_iter().map(|(form, _)| form);
    tried.case("the end, consumers that are pushed to", || {
        let channel = place.channel(&[])?;
        let admin = consumers(&channel)?;
        let clients: Result<Vec<_>, _> = forms().map(|form| place.pushed(&admin, form)).collect();
        channel.destroy()?;
        clients?
            .iter()
            .try_for_each(|(_, client)| client.wait_for_ends(1))
    });
    tried.case("the end, consumers that pull", || {
        let channel = place.channel(&[])?;
        let admin = consumers(&channel)?;
        let pulling: Result<Vec<_>, _> = forms().map(|form| place.pulling(&admin, form)).collect();
        channel.destroy()?;
        pulling?
            .iter()
            .try_for_each(|one| one.client.wait_for_ends(1))
    });
    tried.case("the end, suppliers that push", || {
        let channel = place.channel(&[])?;
        let pushing: Result<Vec<_>, _> =
            forms().map(|form| place.pushing(&channel, form)).collect();
        channel.destroy()?;
        pushing?
            .iter()
            .try_for_each(|one| one.client.wait_for_ends(1))
    });
    tried.case("the end, suppliers that are pulled from", || {
        let channel = place.channel(&[])?;
        let pulled: Result<Vec<_>, _> = forms().map(|form| place.pulled(&channel, form)).collect();
        channel.destroy()?;
        pulled?
            .iter()
            .try_for_each(|client| client.wait_for_ends(1))
    });
}

fn channels(place: &Place, tried: &mut Tried<'_>) {
    tried.case("channels are found by their ids", || {
        let (channel, id) = place.factory.create_channel(&[], &[])?;
        let channel = channel.not_nil()?;
        expect(
            "it is among all",
            place.factory.get_all_channels()?.contains(&id),
        )?;
        let found = place.factory.get_event_channel(id)?.not_nil()?;
        expect(
            "it is the same",
            found.as_object().is_equivalent(channel.as_object()),
        )?;
        channel.destroy()?;
        Ok(expect(
            "it is gone",
            place.factory.get_event_channel(id).is_err(),
        )?)
    });
    tried.case("proxies are found by their ids", || {
        let channel = place.channel(&[])?;
        let admin = consumers(&channel)?;
        let consumer = place.pulling(&admin, ClientType::SequenceEvent)?;
        let all = admin.pull_suppliers()?;
        let id = *all.first().ok_or("there is none")?;
        let found = admin.get_proxy_supplier(id)?.not_nil()?;
        expect(
            "it is the same",
            found.as_object().is_equivalent(consumer.proxy.as_object()),
        )?;
        Ok(channel.destroy()?)
    });
    tried.case("an unknown property is refused", || {
        let colour = property("Colour", Any::new(&1_i16)?);
        match place.factory.create_channel(&[colour], &[]) {
            Err(EventChannelFactoryCreateChannelError::UnsupportedQoS(refused)) => {
                let error = refused.qos_err.first().ok_or("it names none")?;
                expect("the code", error.code == QoSErrorCode::BadProperty)?;
                Ok(expect("the name", error.name == "Colour")?)
            }
            other => Err(format!("{other:?} instead of UnsupportedQoS").into()),
        }
    });
    tried.case("a property is set and read", || {
        let channel = place.channel(&[])?;
        channel.set_qos(&[property("OrderPolicy", Any::new(&FIFO)?)])?;
        let all = channel.get_qos()?;
        let set = all.iter().find(|one| one.name == "OrderPolicy");
        let set: i16 = set.ok_or("it is not there")?.value.extract()?;
        channel.destroy()?;
        Ok(expect("FIFO", set == FIFO)?)
    });
}

fn connections(place: &Place, tried: &mut Tried<'_>) {
    tried.case("there is nothing to pull", || {
        let channel = place.channel(&[])?;
        let admin = consumers(&channel)?;
        for (form, name) in FORMS {
            expect(name, !place.pulling(&admin, form)?.poll()?)?;
        }
        Ok(channel.destroy()?)
    });
    tried.case("a suspended consumer gets nothing", || {
        let channel = place.channel(&[])?;
        let admin = consumers(&channel)?;
        let (proxy, client) = place.pushed(&admin, ClientType::StructuredEvent)?;
        let (_, other) = place.pushed(&admin, ClientType::StructuredEvent)?;
        let proxy: StructuredProxyPushSupplier = narrowed(&proxy)?;
        proxy.suspend_connection()?;
        place
            .pushing(&channel, ClientType::StructuredEvent)?
            .push(&event(1)?)?;
        other.first(1)?;
        expect("nothing", client.received() == 0)?;
        proxy.resume_connection()?;
        client.first(1)?;
        Ok(channel.destroy()?)
    });
    tried.case("batches are full", || {
        // A minute, in units of 100 ns.
        let quality = [
            property("MaximumBatchSize", Any::new(&3_i32)?),
            property("PacingInterval", Any::new(&600_000_000_u64)?),
        ];
        let channel = place.channel(&quality)?;
        let (_, client) = place.pushed(&consumers(&channel)?, ClientType::SequenceEvent)?;
        let supplier = place.pushing(&channel, ClientType::StructuredEvent)?;
        for number in 1..=3 {
            supplier.push(&event(number)?)?;
        }
        let sizes = client.batches(1)?;
        channel.destroy()?;
        Ok(expect("3", sizes == [3])?)
    });
}
