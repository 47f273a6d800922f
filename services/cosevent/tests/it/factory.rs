//! The factory: criteria of omniEvents, names, and what it refuses.

use punctual::stub::Marshal;
use punctual::{Any, Interface, NotNil, OperationError, Typed};
use punctual_cosevent::cos_life_cycle::{
    GenericFactoryCreateObjectError as CreateError, NameValuePair,
};
use punctual_cosevent::omni_events::{EventChannel, EventChannelFactory};
use punctual_cosevent::openorb_event::{
    EventChannelFactoryCreateChannelError, EventChannelFactoryJoinChannelError,
};
use punctual_naming_client::cos_naming::NameComponent;

use crate::support::{Program, Served, event, number};

fn key(id: &str, kind: &str) -> Vec<NameComponent> {
    vec![NameComponent {
        id: id.to_owned(),
        kind: kind.to_owned(),
    }]
}

fn criterion(name: &str, value: &(impl Typed + Marshal + ?Sized)) -> NameValuePair {
    NameValuePair {
        name: name.to_owned(),
        value: Any::new(value).unwrap(),
    }
}

fn created(
    factory: &EventChannelFactory,
    criteria: &[NameValuePair],
) -> Result<EventChannel, CreateError> {
    let key = key("EventChannel", "object interface");
    let object = factory.create_object(&key, criteria)?;
    Ok(EventChannel::narrow(object.not_nil().unwrap()).unwrap())
}

#[test]
fn it_makes_event_channels_and_nothing_else() {
    let served = Served::new();
    let factory = &served.factory;
    assert!(factory.is_alive().unwrap());
    let right = key("EventChannel", "object interface");
    assert!(factory.supports(&right).unwrap());
    for wrong in [
        key("EventChannel", ""),
        key("Channel", "object interface"),
        vec![],
        [right.clone(), right].concat(),
    ] {
        assert!(!factory.supports(&wrong).unwrap());
        let refused = factory.create_object(&wrong, &[]).unwrap_err();
        let CreateError::NoFactory(refused) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(refused.search_key, wrong);
    }
    assert!(created(factory, &[]).unwrap().is_alive().unwrap());
    assert_eq!(served.service.size(), (2, 0));
}

#[test]
fn criteria_bound_the_queues_of_a_channel_and_filter_its_events() {
    let (served, program) = (Served::new(), Program::new());
    let channel = created(
        &served.factory,
        &[
            criterion("MaxQueueLength", &2_u32),
            criterion("PullRetryPeriod_ms", &1_u32),
            criterion("CyclePeriod_ns", &1_u32),
            criterion("FilterId", "IDL:omg.org/CosNaming/NameComponent:1.0"),
        ],
    )
    .unwrap();
    let pulls = program.pulls_from(&channel);
    let pushes = program.pushes_to(&channel);
    let name = |id: &str| Any::new(&key(id, "")[0]).unwrap();
    for any in [name("a"), event(1), name("b"), name("c")] {
        pushes.push(&any).unwrap();
    }
    let pulled = || pulls.pull().unwrap().extract::<NameComponent>().unwrap().id;
    assert_eq!((pulled(), pulled()), ("b".to_owned(), "c".to_owned()));
    assert_eq!(served.metric("filtered_total"), 1);
    assert_eq!(served.metric("discarded_total"), 1);
    // A supplier that is pulled from is asked again after a millisecond, and not after the default time.
    let (_, source) = program.source(&channel);
    source.supply(name("d"));
    assert_eq!(pulled(), "d");
}

#[test]
fn criteria_that_are_wrong_come_back_in_the_exception() {
    let served = Served::new();
    let wrong = [
        criterion("InsName", "x"),
        criterion("MaxQueueLength", "many"),
    ];
    let refused = created(&served.factory, &wrong).unwrap_err();
    let CreateError::InvalidCriteria(refused) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(refused.invalid_criteria, wrong[1..]);
    let zero = [criterion("PullRetryPeriod_ms", &0_u32)];
    let refused = created(&served.factory, &zero).unwrap_err();
    let CreateError::CannotMeetCriteria(refused) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(refused.unmet_criteria, zero);
    assert_eq!(served.service.size(), (1, 0));
}

#[test]
fn a_channel_with_a_name_is_found_by_it() {
    let (served, program) = (Served::new(), Program::new());
    let named = [criterion("InsName", "plant")];
    let channel = created(&served.factory, &named).unwrap();
    let place = served.orb.endpoints()[0].to_string();
    let place = place.trim_start_matches("iiop://");
    let url = format!("corbaloc:iiop:{place}/plant");
    let found = program.orb.string_to_object(&url).unwrap();
    let found = EventChannel::narrow(found).unwrap();
    let pulls = program.pulls_from(&channel);
    program.pushes_to(&found).push(&event(1)).unwrap();
    assert_eq!(number(&pulls.pull().unwrap()), 1);
    let joined = served
        .factory
        .join_channel("plant")
        .unwrap()
        .not_nil()
        .unwrap();
    assert!(joined.as_object().is_equivalent(channel.as_object()));
    channel.destroy().unwrap();
    let missing = served.factory.join_channel("plant").unwrap_err();
    assert!(matches!(
        missing,
        EventChannelFactoryJoinChannelError::EventChannelNotFound(_)
    ));
    assert!(EventChannel::narrow(program.orb.string_to_object(&url).unwrap()).is_err());
}

#[test]
fn the_default_channel_can_be_joined() {
    let served = Served::new();
    let joined = served.factory.join_channel("EventChannel").unwrap();
    let joined = joined.not_nil().unwrap();
    assert!(joined.as_object().is_equivalent(served.channel.as_object()));
}

#[test]
fn names_are_given_once_and_checked() {
    let served = Served::new();
    let factory = &served.factory;
    factory.create_channel("plant").unwrap();
    let taken = factory.create_channel("plant").unwrap_err();
    assert!(matches!(
        taken,
        EventChannelFactoryCreateChannelError::NameAlreadyUsed(_)
    ));
    let named = [criterion("InsName", "plant")];
    let taken = created(factory, &named).unwrap_err();
    assert!(matches!(taken, CreateError::InvalidCriteria(_)));
    for name in ["", "a\nb", &"x".repeat(257)] {
        let refused = factory.create_channel(name).unwrap_err();
        let refused = refused.system().unwrap().kind();
        assert_eq!(refused, punctual::SystemExceptionKind::BadParam, "{name:?}");
    }
}
