//! Events that stay encoded, against the same ones decoded.

use punctual::any::{TypeBuilder, Value};
use punctual::stub::{Block, ByteOrder, CodeSets, Coding, NarrowCodeSet};
use punctual_constraint::{Constraint, Grammar, Limits};

use super::*;

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

/// Constraints that read all parts of an event, and one that reads what is not there.
const CONSTRAINTS: [&str; 16] = [
    "$domain_name == 'Telecom' and $type_name == 'Alarm' and $event_name == 'lost'",
    "$Priority == 7",
    "$.header.variable_header(Priority) == 7",
    "$.header.variable_header._length == 2",
    "$.filterable_data._length == 6",
    "$.filterable_data[1].name == 'text'",
    "'ext' ~ $.filterable_data[1].value",
    "$number + 1 == 43 and $text == 'some text'",
    "$real > 1.4 and $real < 1.6",
    "$pair.second == 9 and $pair.first == 'one'",
    "exist $within and $within == 3",
    "$.remainder_of_body == 'rest'",
    "3 in $numbers",
    "$pair._type_id == 'Pair' and 're' ~ $.remainder_of_body",
    "exist $absent",
    "$text + 1 == 2",
];

fn property(name: &str, value: Any) -> Property {
    Property {
        name: name.to_owned(),
        value,
    }
}

fn pair() -> Any {
    let mut types = TypeBuilder::default();
    let root = types.structure("IDL:Pair:1.0", "Pair", |types| {
        let (text, number) = (types.string(0), types.primitive(TypeKind::LongLong));
        vec![("first", text), ("second", number)]
    });
    let members = vec![Value::String("one".to_owned()), Value::LongLong(9)];
    Any::of_value(&types.finish(root), &Value::Struct(members)).unwrap()
}

fn alarm() -> StructuredEvent {
    let mut event = StructuredEvent::default();
    let fixed = &mut event.header.fixed_header;
    fixed.event_type.domain_name = "Telecom".to_owned();
    fixed.event_type.type_name = "Alarm".to_owned();
    fixed.event_name = "lost".to_owned();
    event.header.variable_header = vec![
        property("Priority", Any::new(&7_i16).unwrap()),
        property("EventId", Any::new("a1").unwrap()),
    ];
    event.filterable_data = vec![
        property("number", Any::new(&42_i32).unwrap()),
        property("text", Any::new("some text").unwrap()),
        property("real", Any::new(&1.5_f64).unwrap()),
        property("pair", pair()),
        property("within", Any::new(&Any::new(&3_u8).unwrap()).unwrap()),
        property("numbers", Any::new(&vec![1_i32, 2, 3]).unwrap()),
    ];
    event.remainder_of_body = Any::new("rest").unwrap();
    event
}

fn coding(narrow: NarrowCodeSet) -> Coding<'static> {
    Coding {
        code_sets: CodeSets {
            narrow,
            ..CodeSets::NATIVE
        },
        ..Coding::default()
    }
}

/// Returns a message in which `write` writes behind some bytes.
fn message(
    lead: usize,
    order: ByteOrder,
    coding: Coding<'_>,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, coding);
    out.put_bytes(&vec![0xaa; lead]);
    write(&mut out).unwrap();
    out.into_block().into_vec()
}

fn sent(event: &StructuredEvent, lead: usize, order: ByteOrder) -> Vec<u8> {
    message(lead, order, Coding::default(), |out| event.marshal(out))
}

fn received(bytes: &[u8], lead: usize, order: ByteOrder) -> Result<Event, CdrError> {
    let mut input = Decoder::at(bytes, lead, order, Coding::default());
    let event = Event::read(&mut input)?;
    assert_eq!(input.remaining(), 0, "it is read to its end");
    Ok(event)
}

#[test]
fn an_event_that_stays_encoded_is_what_it_was() {
    let event = Event::of_structured(alarm());
    let constraints = CONSTRAINTS.map(|text| {
        let constraint = Constraint::compile(Grammar::ExtendedTcl, text, &Limits::DEFAULT);
        (text, constraint.unwrap())
    });
    let mut met = 0;
    for order in ORDERS {
        for lead in 0..8 {
            let bytes = sent(&alarm(), lead, order);
            let encoded = received(&bytes, lead, order).unwrap();
            assert!(encoded.is_encoded());
            assert_eq!(encoded.to_structured(), alarm());
            assert_eq!(encoded.structured(), &alarm());
            assert_eq!(encoded.any(), event.any());
            assert_eq!(encoded.terms(), event.terms());
            assert_eq!(encoded.id().as_deref(), Some("a1"));
            for (text, constraint) in &constraints {
                let verdict = constraint.evaluate(&event);
                assert_eq!(constraint.evaluate(&encoded), verdict, "{text}");
                met += usize::from(verdict == Ok(true));
            }
        }
    }
    assert_eq!(met, 2 * 8 * 14);
}

#[test]
fn properties_are_found_by_place_and_by_name() {
    let bytes = sent(&alarm(), 0, ByteOrder::NATIVE);
    let event = received(&bytes, 0, ByteOrder::NATIVE).unwrap();
    for (list, names) in [
        (List::VariableHeader, &["Priority", "EventId"][..]),
        (
            List::FilterableData,
            &["number", "text", "real", "pair", "within", "numbers"],
        ),
    ] {
        assert_eq!(event.property_count(list), names.len());
        for (at, name) in names.iter().enumerate() {
            assert_eq!(event.property_at(list, at).unwrap().0, *name);
            assert!(event.property(list, name).is_some());
        }
        assert!(event.property_at(list, names.len()).is_none());
        assert!(event.property(list, "").is_none());
    }
    assert!(event.property(List::VariableHeader, "text").is_none());
}

#[test]
fn an_event_is_written_as_if_it_had_been_decoded() {
    for order in ORDERS {
        let came = sent(&alarm(), 4, order);
        let event = received(&came, 4, order).unwrap();
        for (to, lead) in ORDERS
            .into_iter()
            .flat_map(|to| (0..8).map(move |at| (to, at)))
        {
            let bytes = message(lead, to, Coding::default(), |out| {
                event.marshal_structured(out)
            });
            assert_eq!(
                bytes,
                sent(&alarm(), lead, to),
                "{order:?} to {to:?}, {lead}"
            );
        }
    }
}

#[test]
fn events_that_mean_something_else_than_their_bytes_are_decoded() {
    let any = Event::of_any(&Any::new(&5).unwrap());
    let bytes = sent(any.structured(), 0, ByteOrder::NATIVE);
    let event = received(&bytes, 0, ByteOrder::NATIVE).unwrap();
    assert!(!event.is_encoded(), "it stands for an Any");
    assert_eq!(event.any(), any.any());

    let mut event = alarm();
    event.header.fixed_header.event_name = "perdu, hélas".to_owned();
    for (narrow, stays) in [
        (NarrowCodeSet::Utf8, true),
        (NarrowCodeSet::Iso8859_1, false),
    ] {
        let coding = coding(narrow);
        let bytes = message(0, ByteOrder::NATIVE, coding, |out| event.marshal(out));
        let mut input = Decoder::new(&bytes, ByteOrder::NATIVE, coding);
        let read = Event::read(&mut input).unwrap();
        assert_eq!(read.is_encoded(), stays);
        assert_eq!(read.event_name(), "perdu, hélas");
        let through = message(0, ByteOrder::NATIVE, Coding::default(), |out| {
            read.marshal_structured(out)
        });
        assert_eq!(through, sent(&event, 0, ByteOrder::NATIVE));
    }
}

/// Text in Anys is not looked at, and is of the code set of its message.
#[test]
fn text_in_values_is_converted_for_consumers_with_another_code_set() {
    let mut event = alarm();
    event.remainder_of_body = Any::new("hélas").unwrap();
    let latin = coding(NarrowCodeSet::Iso8859_1);
    let bytes = message(0, ByteOrder::NATIVE, latin, |out| event.marshal(out));
    let mut input = Decoder::new(&bytes, ByteOrder::NATIVE, latin);
    let read = Event::read(&mut input).unwrap();
    assert!(read.is_encoded());
    let through = message(0, ByteOrder::NATIVE, Coding::default(), |out| {
        read.marshal_structured(out)
    });
    assert_eq!(through, sent(&event, 0, ByteOrder::NATIVE));
}

/// Messages of peers that are hostile or wrong are refused where decoding refuses them, and are else what decoding says.
#[test]
fn any_bytes_are_what_decoding_says() {
    let bytes = sent(&alarm(), 0, ByteOrder::Little);
    let agree = |bytes: &[u8], what: &str| {
        let mut input = Decoder::new(bytes, ByteOrder::Little, Coding::default());
        let decoded = StructuredEvent::unmarshal(&mut input.clone());
        match (Event::read(&mut input), decoded) {
            (Ok(read), Ok(decoded)) => {
                assert_eq!(
                    format!("{:?}", read.to_structured()),
                    format!("{decoded:?}")
                );
                let names = (
                    &*decoded.header.fixed_header.event_type.domain_name,
                    decoded.type_name(),
                );
                assert_eq!(read.type_names(), names, "{what}");
                assert_eq!(
                    read.terms(),
                    Event::of_structured(decoded).terms(),
                    "{what}"
                );
            }
            (Err(refused), Err(wanted)) => assert_eq!(refused, wanted, "{what}"),
            (read, decoded) => panic!("{what}: {read:?}, {decoded:?}"),
        }
    };
    for end in 0..bytes.len() {
        agree(&bytes[..end], &format!("cut at {end}"));
    }
    for at in 0..bytes.len() {
        for change in [1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            agree(&changed, &format!("{at} changed by {change:#x}"));
        }
    }
}
