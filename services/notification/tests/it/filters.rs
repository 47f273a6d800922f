//! Filters: their constraints, and what they let through.

use punctual::{Any, Interface, NotNil, SystemExceptionKind as Kind};
use punctual_notification::Limits;
use punctual_notification::cos_notification::StructuredEvent;
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, InterFilterGroupOperator as Operator, StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_filter::{
    ConstraintExp, Filter, FilterAddConstraintsError, FilterAdminGetFilterError,
    FilterGetConstraintsError, FilterModifyConstraintsError,
};

use crate::clients::Peer;
use crate::support::{
    Program, Served, consumers, event, event_of, event_type, exists, kind_of, limits, narrowed,
    property, push_supplier, suppliers, until,
};

pub(crate) fn constraint(types: &[(&str, &str)], text: &str) -> ConstraintExp {
    ConstraintExp {
        event_types: types
            .iter()
            .map(|(domain, name)| event_type(domain, name))
            .collect(),
        constraint_expr: text.to_owned(),
    }
}

pub(crate) fn filter(channel: &EventChannel, texts: &[&str]) -> Filter {
    let factory = channel.default_filter_factory().unwrap().not_nil().unwrap();
    let filter = factory
        .create_filter("EXTENDED_TCL")
        .unwrap()
        .not_nil()
        .unwrap();
    let constraints: Vec<_> = texts.iter().map(|text| constraint(&[], text)).collect();
    filter.add_constraints(&constraints).unwrap();
    filter
}

#[test]
fn the_factory_knows_the_grammars_that_clients_ask_for() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let factory = channel.default_filter_factory().unwrap().not_nil().unwrap();
    for (name, known) in [
        ("EXTENDED_TCL", "EXTENDED_TCL"),
        ("ETCL", "EXTENDED_TCL"),
        ("TCL", "TCL"),
    ] {
        let filter = factory.create_filter(name).unwrap().not_nil().unwrap();
        assert_eq!(filter.constraint_grammar().unwrap(), known);
    }
    let error = factory.create_filter("SQL92").unwrap_err();
    assert!(error.to_string().contains("InvalidGrammar"), "{error}");
}

#[test]
fn constraints_are_added_changed_and_removed_by_their_ids() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let filter = filter(&channel, &[]);
    let given = [
        constraint(&[("Telecom", "Alarm")], "$number == 1"),
        constraint(&[], ""),
    ];
    let added = filter.add_constraints(&given).unwrap();
    let [first, second] = &added[..] else {
        panic!("{added:?}");
    };
    assert_eq!(first.constraint_expression, given[0]);
    assert_eq!(filter.get_all_constraints().unwrap(), added);
    let got = filter.get_constraints(&[second.constraint_id]).unwrap();
    assert_eq!(got, std::slice::from_ref(second));
    let error = filter.get_constraints(&[99]).unwrap_err();
    assert!(matches!(error, FilterGetConstraintsError::ConstraintNotFound(not) if not.id == 99));
    let wrong = constraint(&[], "$number ==");
    let error = filter
        .add_constraints(std::slice::from_ref(&wrong))
        .unwrap_err();
    assert!(
        matches!(error, FilterAddConstraintsError::InvalidConstraint(bad) if bad.constr == wrong)
    );
    let mut changed = second.clone();
    changed.constraint_expression = constraint(&[], "$number == 2");
    filter
        .modify_constraints(&[first.constraint_id], std::slice::from_ref(&changed))
        .unwrap();
    assert_eq!(filter.get_all_constraints().unwrap(), [changed.clone()]);
    let error = filter
        .modify_constraints(&[first.constraint_id], &[])
        .unwrap_err();
    assert!(matches!(
        error,
        FilterModifyConstraintsError::ConstraintNotFound(_)
    ));
    changed.constraint_expression = wrong;
    let error = filter.modify_constraints(&[], &[changed]).unwrap_err();
    assert!(matches!(
        error,
        FilterModifyConstraintsError::InvalidConstraint(_)
    ));
    filter.remove_all_constraints().unwrap();
    assert!(filter.get_all_constraints().unwrap().is_empty());
    filter.destroy().unwrap();
    assert!(!exists(&filter));
}

#[test]
fn a_filter_tells_whether_an_event_of_any_form_matches() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let by_number = filter(&channel, &["$number == 1", "$number == 2"]);
    assert!(by_number.match_structured(&event(2)).unwrap());
    assert!(!by_number.match_structured(&event(3)).unwrap());
    assert!(
        !by_number
            .match_structured(&StructuredEvent::default())
            .unwrap()
    );
    assert!(by_number.match_typed(&[property("number", 1)]).unwrap());
    assert!(by_number.r#match(&Any::new(&event(1)).unwrap()).unwrap());
    let by_value = filter(&channel, &["$ == 5"]);
    assert!(by_value.r#match(&Any::new(&5).unwrap()).unwrap());
    assert!(!by_value.r#match(&Any::new(&6).unwrap()).unwrap());
    // A filter without constraints lets nothing through.
    assert!(!filter(&channel, &[]).match_structured(&event(1)).unwrap());
}

#[test]
fn a_consumer_gets_what_its_filters_let_through() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (proxy, sink) = program.sink(&channel);
    let even = filter(&channel, &["$number == 0", "$number == 2"]);
    let id = proxy.add_filter(Some(&even)).unwrap();
    let three = proxy
        .add_filter(Some(&filter(&channel, &["$number == 3"])))
        .unwrap();
    assert_eq!(proxy.get_all_filters().unwrap(), [id, three]);
    assert_eq!(proxy.get_filter(id).unwrap().not_nil().unwrap(), even);
    let error = proxy.get_filter(99).unwrap_err();
    assert!(matches!(
        error,
        FilterAdminGetFilterError::FilterNotFound(_)
    ));
    let pushes = program.pushes_to(&channel);
    for number in 0..5 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    assert_eq!(sink.wait_for(3), [0, 2, 3]);
    proxy.remove_filter(id).unwrap();
    assert!(proxy.remove_filter(id).is_err());
    pushes.push_structured_event(&event(2)).unwrap();
    proxy.remove_all_filters().unwrap();
    pushes.push_structured_event(&event(4)).unwrap();
    assert_eq!(sink.wait_for(4), [0, 2, 3, 4]);
}

#[test]
fn the_filters_of_a_supplier_let_events_in() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    let id = pushes
        .add_filter(Some(&filter(&channel, &["$number > 1"])))
        .unwrap();
    let admin = suppliers(&channel);
    let of_admin = admin
        .add_filter(Some(&filter(&channel, &["$number < 3"])))
        .unwrap();
    for number in 0..5 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    assert_eq!(sink.wait_for(1), [2]);
    assert_eq!(served.metric("filtered_total"), 4);
    assert_eq!(pushes.get_all_filters().unwrap(), [id]);
    assert!(pushes.get_filter(id).is_ok() && pushes.get_filter(99).is_err());
    assert!(admin.get_filter(of_admin).is_ok());
    admin.remove_filter(of_admin).unwrap();
    pushes.remove_filter(id).unwrap();
    pushes.remove_all_filters().unwrap();
    admin.remove_all_filters().unwrap();
    assert!(admin.get_all_filters().unwrap().is_empty());
    pushes.push_structured_event(&event(9)).unwrap();
    assert_eq!(sink.wait_for(2), [2, 9]);
}

fn sink_of(
    program: &Program,
    channel: &EventChannel,
    operator: Operator,
) -> (StructuredProxyPushSupplier, Peer) {
    let (admin, _) = channel.new_for_consumers(operator).unwrap();
    let admin = admin.not_nil().unwrap();
    admin
        .add_filter(Some(&filter(channel, &["$number < 3"])))
        .unwrap();
    let proxy = push_supplier(&admin, ClientType::StructuredEvent);
    let proxy: StructuredProxyPushSupplier = narrowed(&proxy);
    let peer = program.connect(&proxy);
    (proxy, peer)
}

#[test]
fn the_filters_of_an_administrator_count_with_or_beside_those_of_its_proxies() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (both, of_both) = sink_of(&program, &channel, Operator::AndOp);
    let (either, of_either) = sink_of(&program, &channel, Operator::OrOp);
    let (_, of_admin) = sink_of(&program, &channel, Operator::OrOp);
    for proxy in [&both, &either] {
        let own = filter(&channel, &["$number == 2", "$number == 4"]);
        proxy.add_filter(Some(&own)).unwrap();
    }
    let pushes = program.pushes_to(&channel);
    for number in 0..6 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    assert_eq!(of_either.wait_for(4), [0, 1, 2, 4]);
    assert_eq!(of_admin.wait_for(3), [0, 1, 2]);
    assert_eq!(of_both.wait_for(1), [2]);
    let admin = consumers(&channel);
    let id = admin.add_filter(Some(&filter(&channel, &[""]))).unwrap();
    assert_eq!(admin.get_all_filters().unwrap(), [id]);
    assert!(admin.get_filter(id).is_ok());
    admin.remove_filter(id).unwrap();
    admin.remove_all_filters().unwrap();
}

#[test]
fn constraints_are_tried_on_events_of_their_types() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (proxy, sink) = program.sink(&channel);
    let by_type = filter(&channel, &[]);
    by_type
        .add_constraints(&[constraint(&[("Finance", "%ALL")], "$number > 0")])
        .unwrap();
    proxy.add_filter(Some(&by_type)).unwrap();
    let pushes = program.pushes_to(&channel);
    for (number, domain) in [(0, "Finance"), (1, "Telecom"), (2, "Finance")] {
        pushes
            .push_structured_event(&event_of((domain, "Call"), number))
            .unwrap();
    }
    assert_eq!(sink.wait_for(1), [2]);
}

#[test]
fn callbacks_hear_of_the_types_that_a_filter_asks_for() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let filter = filter(&channel, &[]);
    let peer = Peer::default();
    let callback = program
        .object::<punctual_notification::cos_notify_comm::StructuredPushSupplier, _>(peer.clone());
    let callback = punctual_notification::cos_notify_comm::NotifySubscribe::from_object(
        callback.as_object().clone(),
    );
    let id = filter.attach_callback(Some(&callback)).unwrap();
    assert_eq!(filter.get_callbacks().unwrap(), [id]);
    filter
        .add_constraints(&[constraint(&[("Telecom", "Alarm")], "")])
        .unwrap();
    until(|| peer.changes() == ["+Telecom/Alarm"]);
    filter.detach_callback(id).unwrap();
    let error = filter.detach_callback(id).unwrap_err();
    assert!(error.to_string().contains("CallbackNotFound"), "{error}");
    assert!(filter.attach_callback(None).is_err());
}

#[test]
fn filters_of_others_and_filters_beyond_the_limits_are_refused() {
    let served = Served::with(Limits {
        filters: 2,
        constraints: 1,
        ..limits()
    });
    let (program, other) = (Program::new(), Served::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (proxy, _) = program.sink(&channel);
    let elsewhere = filter(&program.see(&other.channel(&[], &[])), &[]);
    let error = proxy.add_filter(Some(&elsewhere)).unwrap_err();
    assert_eq!(error.kind(), Kind::NoImplement);
    assert_eq!(proxy.add_filter(None).unwrap_err().kind(), Kind::BadParam);
    let first = filter(&channel, &["$number == 1"]);
    let again = first.add_constraints(&[constraint(&[], "")]);
    assert_eq!(kind_of(again), Kind::ImpLimit);
    filter(&channel, &[]);
    let factory = channel.default_filter_factory().unwrap().not_nil().unwrap();
    assert_eq!(kind_of(factory.create_filter("TCL")), Kind::ImpLimit);
    first.destroy().unwrap();
    assert_eq!(
        proxy.add_filter(Some(&first)).unwrap_err().kind(),
        Kind::ObjectNotExist
    );
}

#[test]
fn the_constraints_of_all_filters_have_a_limit_together() {
    let served = Served::with(Limits {
        constraint_bytes: 10_000,
        ..limits()
    });
    let program = Program::new();
    let channel = program.see(&served.channel(&[], &[]));
    let factory = channel.default_filter_factory().unwrap().not_nil().unwrap();
    let text = format!("$a == '{}'", "x".repeat(4_000));
    let (one, other) = (filter(&channel, &[&text, &text]), filter(&channel, &[]));
    let refused = other.add_constraints(&[constraint(&[], &text)]);
    assert_eq!(kind_of(refused), Kind::ImpLimit);
    let value = Any::new(&"y".repeat(4_000)).unwrap();
    let refused = factory.create_mapping_filter("TCL", &value);
    assert_eq!(kind_of(refused), Kind::ImpLimit);
    // What a change that is refused would have taken is free again.
    for _ in 0..10 {
        let wrong = [constraint(&[], "$b == 1"), constraint(&[], "$b == == 1")];
        assert!(other.add_constraints(&wrong).is_err());
    }
    other
        .add_constraints(&[constraint(&[], "$b == 1")])
        .unwrap();
    one.remove_all_constraints().unwrap();
    factory.create_mapping_filter("TCL", &value).unwrap();
    other.add_constraints(&[constraint(&[], &text)]).unwrap();
}
