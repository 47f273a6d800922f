//! Tests of text in each version and code set (CORBA 3.3 part 2, §9.3.1.6 and §9.3.2.7).

#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use punctual_cdr::{
    Block, ByteOrder, CdrError, Char, CodeSets, Coding, Decoder, Encoder, GiopVersion, Limits,
    Marshal, NarrowCodeSet, Unmarshal, WideCodeSet, marshal_bounded_string,
    marshal_bounded_wstring, unmarshal_bounded, unmarshal_bounded_string,
    unmarshal_bounded_wstring,
};

use ByteOrder::{Big, Little};
use GiopVersion::{V1_0, V1_1, V1_2};

const LATIN: CodeSets = CodeSets::UNNEGOTIATED;
const UTF: CodeSets = CodeSets::NATIVE;

fn coding(version: GiopVersion, code_sets: CodeSets) -> Coding<'static> {
    Coding {
        version,
        code_sets,
        ..Coding::default()
    }
}

fn written(
    order: ByteOrder,
    coding: Coding<'static>,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<Vec<u8>, CdrError> {
    let mut out = Encoder::new(Block::default(), order, coding);
    write(&mut out)?;
    Ok(out.into_block().into_vec())
}

#[test]
fn a_string_counts_its_nul() {
    let bytes = written(Big, coding(V1_2, UTF), |out| out.put_string("abc")).unwrap();
    assert_eq!(bytes, b"\0\0\0\x04abc\0");
    let bytes = written(Little, coding(V1_2, UTF), |out| out.put_string("")).unwrap();
    assert_eq!(bytes, b"\x01\0\0\0\0");
}

#[test]
fn a_string_has_the_octets_of_its_code_set() {
    let text = "Grüße";
    let bytes = written(Big, coding(V1_2, UTF), |out| out.put_string(text)).unwrap();
    assert_eq!(bytes, b"\0\0\0\x08Gr\xc3\xbc\xc3\x9fe\0");
    let mut input = Decoder::new(&bytes, Big, coding(V1_2, UTF));
    assert!(matches!(input.get_string(), Ok(Cow::Borrowed(read)) if read == text));

    let bytes = written(Big, coding(V1_0, LATIN), |out| out.put_string(text)).unwrap();
    assert_eq!(bytes, b"\0\0\0\x06Gr\xfc\xdfe\0");
    let mut input = Decoder::new(&bytes, Big, coding(V1_0, LATIN));
    assert!(matches!(input.get_string(), Ok(Cow::Owned(read)) if read == text));
}

#[test]
fn ascii_is_borrowed_in_either_code_set() {
    let bytes = b"\0\0\0\x03ab\0";
    for sets in [UTF, LATIN] {
        let read = Decoder::new(bytes, Big, coding(V1_2, sets)).get_string();
        assert!(matches!(read, Ok(Cow::Borrowed("ab"))));
    }
}

#[test]
fn text_that_a_code_set_lacks_is_refused_when_sent() {
    let put = |sets, text| written(Big, coding(V1_2, sets), |out| out.put_string(text));
    assert_eq!(put(LATIN, "€"), Err(CdrError::CharacterNotInCodeSet));
    assert_eq!(put(LATIN, "a\0b"), Err(CdrError::InnerNul));
    assert_eq!(put(UTF, "a\0b"), Err(CdrError::InnerNul));
    assert!(put(UTF, "€").is_ok());
}

#[test]
fn malformed_strings_are_told_apart() {
    let read = |bytes: &[u8]| {
        Decoder::new(bytes, Big, coding(V1_2, UTF))
            .get_string()
            .map(Cow::into_owned)
    };
    assert_eq!(read(b"\0\0\0\0"), Ok(String::new()));
    assert_eq!(read(b"\0\0\0\x02ab"), Err(CdrError::StringWithoutNul));
    assert_eq!(read(b"\0\0\0\x03\0b\0"), Err(CdrError::InnerNul));
    assert_eq!(read(b"\0\0\0\x03\xc3\x28\0"), Err(CdrError::BadCharacter));
    assert_eq!(
        read(b"\0\0\0\x09ab\0"),
        Err(CdrError::Truncated { needed: 9, left: 3 })
    );
    assert!(matches!(
        read(b"\xff\xff\xff\xffab\0"),
        Err(CdrError::LengthOverLimit { .. })
    ));
}

#[test]
fn the_limit_on_strings_counts_without_the_nul_on_both_sides() {
    let limits = Limits {
        string: 3,
        ..Limits::default()
    };
    let coding = Coding::new(V1_2, &limits);
    for (text, fits) in [("abc", true), ("abcd", false)] {
        let mut out = Encoder::new(Block::default(), Big, coding);
        assert_eq!(out.put_string(text).is_ok(), fits);
        let mut out = Encoder::new(Block::default(), Big, Coding::default());
        out.put_string(text).unwrap();
        let bytes = out.into_block();
        assert_eq!(Decoder::new(&bytes, Big, coding).get_string().is_ok(), fits);
    }
}

#[test]
fn a_char_is_one_octet_that_the_code_set_has() {
    let umlaut = Char::try_from('ü').unwrap();
    let put = |sets, values: &[Char]| written(Big, coding(V1_2, sets), |out| values.marshal(out));
    assert_eq!(put(LATIN, &[umlaut]).unwrap(), b"\0\0\0\x01\xfc");
    assert_eq!(put(UTF, &[umlaut]), Err(CdrError::CharacterNotInCodeSet));
    let bytes = b"\0\0\0\x02a\xfc";
    let read = |sets| Vec::<Char>::unmarshal(&mut Decoder::new(bytes, Big, coding(V1_2, sets)));
    assert_eq!(read(LATIN).unwrap(), [Char(b'a'), umlaut]);
    assert_eq!(read(UTF), Err(CdrError::BadCharacter));
    let mut input = Decoder::new(&bytes[5..], Big, coding(V1_2, UTF));
    assert_eq!(input.clone().get_char(), Err(CdrError::BadCharacter));
    let one = <[Char; 1]>::unmarshal(&mut input);
    assert_eq!(one, Err(CdrError::BadCharacter));
    assert_eq!(Char::try_from('€'), Err(CdrError::CharacterNotInCodeSet));
    assert_eq!(umlaut.to_string(), "ü");
}

#[test]
fn wide_text_in_1_2_counts_octets_and_is_big_endian_whatever_the_message_is() {
    let bytes = written(Little, coding(V1_2, UTF), |out| out.put_wstring("a€😀")).unwrap();
    assert_eq!(bytes, b"\x08\0\0\0\0a\x20\xac\xd8\x3d\xde\x00");
    let read = Decoder::new(&bytes, Little, coding(V1_2, UTF)).get_wstring();
    assert_eq!(read.unwrap(), "a€😀");
}

#[test]
fn a_byte_order_mark_is_obeyed_in_1_2() {
    let read = |bytes: &[u8]| Decoder::new(bytes, Big, coding(V1_2, UTF)).get_wstring();
    assert_eq!(read(b"\0\0\0\x04\xfe\xff\0a").unwrap(), "a");
    assert_eq!(read(b"\0\0\0\x04\xff\xfea\0").unwrap(), "a");
    assert_eq!(read(b"\0\0\0\0").unwrap(), "");
}

#[test]
fn text_that_begins_like_a_byte_order_mark_keeps_its_first_character() {
    for text in ["\u{feff}a", "\u{fffe}a", "\u{feff}"] {
        let bytes = written(Big, coding(V1_2, UTF), |out| out.put_wstring(text)).unwrap();
        let read = Decoder::new(&bytes, Big, coding(V1_2, UTF)).get_wstring();
        assert_eq!(read.unwrap(), text);
    }
}

#[test]
fn wide_text_in_1_1_counts_characters_with_a_nul_in_the_order_of_the_message() {
    let wide = CodeSets::NATIVE;
    let bytes = written(Little, coding(V1_1, wide), |out| out.put_wstring("a€")).unwrap();
    assert_eq!(bytes, b"\x03\0\0\0a\0\xac\x20\0\0");
    let bytes = written(Big, coding(V1_1, wide), |out| out.put_wstring("a€")).unwrap();
    assert_eq!(bytes, b"\0\0\0\x03\0a\x20\xac\0\0");
    let read = Decoder::new(&bytes, Big, coding(V1_1, wide)).get_wstring();
    assert_eq!(read.unwrap(), "a€");
    let bytes = written(Big, coding(V1_1, wide), |out| {
        out.put_u8(1);
        out.put_wchar('€')
    });
    assert_eq!(bytes.unwrap(), b"\x01\0\x20\xac");
}

#[test]
fn malformed_wide_text_is_told_apart() {
    let read = |version, bytes: &[u8]| Decoder::new(bytes, Big, coding(version, UTF)).get_wstring();
    assert_eq!(read(V1_2, b"\0\0\0\x03\0aa"), Err(CdrError::BadCharacter));
    assert_eq!(
        read(V1_2, b"\0\0\0\x02\xd8\x3d"),
        Err(CdrError::BadCharacter)
    );
    assert_eq!(read(V1_2, b"\0\0\0\x02\0\0"), Err(CdrError::InnerNul));
    assert_eq!(
        read(V1_1, b"\0\0\0\x01\0a"),
        Err(CdrError::StringWithoutNul)
    );
    assert_eq!(read(V1_1, b"\0\0\0\x02\0\0\0\0"), Err(CdrError::InnerNul));
    assert_eq!(read(V1_1, b"\0\0\0\0"), Ok(String::new()));
    for bytes in [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff"] {
        assert!(matches!(
            read(V1_1, bytes),
            Err(CdrError::LengthOverLimit { .. })
        ));
        assert!(matches!(
            read(V1_2, bytes),
            Err(CdrError::LengthOverLimit { .. })
        ));
    }
}

#[test]
fn a_wchar_in_1_2_has_its_length_before_it() {
    let cases: [(char, &[u8]); 4] = [
        ('a', b"\x02\0a"),
        ('€', b"\x02\x20\xac"),
        ('\u{feff}', b"\x02\xfe\xff"),
        ('😀', b"\x04\xd8\x3d\xde\x00"),
    ];
    for (character, expected) in cases {
        let bytes = written(Little, coding(V1_2, UTF), |out| character.marshal(out)).unwrap();
        assert_eq!(bytes, expected);
        let read = char::unmarshal(&mut Decoder::new(&bytes, Little, coding(V1_2, UTF)));
        assert_eq!(read, Ok(character));
    }
    let read = |bytes: &[u8]| Decoder::new(bytes, Big, coding(V1_2, UTF)).get_wchar();
    assert_eq!(read(b"\x04\xff\xfea\0"), Ok('a'));
    assert_eq!(read(b"\x04\xfe\xff\0a"), Ok('a'));
    for bad in [
        &b"\0"[..],
        b"\x01a",
        b"\x02\xd8\x3d",
        b"\x03\0a\0",
        b"\x04\0a\0b",
        b"\x04\xd8\x3d\0a",
    ] {
        assert_eq!(read(bad), Err(CdrError::BadCharacter), "{bad:?}");
    }
}

#[test]
fn what_version_or_code_set_cannot_carry_is_refused() {
    let put = |version, code_sets, character| {
        written(Big, coding(version, code_sets), |out| {
            out.put_wchar(character)
        })
    };
    let ucs2 = CodeSets {
        narrow: NarrowCodeSet::Utf8,
        wide: Some(WideCodeSet::Ucs2),
    };
    assert_eq!(put(V1_0, UTF, 'a'), Err(CdrError::WideInGiop10));
    assert_eq!(put(V1_2, LATIN, 'a'), Err(CdrError::WideNotNegotiated));
    assert_eq!(put(V1_1, UTF, '😀'), Err(CdrError::CharacterNotInCodeSet));
    assert_eq!(put(V1_2, ucs2, '😀'), Err(CdrError::CharacterNotInCodeSet));
    let text = written(Big, coding(V1_2, ucs2), |out| out.put_wstring("a😀"));
    assert_eq!(text, Err(CdrError::CharacterNotInCodeSet));
    let text = written(Big, coding(V1_2, UTF), |out| out.put_wstring("a\0"));
    assert_eq!(text, Err(CdrError::InnerNul));
    let bytes = b"\0\0\0\x02\0a";
    let read = |version, sets| Decoder::new(bytes, Big, coding(version, sets)).get_wstring();
    assert_eq!(read(V1_0, UTF), Err(CdrError::WideInGiop10));
    assert_eq!(read(V1_2, LATIN), Err(CdrError::WideNotNegotiated));
}

#[test]
fn bounds_count_characters() {
    let exceeded = Err(CdrError::BoundExceeded {
        length: 4,
        bound: 3,
    });
    let put = |text| {
        written(Big, coding(V1_2, UTF), |out| {
            marshal_bounded_string(text, 3, out)
        })
    };
    let bytes = put("äöü").unwrap();
    assert_eq!(put("abcd"), exceeded);
    let input = &mut Decoder::new(&bytes, Big, coding(V1_2, UTF));
    assert_eq!(
        unmarshal_bounded_string(&mut input.clone(), 3).unwrap(),
        "äöü"
    );
    assert!(unmarshal_bounded_string(input, 2).is_err());

    let put = |text| {
        written(Big, coding(V1_2, UTF), |out| {
            marshal_bounded_wstring(text, 3, out)
        })
    };
    let bytes = put("😀öü").unwrap();
    assert_eq!(put("abcd"), exceeded);
    let input = &mut Decoder::new(&bytes, Big, coding(V1_2, UTF));
    assert_eq!(
        unmarshal_bounded_wstring(&mut input.clone(), 3).unwrap(),
        "😀öü"
    );
    assert!(unmarshal_bounded_wstring(input, 2).is_err());

    let read = unmarshal_bounded::<u8>(
        &mut Decoder::new(b"\0\0\0\x04abcd", Big, coding(V1_2, UTF)),
        3,
    );
    assert_eq!(read.map(|_| Vec::new()), exceeded);
}

/// Numbers of code sets in the registry, with a text and its encoding there.
const REGISTERED: [(u32, &str, &[u8]); 12] = [
    (0x0001_0002, "Łódź", b"\xa3\xf3d\xbc"),
    (0x0001_0005, "Мир", b"\xbc\xd8\xe0"),
    (0x0001_0007, "Ωμ", b"\xd9\xec"),
    (0x0001_0009, "\u{85}İş", b"\x85\xdd\xfe"),
    (0x0001_000b, "\u{80}ไทย", b"\x80\xe4\xb7\xc2"),
    (0x0001_000f, "5 €", b"5 \xa4"),
    (0x1002_04e4, "“€”", b"\x93\x80\x94"),
    (0x0003_0010, "日本", b"\xc6\xfc\xcb\xdc"),
    (0x0500_0011, "ソ表", b"\x83\x5c\x95\x5c"),
    (0x1002_0570, "中😀", b"\xd6\xd0\x94\x39\xfc\x36"),
    (0x0004_000a, "한", b"\xc7\xd1"),
    (0x0001_0020, "plain", b"plain"),
];

fn registered(id: u32) -> CodeSets {
    CodeSets {
        narrow: NarrowCodeSet::from_id(id).unwrap(),
        wide: None,
    }
}

#[test]
fn text_travels_in_every_code_set_of_the_registry_that_we_have() {
    for (id, text, octets) in REGISTERED {
        let coding = coding(V1_2, registered(id));
        let bytes = written(Big, coding, |out| out.put_string(text)).unwrap();
        let (length, rest) = bytes.split_first_chunk::<4>().unwrap();
        assert_eq!(u32::from_be_bytes(*length) as usize, octets.len() + 1);
        assert_eq!(rest, [octets, b"\0"].concat(), "{text}");
        let read = Decoder::new(&bytes, Big, coding).get_string().unwrap();
        assert_eq!(read, text);
    }
    for code_set in NarrowCodeSet::all() {
        assert_eq!(NarrowCodeSet::from_id(code_set.id()), Some(code_set));
    }
}

#[test]
fn what_a_registered_code_set_lacks_is_refused() {
    for (id, _, _) in REGISTERED {
        let put = written(Big, coding(V1_2, registered(id)), |out| {
            out.put_string("a\u{10ffff}")
        });
        // GB18030 has all of Unicode.
        assert_eq!(put.is_ok(), id == 0x1002_0570, "{id:#x}");
    }
    let read = |id, octets: &[u8]| {
        let mut bytes = u32::try_from(octets.len() + 1)
            .unwrap()
            .to_be_bytes()
            .to_vec();
        bytes.extend([octets, b"\0"].concat());
        let read = Decoder::new(&bytes, Big, coding(V1_2, registered(id))).get_string();
        read.map(Cow::into_owned)
    };
    assert_eq!(read(0x0001_0020, b"\x80"), Err(CdrError::BadCharacter));
    assert_eq!(read(0x0003_0010, b"\xc6"), Err(CdrError::BadCharacter));
    assert_eq!(read(0x0001_0003, b"\xa5"), Err(CdrError::BadCharacter));
    // A sequence that looks like a byte-order mark is text.
    assert_eq!(read(0x1002_04e4, b"\xef\xbb\xbf"), Ok("ï»¿".to_owned()));
}

#[test]
fn a_char_is_one_octet_of_its_code_set_and_one_of_latin_1() {
    let cyrillic = coding(V1_2, registered(0x0001_0005));
    let section = Char::try_from('§').unwrap();
    let chars = [section, Char(b'a')];
    let bytes = written(Big, cyrillic, |out| chars.marshal(out)).unwrap();
    assert_eq!(bytes, b"\xfda");
    let input = &mut Decoder::new(&bytes, Big, cyrillic);
    assert_eq!(<[Char; 2]>::unmarshal(&mut input.clone()), Ok(chars));
    assert_eq!(Char::unmarshal_vec(input, 2), Ok(chars.to_vec()));
    let no_latin = &mut Decoder::new(b"\xbc", Big, cyrillic);
    assert_eq!(no_latin.get_char(), Err(CdrError::BadCharacter));
    let no_cyrillic = written(Big, cyrillic, |out| Char(0xe4).marshal(out));
    assert_eq!(no_cyrillic, Err(CdrError::CharacterNotInCodeSet));
    let two_octets = written(Big, coding(V1_2, registered(0x0003_0010)), |out| {
        section.marshal(out)
    });
    assert_eq!(two_octets, Err(CdrError::CharacterNotInCodeSet));
}
