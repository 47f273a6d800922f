//! Validity of attributes and operations at each point: the standard's two tables (CORBA 3.3 part
//! 1, §16.3.13 and §16.3.14), column by column.

use super::closures::{AtClient, AtServer};
use super::fixture::{Near, Pair};
use super::support::watchdog;
use super::ways::{Ask, Got, later, now};
use punctual::interceptor::{ClientRequestInfo, InterceptorError, ServerRequestInfo, SlotId};
use punctual::{Any, Interface, Orb, SystemException, SystemExceptionKind as Kind, minor};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Rows of table 16.1: valid at send_request, send_poll, receive_reply, receive_exception, receive_other.
const CLIENT: [(&str, &str); 23] = [
    ("request_id", "yyyyy"),
    ("operation", "yyyyy"),
    ("arguments", "y-y--"),
    ("exceptions", "y-yyy"),
    ("contexts", "y-yyy"),
    ("operation_context", "y-yyy"),
    ("result", "--y--"),
    ("response_expected", "yyyyy"),
    ("sync_scope", "y-yyy"),
    ("reply_status", "--yyy"),
    // For LOCATION_FORWARD alone.
    ("forward_reference", "-----"),
    ("get_slot", "yyyyy"),
    ("get_request_service_context", "y-yyy"),
    ("get_reply_service_context", "--yyy"),
    ("target", "yyyyy"),
    ("effective_target", "yyyyy"),
    ("effective_profile", "yyyyy"),
    ("received_exception", "---y-"),
    ("received_exception_id", "---y-"),
    ("get_effective_component", "y-yyy"),
    ("get_effective_components", "y-yyy"),
    ("get_request_policy", "y-yyy"),
    ("add_request_service_context", "y----"),
];

/// Rows of table 16.2: valid at receive_request_service_contexts, receive_request, send_reply, send_exception, send_other.
const SERVER: [(&str, &str); 25] = [
    ("request_id", "yyyyy"),
    ("operation", "yyyyy"),
    ("arguments", "-yy--"),
    ("exceptions", "-yyyy"),
    ("contexts", "-yyyy"),
    ("operation_context", "-yy--"),
    ("result", "--y--"),
    ("response_expected", "yyyyy"),
    ("sync_scope", "yyyyy"),
    ("reply_status", "--yyy"),
    // For LOCATION_FORWARD alone.
    ("forward_reference", "-----"),
    ("get_slot", "yyyyy"),
    ("get_request_service_context", "yyyyy"),
    ("get_reply_service_context", "--yyy"),
    ("sending_exception", "---y-"),
    ("object_id", "-yyyy"),
    ("adapter_id", "-yyyy"),
    ("server_id", "-yyyy"),
    ("orb_id", "-yyyy"),
    ("adapter_name", "-yyyy"),
    ("target_most_derived_interface", "-y---"),
    ("get_server_policy", "yyyyy"),
    ("set_slot", "yyyyy"),
    ("target_is_a", "-y---"),
    ("add_reply_service_context", "yyyyy"),
];

/// Returns whether an attribute or operation is valid at the interception point: `false` if it
/// raised BAD_INV_ORDER with minor code 14.
fn is_valid<T>(asked: Result<T, SystemException>) -> bool {
    !asked.is_err_and(|exception| {
        exception.kind() == Kind::BadInvOrder && exception.minor() == minor::omg(14)
    })
}

type Seen = Arc<Mutex<BTreeMap<(&'static str, &'static str), bool>>>;

fn note(seen: &Seen, point: &'static str, valid: &[(&'static str, bool)]) {
    let mut seen = seen.lock().unwrap();
    for (row, valid) in valid {
        let before = seen.insert((row, point), *valid);
        assert!(
            before.is_none_or(|before| before == *valid),
            "{row} at {point}"
        );
    }
}

fn ask_client(info: &mut ClientRequestInfo<'_>) -> Vec<(&'static str, bool)> {
    let slot = SlotId::from(0);
    vec![
        ("request_id", info.request_id() > 0),
        ("operation", !info.operation().is_empty()),
        ("arguments", is_valid(info.arguments())),
        ("exceptions", is_valid(info.exceptions())),
        ("contexts", is_valid(info.contexts())),
        ("operation_context", is_valid(info.operation_context())),
        ("result", is_valid(info.result())),
        ("response_expected", {
            let _: bool = info.response_expected();
            true
        }),
        ("sync_scope", is_valid(info.sync_scope())),
        ("reply_status", is_valid(info.reply_status())),
        ("forward_reference", is_valid(info.forward_reference())),
        ("get_slot", info.get_slot(slot).is_err()),
        (
            "get_request_service_context",
            is_valid(info.get_request_service_context(77)),
        ),
        (
            "get_reply_service_context",
            is_valid(info.get_reply_service_context(77)),
        ),
        ("target", is_valid(info.target())),
        ("effective_target", is_valid(info.effective_target())),
        ("effective_profile", is_valid(info.effective_profile())),
        ("received_exception", is_valid(info.received_exception())),
        (
            "received_exception_id",
            is_valid(info.received_exception_id()),
        ),
        (
            "get_effective_component",
            is_valid(info.get_effective_component(1)),
        ),
        (
            "get_effective_components",
            is_valid(info.get_effective_components(1)),
        ),
        ("get_request_policy", is_valid(info.get_request_policy(24))),
        (
            "add_request_service_context",
            is_valid(info.add_request_service_context(78, b"x", true)),
        ),
    ]
}

fn ask_server(info: &mut ServerRequestInfo<'_>) -> Vec<(&'static str, bool)> {
    let slot = SlotId::from(0);
    vec![
        ("request_id", info.request_id() > 0),
        ("operation", !info.operation().is_empty()),
        ("arguments", is_valid(info.arguments())),
        ("exceptions", is_valid(info.exceptions())),
        ("contexts", is_valid(info.contexts())),
        ("operation_context", is_valid(info.operation_context())),
        ("result", is_valid(info.result())),
        ("response_expected", {
            let _: bool = info.response_expected();
            true
        }),
        ("sync_scope", {
            let _ = info.sync_scope();
            true
        }),
        ("reply_status", is_valid(info.reply_status())),
        ("forward_reference", is_valid(info.forward_reference())),
        ("get_slot", info.get_slot(slot).is_err()),
        (
            "get_request_service_context",
            is_valid(info.get_request_service_context(77)),
        ),
        (
            "get_reply_service_context",
            is_valid(info.get_reply_service_context(77)),
        ),
        ("sending_exception", is_valid(info.sending_exception())),
        ("object_id", is_valid(info.object_id())),
        ("adapter_id", is_valid(info.adapter_id())),
        ("server_id", is_valid(info.server_id())),
        ("orb_id", is_valid(info.orb_id())),
        ("adapter_name", is_valid(info.adapter_name())),
        (
            "target_most_derived_interface",
            is_valid(info.target_most_derived_interface()),
        ),
        ("get_server_policy", is_valid(info.get_server_policy(17))),
        ("set_slot", info.set_slot(slot, Any::default()).is_err()),
        ("target_is_a", is_valid(info.target_is_a("IDL:x:1.0"))),
        (
            "add_reply_service_context",
            is_valid(info.add_reply_service_context(78, b"x", true)),
        ),
    ]
}

fn check(seen: &Seen, table: &[(&'static str, &str)], points: [&'static str; 5]) {
    let seen = seen.lock().unwrap();
    for (row, columns) in table {
        for (point, column) in points.iter().zip(columns.chars()) {
            let valid = seen.get(&(*row, *point)).copied();
            assert_eq!(valid, Some(column == 'y'), "{row} at {point}");
        }
    }
    assert_eq!(seen.len(), 5 * table.len());
}

fn each_is_valid_where_the_tables_say(near: Near) {
    let _watchdog = watchdog(Duration::from_secs(120));
    let (at_client, at_server) = (Seen::default(), Seen::default());
    let (note_client, note_server) = (at_client.clone(), at_server.clone());
    let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
        note(&note_client, point, &ask_client(info));
        Ok::<_, InterceptorError>(())
    });
    let server = AtServer(move |point, info: &mut ServerRequestInfo<'_>| {
        note(&note_server, point, &ask_server(info));
        Ok::<_, InterceptorError>(())
    });
    let pair = Pair::new(
        near,
        Orb::builder().server_interceptor(Arc::new(server)),
        Orb::builder().client_interceptor(Arc::new(client)),
    );
    let account = pair.account();
    assert_eq!(now(&account, Ask::Deposit), Got::Results);
    assert_eq!(now(&account, Ask::Refused), Got::Refused);
    account.note("one-way").unwrap();
    // It is served before the next query, on the same connection.
    assert_eq!(now(&account, Ask::Deposit), Got::Results);
    if near == Near::WithinProcess {
        // Calls within the process are not polled: from another ORB's reference, by wire.
        let by_wire = pair.as_if_elsewhere();
        assert_eq!(later(&by_wire, Ask::Deposit), Got::Results);
    } else {
        assert_eq!(later(&account, Ask::Deposit), Got::Results);
    }
    check(
        &at_client,
        &CLIENT,
        [
            "send_request",
            "send_poll",
            "receive_reply",
            "receive_exception",
            "receive_other",
        ],
    );
    check(
        &at_server,
        &SERVER,
        [
            "receive_request_service_contexts",
            "receive_request",
            "send_reply",
            "send_exception",
            "send_other",
        ],
    );
    pair.end();
}

#[test]
fn each_is_valid_where_the_tables_say_and_raises_bad_inv_order_14_elsewhere_by_wire() {
    each_is_valid_where_the_tables_say(Near::ByWire);
}

#[test]
fn each_is_valid_where_the_tables_say_and_raises_bad_inv_order_14_elsewhere_within_the_process() {
    each_is_valid_where_the_tables_say(Near::WithinProcess);
}

/// Checks that a client interceptor can query the target of a server's forward at `receive_other`
/// of the forwarded attempt, and at no other point.
#[test]
fn a_forward_is_told_at_the_last_point_and_nowhere_else() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = told.clone();
    let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
        if let Ok(to) = info.forward_reference() {
            let target = info.target()?.object_key();
            tell.lock().unwrap().push((point, to.object_key(), target));
        }
        Ok(())
    });
    let forward_to = Arc::new(Mutex::new(None));
    let forwards = forward_to.clone();
    let server = AtServer(move |point, _: &mut ServerRequestInfo<'_>| {
        let to = match point {
            "receive_request" => forwards.lock().unwrap().take(),
            _ => None,
        };
        to.map_or(Ok(()), |to: punctual::ObjectRef| {
            Err(InterceptorError::forward(&to))
        })
    });
    let pair = Pair::new(
        Near::ByWire,
        Orb::builder().server_interceptor(Arc::new(server)),
        Orb::builder().client_interceptor(Arc::new(client)),
    );
    let second: super::generated::intercepted::Account =
        pair.poa.activate(super::fixture::Vault::default()).unwrap();
    *forward_to.lock().unwrap() = Some(second.as_object().clone());
    let account = pair.account();
    assert_eq!(now(&account, Ask::Deposit), Got::Results);
    let target = account.as_object().object_key();
    let to = second.as_object().object_key();
    assert_eq!(*told.lock().unwrap(), [("receive_other", to, target)]);
    pair.end();
}
