//! Filters of a peer's Notification Service, and types that are offered and subscribed to, as our clients use them.

use punctual::{Any, NotNil};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, InterFilterGroupOperator, ObtainInfoMode,
    StructuredProxyPullSupplier, StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_filter::{
    ConstraintExp, Filter, FilterAddConstraintsError, FilterFactoryCreateFilterError,
    MappingConstraintPair,
};

use super::alarms::{event, event_of, event_type};
use super::place::{Place, consumers, narrowed};
use super::tried::Tried;
use crate::Failure;
use crate::names::expect;

/// Constraints that are tried on event 3, a line for each, behind its outcome.
const CONSTRAINTS: &str = include_str!("../../peers/constraints.txt");

/// Runs the cases.
///
/// # Errors
/// There is no channel.
pub(super) fn run(place: &Place, tried: &mut Tried<'_>) -> Result<(), Failure> {
    let channel = place.channel(&[])?;
    for line in CONSTRAINTS.lines() {
        let (outcome, text) = line.split_once(' ').unwrap_or_default();
        tried.case(text, || {
            let matches = filter(&channel, text)?.match_structured(&event(3)?)?;
            Ok(expect(outcome, matches == (outcome == "true"))?)
        });
    }
    grammars(&channel, tried);
    placed(place, &channel, tried);
    mapping(&channel, tried);
    types(place, tried);
    Ok(channel.destroy()?)
}

fn expression(text: &str) -> ConstraintExp {
    ConstraintExp {
        event_types: Vec::new(),
        constraint_expr: text.to_owned(),
    }
}

fn filter(channel: &EventChannel, text: &str) -> Result<Filter, Failure> {
    let factory = channel.default_filter_factory()?.not_nil()?;
    let filter = factory.create_filter("EXTENDED_TCL")?.not_nil()?;
    filter.add_constraints(&[expression(text)])?;
    Ok(filter)
}

fn grammars(channel: &EventChannel, tried: &mut Tried<'_>) {
    tried.case("grammars", || {
        let factory = channel.default_filter_factory()?.not_nil()?;
        let filter = factory.create_filter("EXTENDED_TCL")?.not_nil()?;
        expect(
            "its grammar",
            filter.constraint_grammar()? == "EXTENDED_TCL",
        )?;
        let refused = factory.create_filter("SQL");
        let is_so = matches!(
            refused,
            Err(FilterFactoryCreateFilterError::InvalidGrammar(_))
        );
        Ok(expect("InvalidGrammar", is_so)?)
    });
    tried.case("a wrong constraint is refused", || {
        let factory = channel.default_filter_factory()?.not_nil()?;
        let filter = factory.create_filter("EXTENDED_TCL")?.not_nil()?;
        let refused = filter.add_constraints(&[expression("$severity >")]);
        let is_so = matches!(
            refused,
            Err(FilterAddConstraintsError::InvalidConstraint(_))
        );
        Ok(expect("InvalidConstraint", is_so)?)
    });
}

fn placed(place: &Place, channel: &EventChannel, tried: &mut Tried<'_>) {
    tried.case("a filter of a consumer", || {
        let own = place.channel(&[])?;
        let (proxy, client) = place.pushed(&consumers(&own)?, ClientType::StructuredEvent)?;
        let id = proxy.add_filter(Some(&filter(channel, "$severity > 3")?))?;
        expect("it is among all", proxy.get_all_filters()?.contains(&id))?;
        push_five(place, &own)?;
        expect("4, 5", client.first(2)? == [4, 5])?;
        proxy.remove_filter(id)?;
        expect("it is gone", proxy.get_filter(id).is_err())?;
        Ok(own.destroy()?)
    });
    tried.case("a filter of a supplier", || {
        let own = place.channel(&[])?;
        let consumer = place.pulling(&consumers(&own)?, ClientType::StructuredEvent)?;
        let supplier = place.pushing(&own, ClientType::StructuredEvent)?;
        supplier
            .proxy
            .add_filter(Some(&filter(channel, "$severity == 2")?))?;
        for number in 1..=2 {
            supplier.push(&event(number)?)?;
        }
        expect("2", consumer.take(1)? == [2])?;
        Ok(own.destroy()?)
    });
    let mut together = |row: &str, operator, expected: &[i32]| {
        tried.case(row, || {
            let own = place.channel(&[])?;
            let admin = own.new_for_consumers(operator)?.0.not_nil()?;
            let of_admin = filter(channel, "$severity == 2 or $severity == 3")?;
            admin.add_filter(Some(&of_admin))?;
            let (proxy, client) = place.pushed(&admin, ClientType::StructuredEvent)?;
            let of_proxy = filter(channel, "$severity == 3 or $severity == 4")?;
            proxy.add_filter(Some(&of_proxy))?;
            push_five(place, &own)?;
            let got = client.first(expected.len())?;
            own.destroy()?;
            Ok(expect(&format!("{expected:?} ({got:?})"), got == expected)?)
        });
    };
    let row = "filters of an administrator and a consumer,";
    together(
        &format!("{row} both"),
        InterFilterGroupOperator::AndOp,
        &[3],
    );
    together(
        &format!("{row} either"),
        InterFilterGroupOperator::OrOp,
        &[2, 3, 4],
    );
}

fn push_five(place: &Place, channel: &EventChannel) -> Result<(), Failure> {
    let supplier = place.pushing(channel, ClientType::StructuredEvent)?;
    (1..=5).try_for_each(|number| supplier.push(&event(number)?))
}

fn mapping(channel: &EventChannel, tried: &mut Tried<'_>) {
    tried.case("a mapping filter", || {
        let factory = channel.default_filter_factory()?.not_nil()?;
        let filter = factory.create_mapping_filter("EXTENDED_TCL", &Any::new(&1_i16)?)?;
        let filter = filter.not_nil()?;
        filter.add_mapping_constraints(&[MappingConstraintPair {
            constraint_expression: expression("$severity == 3"),
            result_to_set: Any::new(&9_i16)?,
        }])?;
        let (matches, value) = filter.match_structured(&event(3)?)?;
        expect("9", matches && value.extract::<i16>()? == 9)?;
        expect("1", filter.default_value()?.extract::<i16>()? == 1)?;
        let (matches, _) = filter.match_structured(&event(2)?)?;
        Ok(expect("no match", !matches)?)
    });
}

fn types(place: &Place, tried: &mut Tried<'_>) {
    let alarm = event_type("Telecom", "NT_ALARM");
    let heartbeat = event_type("Telecom", "NT_HEARTBEAT");
    tried.case("offers are asked for", || {
        let own = place.channel(&[])?;
        place
            .pushing(&own, ClientType::StructuredEvent)?
            .offer(std::slice::from_ref(&alarm))?;
        let consumer = place.pulling(&consumers(&own)?, ClientType::StructuredEvent)?;
        let offered = consumer
            .proxy
            .obtain_offered_types(ObtainInfoMode::AllNowUpdatesOn)?;
        own.destroy()?;
        Ok(expect("the type", offered.contains(&alarm))?)
    });
    tried.case("subscriptions are asked for", || {
        let own = place.channel(&[])?;
        let consumer = place.pulling(&consumers(&own)?, ClientType::StructuredEvent)?;
        let proxy: StructuredProxyPullSupplier = narrowed(&consumer.proxy)?;
        proxy.subscription_change(std::slice::from_ref(&heartbeat), &[])?;
        let supplier = place.pushing(&own, ClientType::StructuredEvent)?;
        let mode = ObtainInfoMode::AllNowUpdatesOff;
        let subscribed = supplier.proxy.obtain_subscription_types(mode)?;
        own.destroy()?;
        Ok(expect("the type", subscribed.contains(&heartbeat))?)
    });
    tried.case("a consumer gets what it subscribes to", || {
        let own = place.channel(&[])?;
        let (proxy, client) = place.pushed(&consumers(&own)?, ClientType::StructuredEvent)?;
        let proxy: StructuredProxyPushSupplier = narrowed(&proxy)?;
        let all = event_type("*", "%ALL");
        proxy.subscription_change(std::slice::from_ref(&heartbeat), &[all])?;
        let supplier = place.pushing(&own, ClientType::StructuredEvent)?;
        supplier.push(&event(1)?)?;
        supplier.push(&event_of("Telecom", "NT_HEARTBEAT", 2)?)?;
        let got = client.first(1)?;
        own.destroy()?;
        Ok(expect(&format!("2 ({got:?})"), got == [2])?)
    });
}
