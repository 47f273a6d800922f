//! Calls to groups.

use super::support::{
    LIMIT, Server, ask, group_address, group_at, is_absent, octets, on_loopback, orb, seen_by, tell,
};
use crate::support::{Echo, pause, watchdog};
use punctual::multicast::{GroupInfo, GroupReference, Multicast};
use punctual::observe::metrics::Metrics;
use punctual::stub::{Marshal, Operation};
use punctual::{Interface, ListenEndpoint, Orb, SystemExceptionKind};
use punctual_ior::Corbaloc;
use std::net::UdpSocket;
use std::sync::Arc;

#[test]
fn a_one_way_reaches_all_servants_of_all_orbs_once() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (one, other, client) = (Server::new(), Server::new(), orb());
    let group = group_at(&client, group_address(), 1);
    let here = seen_by(&one.orb, &group);
    one.member("a", &here);
    one.member("b", &here);
    other.member("c", &seen_by(&other.orb, &group));
    for text in ["first", "second"] {
        tell(&group, text).unwrap();
    }
    let heard = ["a first", "b first", "a second", "b second"];
    assert_eq!(one.heard.wait_for(4), heard);
    assert_eq!(other.heard.wait_for(2), ["c first", "c second"]);
    // A member's process may be the caller, too.
    tell(&here, "third").unwrap();
    assert_eq!(one.heard.wait_for(6)[4..], ["a third", "b third"]);
    assert_eq!(other.heard.wait_for(3)[2..], ["c third"]);
    for orb in [&client, &one.orb, &other.orb] {
        orb.shutdown(true).unwrap();
    }
    assert_eq!(one.heard.all().len(), 6);
}

#[test]
fn messages_of_any_size_up_to_the_limit_arrive_as_packets() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let group = group_at(&client, group_address(), 1);
    server.member("a", &seen_by(&server.orb, &group));
    let sizes = [0, 1, 1000, 1300, 1400, 3000, 70_000, 500_000];
    for size in sizes {
        let wanted = [format!("a {size} true")];
        server
            .heard
            .wait_for_all(&wanted, || octets(&group, size).unwrap());
    }
    let error = octets(&group, 2 << 20).unwrap_err();
    assert_eq!(error.kind(), SystemExceptionKind::ImpLimit, "{error}");
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}

#[test]
fn a_call_with_a_reply_goes_by_the_gateway_or_is_refused() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let (address, group) = (group_address(), GroupInfo::new("tests", 1));
    let plain = group_at(&client, address, 1);
    server.member("a", &seen_by(&server.orb, &plain));
    server.member("b", &seen_by(&server.orb, &plain));
    let (gateway, _) = server.object("gateway");
    let error = ask(&plain).unwrap_err();
    assert_eq!(error.kind(), SystemExceptionKind::InvPolicy);
    let text = error.to_string();
    assert!(text.contains("only protocols for one-ways"), "{text}");
    let with = GroupReference {
        group,
        address,
        type_id: Echo::REPOSITORY_ID,
        gateway: Some(&gateway),
    };
    let with = seen_by(&client, &Multicast::reference(&server.orb, &with).unwrap());
    assert_eq!(ask(&with).unwrap(), "gateway");
    tell(&with, "all").unwrap();
    assert_eq!(server.heard.wait_for(2), ["a all", "b all"]);
    assert_eq!(ask(&with).unwrap(), "gateway");
    tell(&with, "more").unwrap();
    assert_eq!(server.heard.wait_for(4)[2..], ["a more", "b more"]);
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}

#[test]
fn urls_name_groups_and_gateways() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let address = group_address();
    let url = format!("corbaloc:miop:1.0@1.0-tests-5/{address}");
    let group = client.string_to_object(&url).unwrap();
    server.member("a", &server.orb.string_to_object(&url).unwrap());
    tell(&group, "by URL").unwrap();
    assert_eq!(server.heard.wait_for(1), ["a by URL"]);
    let (gateway, _) = server.object("gateway");
    let iiop = gateway.ior().iiop_profiles().next().unwrap().unwrap();
    let key = gateway.object_key().unwrap();
    let corbaloc = Corbaloc {
        addresses: vec![punctual_ior::Address::Iiop {
            major: 1,
            minor: 2,
            host: iiop.host,
            port: iiop.port,
        }],
        key,
    };
    let both = client.string_to_object(&format!("{url};{corbaloc}"));
    let both = both.unwrap();
    assert_eq!(ask(&both).unwrap(), "gateway");
    // The version of a reference is not the group's.
    let newer = url.replace("tests-5", "tests-5-3");
    let newer = server.orb.string_to_object(&newer).unwrap();
    assert!(newer.is_equivalent(&server.orb.string_to_object(&url).unwrap()));
    tell(&newer, "newer").unwrap();
    assert_eq!(server.heard.wait_for(2)[1], "a newer");
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}

#[test]
fn an_orb_without_groups_says_what_it_lacks() {
    let orb = Orb::builder().build().unwrap();
    let group = orb
        .string_to_object("corbaloc:miop:1.0@1.0-tests-5/239.255.0.1:5555")
        .unwrap();
    let error = tell(&group, "text").unwrap_err().to_string();
    assert!(error.contains("it has UIPMC"), "{error}");
    orb.shutdown(true).unwrap();
    let listens = ListenEndpoint::new("giop_group+miop", "239.255.0.1:5555");
    let error = Orb::builder().listen(listens).build().unwrap_err();
    let error = error.to_string();
    assert!(error.contains("the feature `miop`"), "{error}");
    assert!(error.contains("`Multicast::extend`"), "{error}");
}

#[test]
fn endpoints_of_the_configuration_are_used_and_need_a_group() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let address = group_address();
    let configured = ListenEndpoint::new("giop_group+miop", &address.to_string())
        .option("interface", "127.0.0.1");
    let builder = Multicast::extend(Orb::builder()).listen(configured);
    let listens = builder.listen(ListenEndpoint::iiop("127.0.0.1", 0));
    let server = Server::of(listens.build().unwrap());
    let client = orb();
    let group = group_at(&client, address, 1);
    let id = server.member("a", &seen_by(&server.orb, &group));
    let endpoints = server.orb.endpoints().len();
    assert_eq!(endpoints, 2);
    tell(&group, "text").unwrap();
    assert_eq!(server.heard.wait_for(1), ["a text"]);
    let here = seen_by(&server.orb, &group);
    server
        .goa
        .disassociate_reference_with_id(&here, &id)
        .unwrap();
    assert_eq!(server.orb.endpoints().len(), endpoints);
    // References of objects do not lead to groups.
    let (object, _) = server.object("b");
    assert_eq!(object.ior().profiles.len(), 1);
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
    let wrong = ListenEndpoint::new("giop_group+miop", "127.0.0.1:0");
    let wrong = Multicast::extend(Orb::builder()).listen(wrong);
    let error = wrong.build().unwrap().listen().unwrap_err().to_string();
    assert!(error.contains("a multicast group's IP address"), "{error}");
}

#[test]
fn text_is_iso_8859_1_and_wide_text_is_refused() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let (server, client) = (Server::new(), orb());
    let group = group_at(&client, group_address(), 1);
    server.member("a", &seen_by(&server.orb, &group));
    tell(&group, "Käse").unwrap();
    assert_eq!(server.heard.wait_for(1), ["a Käse"]);
    let beyond = tell(&group, "Ω").unwrap_err();
    assert_eq!(beyond.kind(), SystemExceptionKind::DataConversion);
    const WIDE: Operation = Operation::one_way("wide");
    let wide = group.send(&WIDE, |out| 'a'.marshal(out)).unwrap_err();
    assert_eq!(wide.kind(), SystemExceptionKind::InvObjref, "{wide}");
    client.shutdown(true).unwrap();
    server.orb.shutdown(true).unwrap();
}

#[test]
fn a_short_one_way_does_not_wait_for_the_pauses_of_a_long_one() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let server = Server::new();
    let group = group_at(&server.orb, group_address(), 1);
    server.member("a", &group);
    let client = Multicast::extend(Orb::builder())
        .configure(on_loopback)
        .configure(|config| {
            let properties = config.link_properties.get_mut("miop").unwrap();
            properties.insert("pace_us".to_owned(), "1000000".to_owned());
        });
    let client = client.build().unwrap();
    let group = seen_by(&client, &group);
    let counts = || server.multicast().counts();
    std::thread::scope(|scope| {
        // Some ten minutes.
        let long = scope.spawn(|| octets(&group, 1_000_000));
        while counts().under_way == 0 {
            pause();
        }
        tell(&group, "urgent").unwrap();
        assert_eq!(server.heard.wait_for(1), ["a urgent"]);
        assert!(!long.is_finished());
        client.shutdown(false).unwrap();
        long.join().unwrap().unwrap_err();
    });
}

#[test]
fn metrics_show_what_groups_have_sent_and_received() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let metrics = Metrics::new();
    let orb = Multicast::extend(Orb::builder())
        .configure(on_loopback)
        .initializer(Arc::new(metrics.clone()));
    let server = Server::of(orb.build().unwrap());
    let group = group_at(&server.orb, group_address(), 1);
    server.member("a", &group);
    let at = group.ior().profiles[0].decode().unwrap();
    let punctual_ior::Profile::Uipmc(at) = at else {
        panic!("{at:?}")
    };
    let forger = UdpSocket::bind("127.0.0.1:0").unwrap();
    forger
        .send_to(b"nonsense", format!("{}:{}", at.address, at.port))
        .unwrap();
    let long = || octets(&group, 5000).unwrap();
    server.heard.wait_for_all(&["a 5000 true".to_owned()], long);
    let counts = || server.multicast().counts();
    while counts().malformed == 0 {
        pause();
    }
    let text = metrics.render();
    let of = |family: &str, count: &str| -> u64 {
        let begin = format!("{family}{{link=\"miop\",count=\"{count}\"}} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&begin));
        line.unwrap_or_else(|| panic!("{begin} is not in {text}"))
            .parse()
            .unwrap()
    };
    let total = |count| of("punctual_link_events_total", count);
    assert_eq!((total("malformed"), total("sent_packets") % 4), (1, 0));
    assert!(total("sent_messages") >= 1 && total("messages") >= 1 && total("datagrams") >= 5);
    assert_eq!(
        of("punctual_link_level", "under_way_octets"),
        counts().under_way_octets
    );
    // The ORB is not kept by its metrics.
    server.orb.shutdown(true).unwrap();
    drop((server, group));
    assert!(!metrics.render().contains("punctual_link"));
}
