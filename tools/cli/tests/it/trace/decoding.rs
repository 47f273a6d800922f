//! Decoding, and the choice among declared operations.

use crate::trace::form::{
    FORM, Form, PEER, READINGS, any, every_form, readings, string, type_code,
};
use crate::trace::{added, objects};
use punctual::{Any, TypeCode};
use punctual_cdr::{CodeSets, Encoder, GiopVersion, NarrowCodeSet};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::{ReplyStatus, ResponseFlags, SystemExceptionBody, service_context, split};
use serde_json::{Value as JsonValue, json};

#[test]
fn structs_unions_and_anys_are_shown_in_every_byte_order_and_version() {
    let list = any(&type_code("Plant::Readings"), &readings());
    for form in every_form() {
        let more = Any::new(&any(&type_code("Plant::State"), &json!("running"))).unwrap();
        let arguments = [
            Any::new(&7_u8).unwrap(),
            list.clone(),
            more,
            Any::new(&-5_i64).unwrap(),
        ];
        let results = [list.clone(), Any::new(&6_i64).unwrap(), string("done")];
        let log = form.shown("-> to", &form.request(4, "store", &arguments))
            + "something else\n"
            + &form.shown("<- from", &form.results(4, &results));
        let expected = [
            "payload -> store: octet tag = 7".to_owned(),
            format!("payload -> store: Plant::Readings list = {READINGS}"),
            "payload -> store: any more = {\"type\":\"Plant::State\",\"value\":\"running\"}".into(),
            "payload -> store: long long count = -5".into(),
            format!("payload <- store: Plant::Readings $result = {READINGS}"),
            "payload <- store: long long count = 6".into(),
            "payload <- store: string note = \"done\"".into(),
        ];
        assert_eq!(added(&log), expected, "{form:?}");
    }
}

#[test]
fn exceptions_attributes_one_ways_and_implicit_operations_are_shown() {
    for form in every_form() {
        let fault = any(
            &type_code("Plant::Fault"),
            &json!({"part": "valve", "last": readings()}),
        );
        let user = |out: &mut Encoder<'_>| {
            out.put_string("IDL:Plant/Fault:1.0").unwrap();
            fault.marshal_members(out).unwrap();
        };
        let system = |out: &mut Encoder<'_>| {
            let body = SystemExceptionBody {
                repository_id: "IDL:omg.org/CORBA/TRANSIENT:1.0",
                minor: 0,
                completed: 1,
            };
            body.encode(out).unwrap();
        };
        let is_a = [string("IDL:Plant/Boiler:1.0")];
        let limit = [Any::new(&99.5_f64).unwrap()];
        let alarm = [Any::new(&3_u16).unwrap(), Any::new(&0.25_f64).unwrap()];
        let one_way = form.request_with(8, "alarm", &alarm, &[], ResponseFlags::NONE);
        // As a server sees it.
        let log = [
            form.shown("<- from", &form.request(0, "_is_a", &is_a)),
            form.shown("-> to", &form.results(0, &[Any::new(&true).unwrap()])),
            form.shown("<- from", &form.request(2, "_get_limit", &[])),
            form.shown("-> to", &form.results(2, &limit)),
            form.shown("<- from", &form.request(4, "_set_limit", &limit)),
            form.shown("-> to", &form.results(4, &[])),
            form.shown("<- from", &form.request(6, "_get_name", &[])),
            form.shown(
                "-> to",
                &form.reply(6, ReplyStatus::UserException, user, true),
            ),
            form.shown("<- from", &one_way),
            form.shown("<- from", &form.request(10, "_non_existent", &[])),
            form.shown(
                "-> to",
                &form.reply(10, ReplyStatus::SystemException, system, true),
            ),
        ];
        let expected = [
            "payload <- _is_a: string logical_type_id = \"IDL:Plant/Boiler:1.0\"".to_owned(),
            "payload -> _is_a: boolean $result = true".into(),
            "payload -> _get_limit: double $result = 99.5".into(),
            "payload <- _set_limit: double value = 99.5".into(),
            "payload -> _set_limit: void $result = null".into(),
            format!(
                "payload -> _get_name: Plant::Fault $exception = {{\"part\":\"valve\",\"last\":{READINGS}}}"
            ),
            "payload <- alarm: unsigned short number = 3".into(),
            "payload <- alarm: double level = 0.25".into(),
            "payload -> _non_existent: TRANSIENT: raised by the server: ".into(),
        ];
        let found = added(&log.concat());
        assert_eq!(found.len(), expected.len(), "{form:?}: {found:#?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(found.starts_with(expected), "{form:?}: {found}");
        }
        assert!(found.last().unwrap().ends_with("(minor 0, COMPLETED_NO)"));
    }
}

#[test]
fn text_is_read_in_the_code_sets_that_the_connections_first_request_told() {
    let latin = CodeSets {
        narrow: NarrowCodeSet::Iso8859_1,
        ..CodeSets::NATIVE
    };
    let form = Form {
        code_sets: latin,
        ..FORM
    };
    let told = CodeSetContext::from(latin).encode();
    let context = (service_context::CODE_SETS, told.as_slice());
    // As UTF-8 these bytes are another text.
    let which = [string("Ã¤")];
    let wide = |text: &str| {
        let type_code = TypeCode::wstring(0);
        [any(&type_code, &json!(text))]
    };
    let flags = ResponseFlags::SYNC_WITH_TARGET;
    let first = form.request_with(0, "label", &wide("größer"), &[context], flags);
    let log = [
        form.shown("-> to", &first),
        form.shown("<- from", &form.results(0, &wide("größer"))),
        form.shown("-> to", &form.request(2, "status", &which)),
    ]
    .concat();
    assert!(log.contains("CodeSets"), "{log}");
    let found = added(&log);
    assert_eq!(
        found,
        [
            "payload -> label: wstring text = \"größer\"",
            "payload <- label: wstring $result = \"größer\"",
            "payload -> status (Plant::Boiler or Plant::Boat): string which = \"Ã¤\"",
        ]
    );
    // If the log begins later: UTF-8, or ISO 8859-1 if the text is not UTF-8.
    let later = added(&form.shown("-> to", &form.request(2, "status", &which)));
    assert_eq!(
        later,
        ["payload -> status (Plant::Boiler or Plant::Boat): string which = \"ä\""]
    );
    let later = added(&form.shown("-> to", &form.request(2, "status", &[string("ä")])));
    assert_eq!(
        later,
        ["payload -> status (Plant::Boiler or Plant::Boat): string which = \"ä\""]
    );
}

#[test]
fn the_operation_is_the_one_whose_arguments_end_where_the_body_does() {
    let shown = |message: &[u8]| FORM.shown("-> to", message);
    let delay = [Any::new(&5_i32).unwrap()];
    assert_eq!(
        added(&shown(&FORM.request(0, "reset", &delay))),
        ["payload -> reset: long delay = 5"]
    );
    assert_eq!(
        added(&shown(&FORM.request(0, "reset", &[string("leak")]))),
        ["payload -> reset: string reason = \"leak\""]
    );
    let neither = added(&shown(&FORM.request(
        0,
        "reset",
        &[Any::new(&1_u8).unwrap()],
    )));
    assert_eq!(neither.len(), 1, "{neither:?}");
    for part in ["payload -> reset: ", "Plant::Boiler: ", "Plant::Boat: "] {
        assert!(neither[0].contains(part), "{neither:?}");
    }
    // Both operations fit; the reply does, too.
    let log = shown(&FORM.request(0, "rest", &[])) + &FORM.shown("<- from", &FORM.results(0, &[]));
    assert_eq!(
        added(&log),
        ["payload <- rest (Plant::Boiler or Plant::Boat): void $result = null"]
    );
}

#[test]
fn an_operation_that_is_not_declared_is_told_once() {
    let unknown = FORM.shown("-> to", &FORM.request(0, "explode", &[string("now")]));
    let reply = FORM.shown("<- from", &FORM.results(0, &[string("no")]));
    let found = added(&[&*unknown, &*reply, &*unknown].concat());
    assert_eq!(
        found,
        ["payload -> explode: no operation of this name is declared"]
    );
}

#[test]
fn replies_go_to_the_requests_of_their_own_connection_and_direction() {
    let log = FORM.shown("-> to", &FORM.request(6, "_get_limit", &[]))
        + &FORM.shown("<- from", &FORM.request(6, "_get_name", &[]))
        + &FORM
            .shown(
                "-> to",
                &FORM.request(6, "label", &[any(&TypeCode::wstring(0), &json!("x"))]),
            )
            .replace("socket 7", "socket 8")
        + &FORM.shown("-> to", &FORM.results(6, &[string("north")]))
        + &FORM.shown("<- from", &FORM.results(6, &[Any::new(&1.5_f64).unwrap()]))
        + &FORM.shown("<- from", &FORM.results(6, &[Any::new(&1.5_f64).unwrap()]));
    assert_eq!(
        added(&log),
        [
            "payload -> label: wstring text = \"x\"",
            "payload -> _get_name: string $result = \"north\"",
            "payload <- _get_limit: double $result = 1.5",
            "payload <- request 6: the log does not hold the request that this replies to",
        ]
    );
}

#[test]
fn fragments_are_put_together() {
    let list = any(
        &type_code("Plant::Readings"),
        &JsonValue::Array(vec![readings()[0].clone(); 20]),
    );
    let whole = FORM.request(4, "store", &[Any::new(&7_u8).unwrap(), list]);
    // Not all of its arguments: the length shows that the bytes were joined as they were.
    let pieces: Vec<Vec<u8>> = split(&whole, 160)
        .map(|piece| [&*piece.header, piece.body].concat())
        .collect();
    assert!(pieces.len() > 3, "{}", pieces.len());
    for hex in [false, true] {
        let form = Form { hex, ..FORM };
        let log: String = pieces.iter().map(|one| form.shown("-> to", one)).collect();
        let (cut, entire) = (added(&log), added(&form.shown("-> to", &whole)));
        assert_eq!(cut, entire);
        assert!(cut[0].contains("`more`"), "{cut:?}");
        let late: String = pieces[1..]
            .iter()
            .map(|one| form.shown("-> to", one))
            .collect();
        let late = added(&late);
        assert!(!late.is_empty());
        for line in late {
            assert_eq!(
                line,
                "payload -> request 4: a fragment whose message cannot be put together from this log"
            );
        }
    }
    let label = [any(&TypeCode::wstring(0), &json!("x".repeat(500)))];
    let whole = FORM.request(6, "label", &label);
    let pieces = split(&whole, 160).map(|piece| [&*piece.header, piece.body].concat());
    let log: String = pieces.map(|one| FORM.shown("-> to", &one)).collect();
    assert_eq!(
        added(&log),
        [format!(
            "payload -> label: wstring text = \"{}\"",
            "x".repeat(500)
        )]
    );
}

#[test]
fn fragments_of_giop_1_1_that_an_orb_joined_are_aligned_anew() {
    let form = Form {
        version: GiopVersion::V1_1,
        ..FORM
    };
    // Cut after the first byte: the double after it is aligned to a position behind a fragment's
    // header.
    let mut message = form.request_with(
        8,
        "alarm",
        &[Any::new(&3_u16).unwrap()],
        &[],
        ResponseFlags::NONE,
    );
    let seam = message.len();
    // 12 octets into a fragment, 4 more are padding.
    message.extend_from_slice(&[0; 4]);
    message.extend_from_slice(&0.25_f64.to_le_bytes());
    let size = u32::try_from(message.len() - 12).unwrap();
    message[8..12].copy_from_slice(&size.to_le_bytes());
    let plain = form.shown("<- from", &message);
    let joined = plain.replacen(PEER, &format!("{PEER}, joined at {seam}"), 1);
    assert_eq!(
        added(&joined),
        [
            "payload <- alarm: unsigned short number = 3",
            "payload <- alarm: double level = 0.25",
        ]
    );
}

#[test]
fn json_is_one_object_a_message() {
    let reply = FORM.results(4, &[string("fine")]);
    let log = FORM.shown("-> to", &FORM.request(4, "status", &[string("all")]))
        + "noise\n"
        + &FORM.shown("<- from", &reply)
        + &FORM.shown(
            "-> to",
            &FORM.request(6, "reset", &[Any::new(&5_i32).unwrap()]),
        )
        + &FORM.shown("<- from", &FORM.results(6, &[]))
        + &FORM.shown("-> to", &FORM.request(8, "explode", &[]));
    let said = |direction: &str, message: &str, id: u32, operation: &str| json!({"direction": direction, "peer": "iiop://127.0.0.1:5000", "socket": 7, "message": message, "id": id, "operation": operation});
    let with = |mut said: JsonValue, more: JsonValue| {
        let (said_map, more) = (said.as_object_mut().unwrap(), more.as_object().unwrap());
        said_map.extend(more.clone());
        said
    };
    let both = |content: JsonValue| {
        let of = |name: &str| with(json!({ "interface": name }), content.clone());
        json!({"candidates": [of("Plant::Boiler"), of("Plant::Boat")]})
    };
    let expected = [
        with(
            said("sent", "request", 4, "status"),
            both(json!({"arguments": {"which": "all"}})),
        ),
        with(
            said("received", "reply", 4, "status"),
            both(json!({"result": "fine", "arguments": {}})),
        ),
        with(
            said("sent", "request", 6, "reset"),
            json!({"interface": "Plant::Boiler", "arguments": {"delay": 5}}),
        ),
        with(
            said("received", "reply", 6, "reset"),
            json!({"interface": "Plant::Boiler", "result": null, "arguments": {}}),
        ),
        with(
            said("sent", "request", 8, "explode"),
            json!({"error": "no operation of this name is declared"}),
        ),
    ];
    assert_eq!(objects(&log), expected);
}
