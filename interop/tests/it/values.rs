//! Tests of generated valuetypes: state members of every kind, written and read again by CDR.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use punctual::{Any, Char, Orb, ValueType};
use punctual_cdr::{Encoder, Marshal, Unmarshal};
use punctual_interop::generated::everything as e;

/// Marshals a value, and reads it as an ORB without value factories does.
fn passed<T: Marshal, U: Unmarshal>(value: &T) -> U {
    let orb = Orb::builder().build().unwrap();
    let write = |out: &mut Encoder<'_>| {
        value.marshal(out)?;
        out.put_u32(99);
        Ok(())
    };
    let (read, behind) = orb
        .copied(write, |input| Ok((U::unmarshal(input)?, input.get_u32()?)))
        .unwrap();
    assert_eq!(behind, 99, "what is behind the value");
    orb.shutdown(true).unwrap();
    read
}

/// Returns another handle to the value. `Clone::clone` must be named explicitly, as the valuetype
/// has an operation `clone`.
fn same(leaf: &e::Leaf) -> e::Leaf {
    Clone::clone(leaf)
}

fn leaf(text: &str, next: Option<e::Leaf>) -> e::LeafState {
    let mut far = [[0.0; 40]; 3];
    far[2][39] = -1.5;
    e::LeafState {
        r#type: text.to_owned(),
        more: vec![next.as_ref().map(same), None],
        next,
        perhaps: Some(7),
        far,
        whatever: Any::new(&"in the leaf".to_owned()).unwrap(),
        ..e::LeafState::default()
    }
}

fn branch() -> e::Branch {
    let inner = e::LeafFactory::default().create_(leaf("inner", None));
    let ring = |which| e::branch::Ring {
        which,
        inside: Some(same(&inner)),
    };
    e::BranchFactory::default().create(e::BranchState {
        base: e::TwigState {
            // IDL has members `base` and `base_`.
            base__: leaf("outer", Some(same(&inner))),
            base: 3,
            base_: Some(same(&inner)),
            mark: Char(b'm'),
        },
        outer: ring(e::branch::Kind::Thin),
        rings: vec![ring(e::branch::Kind::Thick), ring(e::branch::Kind::Thin)],
    })
}

#[test]
fn every_member_of_a_state_travels() {
    let read: Option<e::Branch> = passed(&Some(branch()));
    let read = read.unwrap();
    let inner = read.next().unwrap();
    assert_eq!(inner.r#type(), "inner");
    assert_eq!(read.more(), [Some(same(&inner)), None]);
    assert_eq!(read.rings()[1].inside, Some(same(&inner)));
    assert_eq!(read.outer().which, e::branch::Kind::Thin);
    assert_eq!((read.perhaps(), read.mark()), (Some(7), Char(b'm')));
    assert!((read.far()[2][39] + 1.5).abs() < f64::EPSILON);
    let text: String = read.whatever().extract().unwrap();
    assert_eq!(text, "in the leaf");
}

#[test]
fn a_value_is_taken_for_a_base_by_who_knows_no_more() {
    let read: Option<e::Leaf> = passed(&Some(branch()));
    let read = read.unwrap();
    assert_eq!(read.r#type(), "outer");
    assert!(read.as_value().downcast::<e::Branch>().is_none());
    assert_eq!(read.next().unwrap().r#type(), "inner");
}

#[test]
fn a_custom_state_travels_as_its_own_code_says() {
    let own = e::OwnFactory::default().create(e::OwnState {
        number: -5,
        inside: Some(e::LeafFactory::default().create_(leaf("custom", None))),
        ..e::OwnState::default()
    });
    let read: Option<e::Own> = passed(&Some(own));
    let read = read.unwrap();
    assert_eq!(read.number(), -5);
    assert_eq!(read.inside().unwrap().r#type(), "custom");
}

#[test]
fn structs_unions_maps_and_boxes_hold_values() {
    let leaf = e::LeafFactory::default().create_(leaf("held", None));
    let twig = e::TwigFactory::default().create(e::TwigState::default());
    let kept = e::Kept {
        what: e::Held::LeafOne(Some(same(&leaf))),
        pair: [Some(same(&leaf)), None],
        by_number: BTreeMap::from([(4, Some(twig)), (5, None)]),
        perhaps: None,
    };
    let read: e::Kept = passed(&kept);
    let e::Held::LeafOne(Some(one)) = read.what else {
        panic!("another member");
    };
    assert_eq!(read.pair[0].as_ref(), Some(&one));
    assert!(read.by_number[&4].is_some() && read.by_number[&5].is_none());
    assert!(read.perhaps.is_none());

    let wide: Option<e::BoxedWide> = passed(&Some(e::BoxedWide::new("€".to_owned())));
    assert_eq!(wide.unwrap().value(), "€");
    let colour: Option<e::BoxedColour> = passed(&Some(e::BoxedColour::new(e::Colour::Green)));
    assert_eq!(colour.unwrap().value(), e::Colour::Green);
}
