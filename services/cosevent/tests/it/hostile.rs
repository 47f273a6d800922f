//! Limits on everything that a peer controls.

use std::time::Duration;

use punctual::{Any, Interface, NotNil, OperationError, SystemExceptionKind as Kind, TypeCode};
use punctual_cosevent::Limits;
use punctual_cosevent::cos_event_channel_admin::ProxyPushConsumer;

use crate::support::{Program, Served, event, exists, limits, number, push_consumer, until};

#[test]
fn an_event_that_is_too_large_is_refused_and_others_pass() {
    let (served, program) = (
        Served::with(Limits {
            event_bytes: 1_000,
            ..limits()
        }),
        Program::new(),
    );
    let pulls = program.pulls_from(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    let large = Any::new(&vec![0_u8; 1_000]).unwrap();
    let refused = pushes.push(&large).unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::ImpLimit);
    pushes.push(&event(1)).unwrap();
    assert_eq!(number(&pulls.pull().unwrap()), 1);
}

#[test]
fn a_large_type_counts_as_a_large_event() {
    let (served, program) = (
        Served::with(Limits {
            event_bytes: 1_000,
            ..limits()
        }),
        Program::new(),
    );
    let pushes = program.pushes_to(&served.channel);
    let names: Vec<String> = (0..100).map(|number| format!("name_{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let large = TypeCode::enumeration("IDL:large:1.0", "large", &names);
    let large = Any::with_type(&large, &0_u32).unwrap();
    let refused = pushes.push(&large).unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::ImpLimit);
}

#[test]
fn proxies_and_channels_beyond_their_limits_are_refused_and_the_others_go_on() {
    let (served, program) = (
        Served::with(Limits {
            channels: 1,
            proxies: 2,
            ..limits()
        }),
        Program::new(),
    );
    let pulls = program.pulls_from(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    let suppliers = served.channel.for_suppliers().unwrap().not_nil().unwrap();
    let consumers = served.channel.for_consumers().unwrap().not_nil().unwrap();
    for refused in [
        suppliers.obtain_push_consumer().map(drop),
        suppliers.obtain_pull_consumer().map(drop),
        consumers.obtain_push_supplier().map(drop),
        consumers.obtain_pull_supplier().map(drop),
    ] {
        assert_eq!(refused.unwrap_err().kind(), Kind::NoResources);
    }
    served.factory.create_channel("one").unwrap();
    let refused = served.factory.create_channel("two").unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::NoResources);
    pushes.push(&event(1)).unwrap();
    assert_eq!(number(&pulls.pull().unwrap()), 1);
    // A proxy that ends makes room.
    pulls.disconnect_pull_supplier().unwrap();
    assert!(consumers.obtain_pull_supplier().unwrap().is_some());
}

#[test]
fn proxies_that_nobody_connects_are_removed() {
    let (served, program) = (
        Served::with(Limits {
            connect_within: Duration::from_millis(1),
            idle: None,
            ..limits()
        }),
        Program::new(),
    );
    let abandoned = push_consumer(&served.channel);
    until(|| !exists(&abandoned));
    // On a busy machine the time may be over before it can be connected.
    let connected = loop {
        let proxy = push_consumer(&program.see(&served.channel));
        if proxy.connect_push_supplier(None).is_ok() {
            break proxy;
        }
    };
    let again = push_consumer(&served.channel);
    until(|| !exists(&again));
    assert!(exists(&connected));
}

#[test]
fn proxies_without_a_peer_that_nobody_uses_are_removed() {
    let (served, program) = (
        Served::with(Limits {
            idle: Some(Duration::from_millis(1)),
            ..limits()
        }),
        Program::new(),
    );
    let idle = program.pulls_from(&served.channel);
    let (connected, _) = program.sink(&served.channel);
    until(|| !exists(&idle));
    assert!(exists(&connected));
}

#[test]
fn made_up_object_ids_and_bodies_are_refused() {
    let (served, program) = (Served::new(), Program::new());
    let pushes = program.pushes_to(&served.channel);
    let text = program.orb.object_to_string(pushes.as_object()).unwrap();
    let key = pushes.as_object().object_key().unwrap();
    assert!(text.starts_with("IOR:"));
    let port = served.orb.endpoints()[0].to_string();
    let place = port.trim_start_matches("iiop://").to_owned();
    // The number of a proxy that never was, and an id that is cut short.
    let mut other = key.clone();
    let number = other.len() - 8;
    other[number] ^= 0x40;
    for key in [
        &other[..],
        &key[..key.len() - 1],
        &[&key[..], b"/suppliers"].concat(),
    ] {
        let escaped: String = key.iter().map(|byte| format!("%{byte:02x}")).collect();
        let url = format!("corbaloc:iiop:{place}/{escaped}");
        let object = program.orb.string_to_object(&url).unwrap();
        let refused = ProxyPushConsumer::from_object(object)
            .push(&event(1))
            .unwrap_err();
        let refused = refused.system().unwrap().kind();
        assert_eq!(refused, Kind::ObjectNotExist);
    }
    pushes.push(&event(1)).unwrap();
}

#[test]
fn an_any_that_ends_too_early_or_nests_too_deep_is_refused_and_the_channel_goes_on() {
    let (served, program) = (Served::new(), Program::new());
    let pulls = program.pulls_from(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    let cut_short = TypeCode::sequence(&TypeCode::string(0), 0);
    let mut deep = Any::default();
    for _ in 0..40 {
        deep = Any::new(&deep).unwrap();
    }
    let written = Any::written(&cut_short, |out| {
        out.put_u32(1_000_000);
        Ok(())
    });
    for bad in [written.unwrap_or_default(), deep] {
        // Refused here, at the server, or passed on as it is; never a panic.
        let _ = pushes.push(&bad);
        let _ = pulls.try_pull();
    }
    pushes.push(&event(1)).unwrap();
    until(|| {
        let (any, has_event) = pulls.try_pull().unwrap();
        has_event && any.extract::<i32>() == Ok(1)
    });
}
