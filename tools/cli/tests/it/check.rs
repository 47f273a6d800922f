//! `punctual ior --check`: test of a reference's endpoints by connecting.
#![allow(clippy::unwrap_used, missing_docs)]

use punctual::dynamic::{DynamicImplementation, ServerRequest};
use punctual::stub::{DispatchError, Dispatched};
use punctual::{ListenEndpoint, ObjectRef, Orb, RootPoa};
use punctual_cdr::{ByteOrder, Coding, Encoder};
use punctual_ior::{IiopProfile, IiopVersion, Ior, TaggedComponent, tags};
use serde_json::Value;
use std::borrow::Cow;
use std::net::TcpListener;
use std::process::{Command, Output};

fn check(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["ior", "--check"]).args(arguments);
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.is_empty(), "{said}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

struct Nothing;

impl DynamicImplementation for Nothing {
    fn primary_interface(&self) -> Cow<'_, str> {
        Cow::Borrowed("IDL:Nothing:1.0")
    }

    fn invoke(&self, request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        Err(request.bad_operation())
    }
}

/// Returns a port at which no server listens.
fn dead_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn each_endpoint_of_a_server_is_reached_by_its_own_link() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s").display().to_string();
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .listen(ListenEndpoint::new("uiop", &socket))
        .listen(ListenEndpoint::new("shmiop", ""))
        .listen(ListenEndpoint::new("reliable+diop", "127.0.0.1:0"))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    let id = poa
        .activate_object(punctual::dynamic::dynamic_servant(Nothing))
        .unwrap();
    let object: ObjectRef = poa.id_to_reference(&id).unwrap();
    let reference = orb.object_to_string(&object).unwrap();
    let checked = check(&[&reference]);
    let shown = text(&checked);
    assert!(checked.status.success(), "{shown}");
    for protocol in ["iiop", "uiop", "shmiop", "diop"] {
        let line = format!("{protocol}://");
        let line = shown.lines().find(|one| one.contains(&line));
        assert!(
            line.is_some_and(|line| line.ends_with(": reachable")),
            "{protocol}: {shown}"
        );
    }
    // The server is gone.
    orb.shutdown(true).unwrap();
    drop((object, poa));
    let checked = check(&[&reference, "--timeout", "500ms"]);
    let shown = text(&checked);
    assert_eq!(checked.status.code(), Some(1), "{shown}");
    assert!(!shown.contains(": reachable"), "{shown}");
    assert!(shown.contains("not reachable: connecting: "), "{shown}");
}

#[test]
fn one_endpoint_that_is_reached_is_enough_and_json_says_why_the_others_are_not() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (live, dead) = (listener.local_addr().unwrap().port(), dead_port());
    let reference = format!(
        "corbaloc::127.0.0.1:{dead},:127.0.0.1:{live},ssliop:127.0.0.1:{live},diop:127.0.0.1:{dead}/x"
    );
    let checked = check(&["--json", &reference]);
    assert!(checked.status.success());
    let told: Value = serde_json::from_str(&text(&checked)).unwrap();
    let endpoints = told["endpoints"].as_array().unwrap();
    let of = |endpoint: String| {
        let mut all = endpoints.iter();
        all.find(|one| one["endpoint"] == endpoint).unwrap()
    };
    let refused = of(format!("iiop://127.0.0.1:{dead}"));
    assert_eq!(refused["reached"], "no");
    let why = refused["detail"].as_str().unwrap();
    assert!(why.contains("Connection refused"), "{why}");
    assert_eq!(of(format!("iiop://127.0.0.1:{live}"))["reached"], "yes");
    let tls = of(format!("ssliop://127.0.0.1:{live}"));
    assert_eq!(tls["reached"], "yes");
    assert!(tls["detail"].as_str().unwrap().contains("TLS is not tried"));
    assert_eq!(
        of(format!("giop_oneway+diop://127.0.0.1:{dead}"))["reached"],
        "unknown"
    );
}

#[test]
fn lanes_that_tao_names_are_tried_too() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (live, dead) = (listener.local_addr().unwrap().port(), dead_port());
    let endpoints = Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        out.put_u32(2);
        for (port, priority) in [(dead, 0), (live, 100)] {
            out.put_string("127.0.0.1")?;
            out.put_u16(port);
            out.put_u16(priority);
        }
        Ok(())
    });
    let profile = IiopProfile {
        version: IiopVersion { major: 1, minor: 2 },
        host: "127.0.0.1".into(),
        port: dead,
        object_key: b"x".to_vec(),
        components: vec![TaggedComponent {
            tag: tags::component::TAO_ENDPOINTS,
            data: endpoints.unwrap(),
        }],
    };
    let reference = Ior {
        type_id: "IDL:Lanes:1.0".into(),
        profiles: vec![profile.to_tagged(ByteOrder::NATIVE).unwrap()],
    };
    let checked = check(&[&reference.to_string()]);
    let shown = text(&checked);
    assert!(checked.status.success(), "{shown}");
    let count = |what: &str| shown.matches(what).count();
    assert_eq!(
        count(&format!("iiop://127.0.0.1:{dead}: not reachable")),
        1,
        "{shown}"
    );
    assert_eq!(
        count(&format!("iiop://127.0.0.1:{live}: reachable")),
        1,
        "{shown}"
    );
}

#[test]
fn what_names_no_endpoint_is_not_reached() {
    for reference in ["IOR:00000000000000010000000000000000", "corbaloc:rir:/Name"] {
        let checked = check(&[reference]);
        assert_eq!(checked.status.code(), Some(1));
        assert!(text(&checked).contains("none that could be tried"));
    }
}

#[test]
fn a_time_to_try_has_a_unit() {
    let refused = check(&["--timeout", "2", "corbaloc::127.0.0.1:1/x"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("`2s` are seconds"), "{said}");
}
