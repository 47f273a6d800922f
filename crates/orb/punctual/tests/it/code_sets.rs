//! Code sets over the wire: the client's calls use those that a server's reference announces.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::policy::CharCodeSet;
use punctual::stub::{Block, ByteOrder, Coding, Encoder, Marshal, Operation, Unmarshal};
use punctual::{
    Char, CompletionStatus, Interface, OrbConfig, Policy, SetOverride, SystemExceptionKind as Kind,
    minor,
};
use punctual_cdr::{GiopVersion, NarrowCodeSet};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::{
    MessageHeader, MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags,
    ServiceContexts, SystemExceptionBody, Target, align_body, begin_message, finish_message,
    message_decoder,
};
use punctual_ior::{CodeSetComponent, CodeSetComponentInfo, IiopProfile, TaggedComponent, tags};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, Pair, watchdog};

const UTF_16: u32 = 0x0001_0109;

/// Returns a reference that announces these code sets for narrow text, the native one first.
fn announcing(pair: &Pair, narrow: &[u32]) -> Echo {
    let (native, conversion) = narrow.split_first().unwrap();
    announcing_both(pair, Some(((*native, conversion), UTF_16)))
}

/// Returns a reference that announces code sets for narrow and wide text; with `None`, it announces
/// none.
fn announcing_both(pair: &Pair, code_sets: Option<((u32, &[u32]), u32)>) -> Echo {
    let info = code_sets.map(|((native, conversion), wide)| CodeSetComponentInfo {
        char_data: CodeSetComponent {
            native,
            conversion: conversion.to_vec(),
        },
        wchar_data: CodeSetComponent {
            native: wide,
            conversion: Vec::new(),
        },
    });
    let mut ior = pair.echo.as_object().ior().clone();
    for tagged in &mut ior.profiles {
        let mut profile = IiopProfile::decode(&tagged.data).unwrap();
        let code_sets = tags::component::CODE_SETS;
        profile.components.retain(|one| one.tag != code_sets);
        let component = info.as_ref().map(TaggedComponent::code_sets);
        profile.components.extend(component.transpose().unwrap());
        *tagged = profile
            .to_tagged(punctual::stub::ByteOrder::NATIVE)
            .unwrap();
    }
    let text = ior.stringify(punctual::stub::ByteOrder::NATIVE).unwrap();
    let object = pair.client.string_to_object(&text).unwrap();
    Echo::from_object(object)
}

#[test]
fn text_travels_in_the_code_set_that_the_server_announces() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    for (id, text) in [
        (0x0001_000f, "5 €"),
        (0x1002_04e3, "Мир"),
        (0x0003_0010, "日本"),
        (0x0500_0011, "ソ表"),
        (0x1002_0570, "中文 😀"),
    ] {
        // Another connection each time: code sets are negotiated once for each.
        let echo = announcing(&pair, &[id]);
        assert_eq!(echo.text(text).unwrap(), text, "{id:#x}");
    }
}

#[test]
fn wide_text_is_refused_by_what_the_reference_says_and_by_what_the_version_has() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    assert_eq!(pair.echo.wide('€').unwrap(), '€');
    let refused = |echo: &Echo| {
        let refused = echo.wide('€').unwrap_err();
        assert_eq!(refused.completed(), CompletionStatus::No);
        (refused.kind(), refused.minor())
    };
    let silent = announcing_both(&pair, None);
    assert_eq!(refused(&silent), (Kind::InvObjref, minor::NO_CODE_SETS));
    let narrow_alone = announcing_both(&pair, Some(((0x0001_0001, &[]), 0)));
    let expected = (Kind::InvObjref, minor::WIDE_NOT_SUPPORTED);
    assert_eq!(refused(&narrow_alone), expected);
    let old = Pair::with(|_| {}, |config| config.giop_version = GiopVersion::V1_0);
    let expected = (Kind::Marshal, minor::WIDE_ARGUMENT_IN_GIOP_1_0);
    assert_eq!(refused(&old.echo), expected);
}

#[test]
fn wide_text_to_a_forwarded_reference_is_refused_by_what_that_one_says() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let (pair, elsewhere) = (Pair::new(), Pair::new());
    assert_eq!(pair.echo.wide('€').unwrap(), '€');
    let narrow_alone = Some(((0x0001_0001, [].as_slice()), 0));
    for (announced, minor) in [
        (None, minor::NO_CODE_SETS),
        (narrow_alone, minor::WIDE_NOT_SUPPORTED),
    ] {
        let goal = announcing_both(&elsewhere, announced);
        let here: Echo = pair
            .poa
            .activate(Arc::new(support::EchoImpl::default()))
            .unwrap();
        pair.poa.forward(&here, &goal).unwrap();
        let echo = pair.as_client(&here);
        // At first the forward is not known yet; later calls use the cached path.
        for _ in 0..3 {
            let refused = echo.wide('€').unwrap_err();
            assert_eq!(refused.completed(), CompletionStatus::No);
            let expected = (Kind::InvObjref, minor);
            assert_eq!((refused.kind(), refused.minor()), expected);
            assert_eq!(echo.long(1).unwrap(), 1);
        }
    }
}

#[test]
fn a_character_that_the_code_set_lacks_is_refused_before_the_call() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    let echo = announcing(&pair, &[0x0001_0005]);
    assert_eq!(echo.text("Мир").unwrap(), "Мир");
    let refused = echo.text("日本").unwrap_err();
    assert_eq!(refused.kind(), Kind::DataConversion);
    assert_eq!(refused.completed(), CompletionStatus::No);
    const OPERATION: Operation = Operation::two_way("text");
    let character = Char::try_from('ä').unwrap();
    let sent = echo
        .as_object()
        .invoke(&OPERATION, |out| character.marshal(out), String::unmarshal);
    assert_eq!(sent.unwrap_err().kind(), Kind::DataConversion);
}

#[test]
fn without_a_code_set_in_common_both_fall_back_or_nothing_is_called() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    // EBCDIC is a compatible code set, as it has letters, so that both sides fall back to UTF-8.
    let ebcdic = announcing(&pair, &[0x1002_0025]);
    assert_eq!(ebcdic.text("Grüße").unwrap(), "Grüße");
    let unheard_of = announcing(&pair, &[0x7fff_0001]);
    let refused = unheard_of.text("a").unwrap_err();
    assert_eq!(refused.kind(), Kind::CodesetIncompatible);
    assert_eq!(refused.completed(), CompletionStatus::No);
    // A code set that both convert is used instead of the native one.
    let either = announcing(&pair, &[0x7fff_0001, 0x0001_0002]);
    assert_eq!(either.text("Łódź").unwrap(), "Łódź");
}

/// Checks text whose characters ISO 8859-1 has, and text with others.
fn check_latin_1(echo: &Echo) {
    assert_eq!(echo.text("grüß dich").unwrap(), "grüß dich");
    let error = echo.text("世界").unwrap_err();
    assert_eq!(error.kind(), Kind::DataConversion, "{error}");
}

#[test]
fn an_orb_may_prefer_iso_8859_1() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let latin = |config: &mut OrbConfig| config.char_code_set = CharCodeSet::Iso8859_1;
    let pair = Pair::with(|_| {}, latin);
    check_latin_1(&pair.echo);
    // A server's references name it first: other ORBs convert to it.
    let pair = Pair::with(latin, |_| {});
    let profile = pair.echo.as_object().ior().iiop_profiles().next();
    let component = profile.unwrap().unwrap().code_sets().unwrap().char_data;
    assert_eq!(component.native, NarrowCodeSet::Iso8859_1.id());
    assert_eq!(component.conversion, [NarrowCodeSet::Utf8.id()]);
    assert_eq!(pair.echo.text("世界").unwrap(), "世界");
}

#[test]
fn a_reference_may_prefer_iso_8859_1() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    assert_eq!(pair.echo.text("世界").unwrap(), "世界");
    let policy = Policy::CharCodeSet(CharCodeSet::Iso8859_1);
    let object = pair.echo.as_object();
    let object = object.set_policy_overrides(&[policy], SetOverride::Add);
    check_latin_1(&Echo::from_object(object.unwrap()));
    assert_eq!(pair.echo.text("世界").unwrap(), "世界");
}

/// Sends a GIOP 1.2 request whose context names these transmission code sets; returns the reply's
/// status and its body, or the kind and minor code of its exception.
fn called(
    pair: &Pair,
    operation: &str,
    (char_data, wchar_data): (u32, u32),
    arguments: impl FnOnce(&mut Encoder<'_>),
) -> Result<Vec<u8>, (Kind, u32)> {
    let chosen = CodeSetContext {
        char_data,
        wchar_data,
    };
    let (chosen, key) = (chosen.encode(), support::object_key(pair));
    let contexts: [(u32, &[u8]); 1] = [(1, &chosen)];
    let coding = Coding::default();
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, coding);
    begin_message(&mut out, MessageKind::Request);
    let header = RequestHeader {
        request_id: 1,
        response: ResponseFlags::SYNC_WITH_TARGET,
        target: Target::ObjectKey(&key),
        operation,
        contexts: ServiceContexts::new(&contexts),
    };
    header.encode(&mut out).unwrap();
    align_body(&mut out);
    arguments(&mut out);
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    let (_, port) = pair.server.endpoints()[0].host_and_port().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(&block.into_vec()).unwrap();
    let mut reply = vec![0; 12];
    stream.read_exact(&mut reply).unwrap();
    let header = MessageHeader::parse(reply.first_chunk().unwrap()).unwrap();
    reply.resize(12 + header.size as usize, 0);
    stream.read_exact(&mut reply[12..]).unwrap();
    let mut input = message_decoder(&header, &reply, coding);
    match ReplyHeader::decode(&mut input).unwrap().status {
        ReplyStatus::NoException => Ok(input.rest().to_vec()),
        _ => {
            let body = SystemExceptionBody::decode(&mut input).unwrap();
            Err((
                Kind::from_repository_id(body.repository_id).unwrap(),
                body.minor,
            ))
        }
    }
}

#[test]
fn code_sets_that_were_not_offered_fail_where_their_text_is_used() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    let refused = Err((Kind::CodesetIncompatible, minor::CODE_SET_UNSUPPORTED));
    // WebLogic and the JDK: ASCII, and UTF-8 for wide text; nothing at all.
    for chosen in [(0x0001_0020, 0x0501_0001), (0, 0)] {
        let long = called(&pair, "long", chosen, |out| out.put_i32(7));
        assert_eq!(long.unwrap(), 7_i32.to_ne_bytes(), "{chosen:?}");
        let text = called(&pair, "text", chosen, |out| out.put_string("abc").unwrap());
        assert!(text.unwrap().ends_with(b"abc\0"), "{chosen:?}");
    }
    let wide = |chosen| called(&pair, "wide", chosen, |out| out.put_wchar('x').unwrap());
    assert_eq!(wide((0x0001_0020, 0x0501_0001)), refused);
    assert_eq!(
        wide((0, 0)),
        Err((Kind::BadParam, minor::WIDE_NOT_NEGOTIATED))
    );
    // Narrow text is in nearly every request.
    let narrow = called(&pair, "long", (0x7fff_0001, 0), |out| out.put_i32(7));
    assert_eq!(narrow, refused);
}
