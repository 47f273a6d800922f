//! Mapping filters: priorities and lives that they give to events.

use punctual::{Any, NotNil, TypeCode, Typed};
use punctual_notification::cos_notification::{ORDER_POLICY, PRIORITY_ORDER};
use punctual_notification::cos_notify_channel_admin::EventChannel;
use punctual_notification::cos_notify_filter::{
    MappingConstraintPair, MappingFilter, MappingFilterAddMappingConstraintsError,
    MappingFilterGetMappingConstraintsError, MappingFilterModifyMappingConstraintsError,
};

use crate::filters::constraint;
use crate::support::{Program, Served, consumers, event, exists, number, property};

fn mapping(channel: &EventChannel, default: &Any, pairs: &[(&str, Any)]) -> MappingFilter {
    let factory = channel.default_filter_factory().unwrap().not_nil().unwrap();
    let filter = factory
        .create_mapping_filter("EXTENDED_TCL", default)
        .unwrap();
    let filter = filter.not_nil().unwrap();
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(text, value)| pair(text, value))
        .collect();
    filter.add_mapping_constraints(&pairs).unwrap();
    filter
}

fn pair(text: &str, value: &Any) -> MappingConstraintPair {
    MappingConstraintPair {
        constraint_expression: constraint(&[], text),
        result_to_set: value.clone(),
    }
}

fn short(value: i16) -> Any {
    Any::new(&value).unwrap()
}

#[test]
fn the_first_constraint_gives_the_value_and_the_default_all_else() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let filter = mapping(
        &channel,
        &short(0),
        &[("$number > 5", short(1)), ("$number > 3", short(2))],
    );
    assert_eq!(
        filter.match_structured(&event(6)).unwrap(),
        (true, short(1))
    );
    assert_eq!(
        filter.match_structured(&event(4)).unwrap(),
        (true, short(2))
    );
    assert_eq!(
        filter.match_structured(&event(1)).unwrap(),
        (false, short(0))
    );
    assert_eq!(
        filter.r#match(&Any::new(&event(6)).unwrap()).unwrap(),
        (true, short(1))
    );
    assert_eq!(
        filter.match_typed(&[property("number", 4)]).unwrap(),
        (true, short(2))
    );
    assert_eq!(filter.default_value().unwrap(), short(0));
    assert_eq!(filter.value_type().unwrap(), i16::type_code());
    assert_eq!(filter.constraint_grammar().unwrap(), "EXTENDED_TCL");
    assert_ne!(filter.value_type().unwrap(), TypeCode::default());
}

#[test]
fn mapping_constraints_are_added_changed_and_removed_by_their_ids() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let filter = mapping(&channel, &short(0), &[("$number == 1", short(1))]);
    let error = filter
        .add_mapping_constraints(&[pair("", &Any::new(&1).unwrap())])
        .unwrap_err();
    assert!(matches!(
        error,
        MappingFilterAddMappingConstraintsError::InvalidValue(_)
    ));
    let error = filter
        .add_mapping_constraints(&[pair("$number ==", &short(1))])
        .unwrap_err();
    assert!(matches!(
        error,
        MappingFilterAddMappingConstraintsError::InvalidConstraint(_)
    ));
    let mut all = filter.get_all_mapping_constraints().unwrap();
    let id = all[0].constraint_id;
    assert_eq!(filter.get_mapping_constraints(&[id]).unwrap(), all);
    let error = filter.get_mapping_constraints(&[99]).unwrap_err();
    assert!(matches!(
        error,
        MappingFilterGetMappingConstraintsError::ConstraintNotFound(_)
    ));
    all[0].value = short(7);
    filter.modify_mapping_constraints(&[], &all).unwrap();
    assert_eq!(
        filter.match_structured(&event(1)).unwrap(),
        (true, short(7))
    );
    let error = filter.modify_mapping_constraints(&[99], &[]).unwrap_err();
    assert!(matches!(
        error,
        MappingFilterModifyMappingConstraintsError::ConstraintNotFound(_)
    ));
    filter.remove_all_mapping_constraints().unwrap();
    assert!(filter.get_all_mapping_constraints().unwrap().is_empty());
    filter.destroy().unwrap();
    assert!(!exists(&filter));
    let factory = channel.default_filter_factory().unwrap().not_nil().unwrap();
    assert!(factory.create_mapping_filter("SQL92", &short(0)).is_err());
}

#[test]
fn priorities_are_as_the_proxys_filter_says_or_else_the_administrators() {
    let (served, program) = (Served::new(), Program::new());
    let quality = [property(ORDER_POLICY, PRIORITY_ORDER)];
    let channel = program.see(&served.channel(&quality, &[]));
    let admin = consumers(&channel);
    let up = mapping(&channel, &short(0), &[("$number == 2", short(9))]);
    admin.set_priority_filter(Some(&up)).unwrap();
    assert_eq!(admin.priority_filter().unwrap().not_nil().unwrap(), up);
    let (by_admin, by_own) = (program.pulls_from(&channel), program.pulls_from(&channel));
    let own = mapping(&channel, &short(0), &[("$number == 1", short(9))]);
    by_own.set_priority_filter(Some(&own)).unwrap();
    assert_eq!(by_own.priority_filter().unwrap().not_nil().unwrap(), own);
    let pushes = program.pushes_to(&channel);
    for number in 0..3 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    let pulled = [(); 3].map(|()| number(&by_admin.pull_structured_event().unwrap()));
    assert_eq!(pulled, [2, 0, 1]);
    let pulled = [(); 3].map(|()| number(&by_own.pull_structured_event().unwrap()));
    assert_eq!(pulled, [1, 0, 2]);
    admin.set_priority_filter(None).unwrap();
    assert!(admin.priority_filter().unwrap().is_none());
}

#[test]
fn lives_are_as_the_proxys_filter_says_or_else_the_administrators() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (for_ever, shortly) = (Any::new(&0_u64).unwrap(), Any::new(&1_u64).unwrap());
    let admin = consumers(&channel);
    let of_admin = mapping(&channel, &for_ever, &[("$number == 0", shortly.clone())]);
    admin.set_lifetime_filter(Some(&of_admin)).unwrap();
    assert_eq!(
        admin.lifetime_filter().unwrap().not_nil().unwrap(),
        of_admin
    );
    let (by_admin, by_own) = (program.pulls_from(&channel), program.pulls_from(&channel));
    let own = mapping(&channel, &for_ever, &[("$number == 1", shortly)]);
    by_own.set_lifetime_filter(Some(&own)).unwrap();
    assert_eq!(by_own.lifetime_filter().unwrap().not_nil().unwrap(), own);
    let pushes = program.pushes_to(&channel);
    for number in 0..3 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(1));
    let pulled = [(); 2].map(|()| number(&by_admin.pull_structured_event().unwrap()));
    assert_eq!(pulled, [1, 2]);
    let pulled = [(); 2].map(|()| number(&by_own.pull_structured_event().unwrap()));
    assert_eq!(pulled, [0, 2]);
}
