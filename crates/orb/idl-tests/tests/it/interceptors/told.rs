//! Information about a request that interceptors can read, and service contexts that they add.

use super::closures::{AtClient, AtServer};
use super::fixture::{Near, Pair};
use super::generated::intercepted::Refused;
use super::support::watchdog;
use punctual::dynamic::Request;
use punctual::interceptor::{ClientRequestInfo, InterceptorError, Parameter, ServerRequestInfo};
use punctual::policy::SyncScope;
use punctual::{
    Any, Interface, Orb, Policy, SetOverride, SystemExceptionKind as Kind, TypeCode, Typed, minor,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const OURS: u32 = 0x1234_5601;
const THEIRS: u32 = 0x1234_5602;

type Heard = Arc<Mutex<Vec<String>>>;

fn nears() -> [Near; 2] {
    [Near::ByWire, Near::WithinProcess]
}

#[test]
fn contexts_travel_with_the_request_and_with_whatever_answers_it() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for near in nears() {
        let heard = Heard::default();
        let (at_client, at_server) = (heard.clone(), heard.clone());
        let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
            if point == "send_request" {
                info.add_request_service_context(OURS, b"first", false)?;
                let again = info.add_request_service_context(OURS, b"again", false);
                let again = again.unwrap_err();
                assert_eq!(
                    (again.kind(), again.minor()),
                    (Kind::BadInvOrder, minor::omg(15))
                );
                info.add_request_service_context(OURS, b"request", true)?;
                assert_eq!(info.get_request_service_context(OURS)?, b"request");
            } else if let Ok(data) = info.get_reply_service_context(THEIRS) {
                let said = format!("{point} {}", String::from_utf8_lossy(data));
                at_client.lock().unwrap().push(said);
            }
            Ok(())
        });
        let server = AtServer(move |point: &str, info: &mut ServerRequestInfo<'_>| {
            if info.operation().starts_with('_') {
                return Ok(());
            }
            let data = info.get_request_service_context(OURS)?;
            assert_eq!(data, b"request", "{point}");
            if point.starts_with("send") {
                // After the reply, which has been written by now.
                info.add_reply_service_context(THEIRS, point.as_bytes(), true)?;
                info.add_reply_service_context(THEIRS + 1, &[7; 300], true)?;
            } else {
                info.add_reply_service_context(THEIRS, b"early", true)?;
            }
            let none = info.get_request_service_context(99).unwrap_err();
            assert_eq!(
                (none.kind(), none.minor()),
                (Kind::BadParam, minor::omg(26))
            );
            at_server.lock().unwrap().push(point.to_owned());
            Ok(())
        });
        let pair = Pair::new(
            near,
            Orb::builder().server_interceptor(Arc::new(server)),
            Orb::builder().client_interceptor(Arc::new(client)),
        );
        let account = pair.account();
        assert_eq!(account.deposit(20).unwrap(), 20);
        assert_eq!(account.deposit(22).unwrap(), 42);
        assert!(account.deposit(-1).is_err());
        assert_eq!(account.fail().unwrap_err().minor(), 7);
        let begin = ["receive_request_service_contexts", "receive_request"];
        let call = |end: &[&'static str]| [&begin[..], end].concat();
        let wanted = [
            call(&["send_reply", "receive_reply send_reply"]),
            call(&["send_reply", "receive_reply send_reply"]),
            call(&["send_exception", "receive_exception send_exception"]),
            call(&["send_exception", "receive_exception send_exception"]),
        ];
        assert_eq!(*heard.lock().unwrap(), wanted.concat(), "{near:?}");
        pair.end();
    }
}

#[test]
fn a_server_is_told_of_object_adapter_server_and_orb() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for near in nears() {
        let heard = Heard::default();
        let tell = heard.clone();
        let server = AtServer(move |point: &str, info: &mut ServerRequestInfo<'_>| {
            if point == "receive_request_service_contexts" {
                return Ok(());
            }
            let name = info.adapter_name()?.join("/");
            let id = String::from_utf8(info.object_id()?).unwrap();
            let said = format!("{id} of {name}, {} {}", info.server_id()?, info.orb_id()?);
            tell.lock().unwrap().push(said);
            if point == "receive_request" {
                let interface = info.target_most_derived_interface()?;
                assert!(info.target_is_a(&interface)?);
                assert!(!info.target_is_a("IDL:another:1.0")?);
                assert!(!info.adapter_id()?.is_empty());
                tell.lock().unwrap().push(interface);
            }
            Ok(())
        });
        let server = Orb::builder().server_interceptor(Arc::new(server));
        let server = server.server_id("bank").orb_id("main");
        let pair = Pair::new(near, server, Orb::builder());
        let policies = [
            punctual::poa::PoaPolicy::IdAssignment(punctual::poa::IdAssignmentPolicy::User),
            punctual::poa::PoaPolicy::Lifespan(punctual::poa::LifespanPolicy::Persistent),
        ];
        let manager = pair.poa.manager();
        let child = pair
            .poa
            .create_poa("child", Some(manager), &policies)
            .unwrap();
        let named: super::generated::intercepted::Account = child
            .activate_with_id(&"seven".into(), super::fixture::Vault::default())
            .unwrap();
        let named = pair.as_client(named.as_object());
        let account = super::generated::intercepted::Account::from_object(named);
        account.deposit(1).unwrap();
        let said = "seven of RootPOA/child, bank main".to_owned();
        let interface = super::generated::intercepted::Account::REPOSITORY_ID;
        assert_eq!(
            *heard.lock().unwrap(),
            [said.clone(), interface.to_owned(), said],
            "{near:?}"
        );
        pair.end();
    }
}

#[test]
fn a_client_is_told_of_target_profile_components_and_policies() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let heard = Arc::new(Mutex::new(0));
    let count = heard.clone();
    let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
        if point == "send_request" {
            assert_eq!(info.target()?, info.effective_target()?);
            assert_eq!(info.effective_profile()?.tag, 0);
            // Code sets, which every reference of ours has.
            assert_eq!(info.get_effective_component(1)?.tag, 1);
            assert_eq!(info.get_effective_components(1)?.len(), 1);
            let none = info.get_effective_component(4711).unwrap_err();
            assert_eq!(
                (none.kind(), none.minor()),
                (Kind::BadParam, minor::omg(28))
            );
            let policy = info.get_request_policy(24)?;
            assert_eq!(policy, Policy::SyncScope(SyncScope::WithTarget));
            let none = info.get_request_policy(4711).unwrap_err();
            assert_eq!(
                (none.kind(), none.minor()),
                (Kind::InvPolicy, minor::omg(2))
            );
            *count.lock().unwrap() += 1;
        }
        Ok(())
    });
    let client = Orb::builder().client_interceptor(Arc::new(client));
    let pair = Pair::new(Near::ByWire, Orb::builder(), client);
    let scope = [Policy::SyncScope(SyncScope::WithTarget)];
    let object = pair.account().as_object().clone();
    let object = object
        .set_policy_overrides(&scope, SetOverride::Add)
        .unwrap();
    let account = super::generated::intercepted::Account::from_object(object);
    for number in 1..4 {
        assert_eq!(account.deposit(1).unwrap(), number);
    }
    assert_eq!(*heard.lock().unwrap(), 3);
    pair.end();
}

#[test]
fn a_dynamic_request_tells_arguments_results_and_exceptions() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let heard = Heard::default();
    let tell = heard.clone();
    let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
        let say = |text: String| tell.lock().unwrap().push(text);
        match point {
            "send_request" => {
                let arguments = info.arguments()?;
                let exceptions = info.exceptions()?.len();
                let first = arguments.first();
                let first = first.map(|one| one.argument.extract::<i32>().unwrap());
                say(format!("{first:?} {exceptions}"));
                assert!(info.contexts()?.is_empty());
            }
            "receive_reply" => {
                let result: i32 = info.result()?.extract().unwrap();
                say(format!(
                    "returned {result}, {} arguments",
                    info.arguments()?.len()
                ));
            }
            "receive_exception" => {
                let id = info.received_exception_id()?.to_owned();
                let any = info.received_exception()?;
                assert_eq!(any.type_code().id().unwrap(), id);
                match any.extract::<Refused>() {
                    Ok(refused) => say(format!("refused, as {}", refused.why)),
                    Err(_) => say(id),
                }
            }
            _ => {}
        }
        Ok(())
    });
    let client = Orb::builder().client_interceptor(Arc::new(client));
    let pair = Pair::new(Near::ByWire, Orb::builder(), client);
    let account = pair.account();
    let mut request = Request::new(&account, "deposit");
    request.add_in("amount", Any::new(&5).unwrap());
    request.set_return_type(&TypeCode::LONG);
    request.add_exception(&Refused::type_code());
    request.invoke().unwrap();
    assert_eq!(request.return_value().extract::<i32>().unwrap(), 5);
    request.set_argument(0, Any::new(&-5).unwrap()).unwrap();
    request.invoke().unwrap_err();
    Request::new(&account, "fail").invoke().unwrap_err();
    let system = "IDL:omg.org/CORBA/BAD_PARAM:1.0";
    let wanted = [
        "Some(5) 1",
        "returned 5, 1 arguments",
        "Some(-5) 1",
        "refused, as negative",
        "None 0",
        system,
    ];
    assert_eq!(*heard.lock().unwrap(), wanted);
    pair.end();
}

#[test]
fn a_stubs_call_tells_arguments_results_and_exceptions_at_both_ends() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let (heard, served) = (Heard::default(), Heard::default());
    let (at_client, at_server) = (heard.clone(), served.clone());
    let first = |arguments: Vec<Parameter>| -> i32 { arguments[0].argument.extract().unwrap() };
    let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
        if info.operation() != "deposit" {
            return Ok(());
        }
        let said = match point {
            "send_request" => format!("{} {}", first(info.arguments()?), info.exceptions()?.len()),
            "receive_reply" => {
                let result: i32 = info.result()?.extract().unwrap();
                format!("{} returned {result}", first(info.arguments()?))
            }
            "receive_exception" => {
                let refused: Refused = info.received_exception()?.extract().unwrap();
                refused.why
            }
            _ => return Ok(()),
        };
        assert!(info.contexts().is_ok_and(|all| all.is_empty()) || point != "send_request");
        at_client.lock().unwrap().push(said);
        Ok(())
    });
    let server = AtServer(move |point: &str, info: &mut ServerRequestInfo<'_>| {
        if info.operation() != "deposit" {
            return Ok(());
        }
        let said = match point {
            "receive_request" => {
                format!("{} {}", first(info.arguments()?), info.exceptions()?.len())
            }
            "send_reply" => {
                let result: i32 = info.result()?.extract().unwrap();
                format!("{} returned {result}", first(info.arguments()?))
            }
            "send_exception" => {
                let refused: Refused = info.sending_exception()?.extract().unwrap();
                refused.why
            }
            _ => return Ok(()),
        };
        at_server.lock().unwrap().push(said);
        Ok(())
    });
    let pair = Pair::new(
        Near::ByWire,
        Orb::builder().server_interceptor(Arc::new(server)),
        Orb::builder().client_interceptor(Arc::new(client)),
    );
    assert_eq!(pair.account().deposit(2).unwrap(), 2);
    pair.account().deposit(-2).unwrap_err();
    let wanted = ["2 1", "2 returned 2", "-2 1", "negative"];
    assert_eq!(*heard.lock().unwrap(), wanted);
    assert_eq!(*served.lock().unwrap(), wanted);
    pair.end();
}

#[test]
fn a_stubs_call_within_the_process_does_not_know_its_arguments_and_says_no_resources() {
    let _watchdog = watchdog(Duration::from_secs(120));
    {
        let near = Near::WithinProcess;
        let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
            if point == "send_request" {
                for unknown in [
                    info.arguments().map(drop),
                    info.exceptions().map(drop),
                    info.contexts().map(drop),
                    info.operation_context().map(drop),
                ] {
                    let unknown = unknown.unwrap_err();
                    assert_eq!(
                        (unknown.kind(), unknown.minor()),
                        (Kind::NoResources, minor::omg(1))
                    );
                }
            }
            if point == "receive_exception" {
                assert_eq!(info.received_exception_id()?, "IDL:intercepted/Refused:1.0");
                let any = info.received_exception()?;
                let id = any.type_code().id().map(str::to_owned);
                assert_eq!(id.as_deref(), Ok("IDL:omg.org/CORBA/UNKNOWN:1.0"));
            }
            Ok::<_, InterceptorError>(())
        });
        let client = Orb::builder().client_interceptor(Arc::new(client));
        let pair = Pair::new(near, Orb::builder(), client);
        assert_eq!(pair.account().deposit(2).unwrap(), 2);
        pair.account().deposit(-2).unwrap_err();
        pair.end();
    }
}

#[test]
fn interceptors_may_make_calls_which_are_intercepted_too() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for near in nears() {
        let depth = Arc::new(Mutex::new(0));
        let deep = depth.clone();
        let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
            if point == "send_request" {
                let mut depth = deep.lock().unwrap();
                if *depth < 5 {
                    *depth += 1;
                    drop(depth);
                    let target = info.target()?;
                    let account = super::generated::intercepted::Account::from_object(target);
                    account.deposit(1).unwrap();
                }
            }
            Ok(())
        });
        let client = Orb::builder().client_interceptor(Arc::new(client));
        let pair = Pair::new(near, Orb::builder(), client);
        // Five before it.
        assert_eq!(pair.account().deposit(1).unwrap(), 6, "{near:?}");
        assert_eq!(*depth.lock().unwrap(), 5);
        pair.end();
    }
}
