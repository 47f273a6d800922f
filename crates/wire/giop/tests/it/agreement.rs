//! Tests of negotiated code sets, and of messages shown to people.

#![allow(clippy::unwrap_used)]

use crate::support;

use punctual_cdr::{ByteOrder, CodeSets, GiopVersion, NarrowCodeSet, WideCodeSet};
use punctual_giop::code_sets::{
    CodeSetContext, Incompatible, Unsupported, from_context, negotiate, our_component,
};
use punctual_giop::trace::{TraceOptions, describe};
use punctual_giop::{
    MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags, ServiceContexts,
    SystemExceptionBody, Target, align_body,
};
use punctual_ior::{CodeSetComponent, CodeSetComponentInfo};
use support::{hex, message};

const LATIN: u32 = 0x0001_0001;
const UCS2: u32 = 0x0001_0100;
const UTF16: u32 = 0x0001_0109;
const UTF8: u32 = 0x0501_0001;
const EUC: u32 = 0x0003_0010;
const LATIN_9: u32 = 0x0001_000f;
const EBCDIC: u32 = 0x1002_0025;
/// Code set of an organization unknown to the registry.
const NOWHERE: u32 = 0x7fff_0001;

fn narrow(id: u32) -> NarrowCodeSet {
    NarrowCodeSet::from_id(id).unwrap()
}

fn server(narrow: &[u32], wide: &[u32]) -> CodeSetComponentInfo {
    let component = |sets: &[u32]| CodeSetComponent {
        native: sets.first().copied().unwrap_or(0),
        conversion: sets.iter().skip(1).copied().collect(),
    };
    CodeSetComponentInfo {
        char_data: component(narrow),
        wchar_data: component(wide),
    }
}

#[test]
fn the_code_set_that_loses_nothing_is_preferred_then_the_servers_own() {
    use NarrowCodeSet::{Iso8859_1, Utf8};
    use WideCodeSet::{Ucs2, Utf16};
    let cases = [
        (server(&[UTF8], &[UTF16]), Utf8, Some(Utf16)),
        // omniORB, and TAO.
        (server(&[LATIN, UTF8], &[UTF16, UTF16]), Utf8, Some(Utf16)),
        (server(&[LATIN], &[UTF16]), Iso8859_1, Some(Utf16)),
        (server(&[EUC, LATIN], &[UCS2]), narrow(EUC), Some(Ucs2)),
        (
            server(&[EBCDIC, LATIN_9], &[UCS2]),
            narrow(LATIN_9),
            Some(Ucs2),
        ),
        // No code set in common, only characters.
        (server(&[EBCDIC], &[EUC]), Utf8, Some(Utf16)),
        (
            server(&[EUC, LATIN, UTF8], &[EUC, UCS2, UTF16]),
            Utf8,
            Some(Utf16),
        ),
        (server(&[LATIN], &[]), Iso8859_1, None),
        (server(&[LATIN], &[NOWHERE]), Iso8859_1, None),
    ];
    for (component, narrow, wide) in cases {
        let agreed = negotiate(Some(&component), NarrowCodeSet::Utf8);
        assert_eq!(agreed, Ok(CodeSets { narrow, wide }), "{component:?}");
    }
    assert_eq!(
        negotiate(None, NarrowCodeSet::Utf8),
        Ok(CodeSets::UNNEGOTIATED)
    );
    assert_eq!(
        negotiate(
            Some(&our_component(NarrowCodeSet::Utf8)),
            NarrowCodeSet::Utf8
        ),
        Ok(CodeSets::NATIVE)
    );
    assert_eq!(
        negotiate(Some(&server(&[NOWHERE], &[UTF16])), NarrowCodeSet::Utf8),
        Err(Incompatible { native: NOWHERE })
    );
}

#[test]
fn a_context_tells_what_was_agreed_on() {
    let context = CodeSetContext::from(CodeSets::NATIVE);
    assert_eq!(from_context(context), Ok(CodeSets::NATIVE));
    assert_eq!(CodeSetContext::decode(&context.encode()), Ok(context));
    let big = CodeSetContext::decode(&hex("00 000000 05010001 00010109"));
    assert_eq!(big, Ok(context));
    let little = CodeSetContext::decode(&hex("01 000000 01000105 09010100"));
    assert_eq!(little, Ok(context));
    let none = CodeSetContext::from(CodeSets::UNNEGOTIATED);
    assert_eq!((none.char_data, none.wchar_data), (LATIN, 0));
    assert_eq!(from_context(none), Ok(CodeSets::UNNEGOTIATED));
    let odd = CodeSetContext {
        char_data: UTF8,
        wchar_data: EUC,
    };
    // Using wide text is what fails then.
    let code_sets = from_context(odd).unwrap();
    assert_eq!(code_sets.narrow, NarrowCodeSet::Utf8);
    assert_eq!(code_sets.wide, Some(WideCodeSet::Unsupported(EUC)));
    assert_eq!(CodeSetContext::from(code_sets), odd);
    let none_at_all = CodeSetContext {
        char_data: 0,
        wchar_data: 0,
    };
    assert_eq!(from_context(none_at_all), Ok(CodeSets::UNNEGOTIATED));
    let unknown = CodeSetContext {
        char_data: NOWHERE,
        wchar_data: 0,
    };
    assert_eq!(from_context(unknown), Err(Unsupported { id: NOWHERE }));
    assert!(CodeSetContext::decode(&hex("01 000000 01000105")).is_err());
}

fn secret_request() -> Vec<u8> {
    message(
        GiopVersion::V1_2,
        ByteOrder::Big,
        MessageKind::Request,
        |out| {
            let agreed = CodeSetContext::from(CodeSets::NATIVE).encode();
            RequestHeader {
                request_id: 4,
                response: ResponseFlags::SYNC_WITH_TARGET,
                target: Target::ObjectKey(b"\0key"),
                operation: "login",
                contexts: ServiceContexts::new(&[(1, &agreed), (15, b"a password")]),
            }
            .encode(out)?;
            align_body(out);
            out.put_string("hunter2")
        },
    )
}

#[test]
fn a_request_is_described_without_what_the_application_sent() {
    let bytes = secret_request();
    let text = describe(&bytes, TraceOptions::default()).to_string();
    assert_eq!(
        text,
        "GIOP 1.2 Request, Big-endian, 88 octets after the header\n  \
         request 4, operation \"login\", a reply is expected (flags 0x03)\n  \
         object key of 4 octets: \"\\x00key\"\n  \
         context 1 (CodeSets): 0x5010001 (UTF-8), 0x10109 (UTF-16)\n  \
         context 0xf (SecurityAttributeService): 10 octets\n  \
         body: 12 octets"
    );
    let options = TraceOptions {
        hex: true,
        payload: false,
    };
    let dump = describe(&bytes, options).to_string();
    assert!(dump.contains("47 49 4f 50 01 02"));
    assert!(dump.contains("octets not shown"));
    // Parts that no line of 16 bytes breaks.
    for secret in ["hunt", "68 75 6e 74", "er2", "ssword"] {
        assert!(!dump.contains(secret), "{dump}");
    }
    let options = TraceOptions {
        hex: true,
        payload: true,
    };
    let dump = describe(&bytes, options).to_string();
    for secret in ["hunt", "68 75 6e 74", "er2", "ssword"] {
        assert!(dump.contains(secret), "{dump}");
    }
}

#[test]
fn a_payload_that_is_asked_for_is_shown_without_a_dump_of_the_whole_message() {
    let options = TraceOptions {
        hex: false,
        payload: true,
    };
    let text = describe(&secret_request(), options).to_string();
    assert!(!text.contains("47 49 4f 50 01 02"), "{text}");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let after = |what: &str| {
        let at = lines
            .iter()
            .position(|line| line.starts_with(what))
            .unwrap();
        lines[at + 1]
    };
    let context = after("context 0xf (SecurityAttributeService): 10 octets");
    assert!(context.starts_with("00000000  61 20 70 61"), "{text}");
    assert!(context.ends_with("a password"), "{text}");
    let body = after("body: 12 octets");
    assert!(
        body.starts_with("00000000  00 00 00 08  68 75 6e 74")
            || body.starts_with("00000000  00 00 00 08 68 75 6e 74"),
        "{text}"
    );
    assert!(body.ends_with("....hunter2."), "{text}");
}

#[test]
fn exceptions_and_nonsense_are_described_too() {
    let bytes = message(
        GiopVersion::V1_0,
        ByteOrder::Little,
        MessageKind::Reply,
        |out| {
            ReplyHeader {
                request_id: 9,
                status: ReplyStatus::SystemException,
                contexts: ServiceContexts::none(),
            }
            .encode(out)?;
            SystemExceptionBody {
                repository_id: "IDL:omg.org/CORBA/MARSHAL:1.0",
                minor: 0x4f4d_0001,
                completed: 1,
            }
            .encode(out)
        },
    );
    let text = describe(&bytes, TraceOptions::default()).to_string();
    assert!(
        text.contains("reply to request 9: SystemException"),
        "{text}"
    );
    assert!(
        text.contains("MARSHAL:1.0, minor code 0x4f4d0001, not completed"),
        "{text}"
    );

    let cut = describe(&bytes[..30], TraceOptions::default()).to_string();
    assert!(cut.contains("only 18 are there"), "{cut}");
    assert!(cut.contains("malformed: the value needs"), "{cut}");
    let nonsense = describe(b"GET / HTTP/1.1\r\n", TraceOptions::default()).to_string();
    assert_eq!(
        nonsense,
        "no GIOP message: the octets are not a GIOP message"
    );
}
