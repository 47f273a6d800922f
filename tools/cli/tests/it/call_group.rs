//! `punctual call --group`: a one-way to a multicast group, whose member is in this process.

use crate::support::{punctual, text};
use punctual::dynamic::{DynamicImplementation, ServerRequest, dynamic_servant};
use punctual::multicast::{Goa, GroupInfo, GroupReference, Multicast};
use punctual::stub::{DispatchError, Dispatched};
use punctual::{ListenEndpoint, ObjectRef, Orb, RootPoa, TypeCode};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::process::Output;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

const IDL: &str =
    "interface Alarm { oneway void sound(in string place, in long level); long sounded(); };";
const ID: &str = "IDL:Alarm:1.0";

/// Servant that passes on the arguments of its calls.
struct Alarm(Sender<String>);

impl DynamicImplementation for Alarm {
    fn primary_interface(&self) -> Cow<'_, str> {
        Cow::Borrowed(ID)
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        match request.operation() {
            "sound" => {
                let of = [TypeCode::STRING, TypeCode::LONG];
                let arguments = request.arguments(&of)?;
                let words = arguments.iter().map(|any| format!("{any:?}"));
                self.0.send(words.collect::<Vec<_>>().join(" ")).unwrap();
                request.reply(&[])
            }
            "sounded" => request.reply(&[punctual::Any::new(&7i32).unwrap()]),
            _ => Err(request.bad_operation()),
        }
    }
}

#[test]
fn a_one_way_to_a_group_is_sent_by_the_interface_that_is_named() {
    let port = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = port.local_addr().unwrap().port();
    let probe = UdpSocket::bind("127.0.0.1:0").unwrap();
    if let Err(error) = probe.send_to(b"probe", "239.192.0.1:9") {
        println!("skipped: there is no multicast on the loopback interface: {error}");
        return;
    }
    let properties = BTreeMap::from([("interface".to_owned(), "127.0.0.1".to_owned())]);
    let orb = Multicast::extend(Orb::builder())
        .configure(|config| drop(config.link_properties.insert("miop".to_owned(), properties)))
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let (heard, hears) = channel();
    let id = poa.activate_object(dynamic_servant(Alarm(heard))).unwrap();
    let member: ObjectRef = poa.id_to_reference(&id).unwrap();
    let plain = format!("corbaloc:miop:1.0@1.0-cli-1/239.192.0.7:{port}");
    let group = orb.string_to_object(&plain).unwrap();
    let goa = Goa::of(&poa).unwrap();
    goa.associate_reference_with_id(&group, &id).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let idl = folder.path().join("alarm.idl");
    std::fs::write(&idl, IDL).unwrap();
    let call = |reference: &str, more: &[&str]| -> Output {
        let of = [
            "--idl",
            idl.to_str().unwrap(),
            "--group=interface=127.0.0.1,ttl=0",
        ];
        let all = [&["call", reference], &of[..], more].concat();
        punctual(&all)
    };
    let called = call(&plain, &["sound", "boiler", "3"]);
    assert!(called.status.success(), "{}", text(called.stderr));
    let said = hears.recv_timeout(Duration::from_secs(120)).unwrap();
    assert!(said.contains("boiler") && said.contains('3'), "{said}");
    // A call with a reply needs an object that gives it.
    let refused = call(&plain, &["sounded"]);
    let error = text(refused.stderr);
    assert!(!refused.status.success());
    assert!(error.contains("only protocols for one-ways"), "{error}");
    let of = GroupReference {
        group: GroupInfo::new("cli", 1),
        address: format!("239.192.0.7:{port}").parse().unwrap(),
        type_id: ID,
        gateway: Some(&member),
    };
    let whole = Multicast::reference(&orb, &of).unwrap();
    let asked = call(&orb.object_to_string(&whole).unwrap(), &["sounded"]);
    assert_eq!(text(asked.stdout).trim(), "7");
    let no_group = call(
        &orb.object_to_string(&member).unwrap(),
        &["sound", "x", "1"],
    );
    let error = text(no_group.stderr);
    assert!(error.contains("not one of a multicast group"), "{error}");
    orb.shutdown(true).unwrap();
}
