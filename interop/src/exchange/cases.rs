//! Test cases of our client against the peer's server.

use super::servant::{Things, hidden, ring};
use super::words;
use crate::v;
use punctual::{Any, Typed, ValueType};
use std::fmt::Debug;

/// Objects that a valuetype test case calls or passes as an argument.
#[derive(Debug)]
pub(super) struct Theirs {
    pub(super) there: v::Exchange,
    /// Object of ours that is passed as an argument.
    pub(super) spot: v::Spot,
}

/// Test case for valuetypes, which is one row of the interoperability matrix.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) run: fn(&Theirs) -> Result<(), String>,
}

fn same<T: PartialEq + Debug + ?Sized>(got: &T, expected: &T) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    Err(format!("got {got:?} instead of {expected:?}"))
}

fn hold(condition: bool, what: &str) -> Result<(), String> {
    condition.then_some(()).ok_or_else(|| what.to_owned())
}

/// Unwraps the result of a call, or returns its failure.
macro_rules! answer {
    ($call:expr) => {
        $call.map_err(|error| error.to_string())?
    };
}

/// Returns all test cases for valuetypes.
pub(super) fn all() -> Vec<Case> {
    let case = |name, run| Case { name, run };
    vec![
        case("e_node", nodes),
        case("e_node, derived", derived),
        case("e_named", named),
        case("truncated", truncated),
        case("say_node", said),
        case("same", one),
        case("ring", rings),
        case("e_text", texts),
        case("e_longs", longs),
        case("e_base", bases),
        case("e_base, boxed", boxed),
        case("e_describable, value", value_described),
        case("e_describable, object", object_described),
        case("any of long", |theirs| any(theirs, &42, "3 42")),
        case("any of long long", |theirs| any(theirs, &-1_i64, "23 -1")),
        case("any of double", |theirs| any(theirs, &0.5, "7 0.5")),
        case("any of boolean", |theirs| any(theirs, &true, "8 true")),
        case("any of string", |theirs| {
            any(theirs, &"text".to_owned(), "18 text")
        }),
        case("any of wstring", wide),
        case("any of enum", |theirs| {
            any(theirs, &v::Colour::Blue, "17:IDL:values/Colour:1.0 2")
        }),
        case("any of struct", |theirs| {
            any(theirs, &POINT, "15:IDL:values/Point:1.0 7|0.5")
        }),
        case("any of recursive struct", |theirs| {
            let root = v::Tree {
                label: "root".to_owned(),
                branches: vec![v::Tree::default(); 2],
            };
            any(theirs, &root, "15:IDL:values/Tree:1.0 root[2]")
        }),
        case("any of union", |theirs| {
            let choice = v::Choice::Text("chosen".to_owned());
            any(theirs, &choice, "16:IDL:values/Choice:1.0 text chosen")
        }),
        case("any of sequence", |theirs| {
            let points = vec![v::Point::default(), POINT];
            let any = answer!(Any::with_type(&v::PointsAlias::type_code(), &points));
            passed(theirs, &any, "21:IDL:values/Points:1.0 0|0;7|0.5;")
        }),
        case("any of alias", |theirs| {
            let any = answer!(Any::with_type(&v::AliasAlias::type_code(), &7_i32));
            passed(theirs, &any, "21:IDL:values/Alias:1.0 7")
        }),
        case("any of fixed", |theirs| {
            let money: v::Money = answer!("12345.67".parse::<v::Money>());
            any(theirs, &money, "28 12345.67")
        }),
        case("any of exception", |theirs| {
            let refused = v::Refused {
                why: "why".to_owned(),
            };
            any(theirs, &refused, "22:IDL:values/Refused:1.0 why")
        }),
        case("any of any", |theirs| {
            let inner = answer!(Any::new(&"inner".to_owned()));
            any(theirs, &inner, "11 18 inner")
        }),
        case("any of TypeCode", |theirs| {
            any(theirs, &v::Tree::type_code(), "12 15")
        }),
        case("any of object", |theirs| {
            let object = Some(theirs.there.clone());
            any(theirs, &object, "14:IDL:values/Exchange:1.0 object")
        }),
        case("any of value", |theirs| {
            let thing = Some(thing("in an any"));
            any(theirs, &thing, "29:IDL:values/Thing:1.0 in an any")
        }),
        case("any of recursive value", |theirs| {
            any(theirs, &Some(ring(2)), "29:IDL:values/Node:1.0 0(1(#0))")
        }),
        case("any of boxed value", |theirs| {
            let text = Some(v::Text::new("boxed".to_owned()));
            any(theirs, &text, "30:IDL:values/Text:1.0 boxed")
        }),
    ]
}

const POINT: v::Point = v::Point { x: 7, y: 0.5 };

fn node(number: i32) -> v::Node {
    v::Node::new(v::NodeState {
        number,
        ..v::NodeState::default()
    })
}

fn thing(what: &str) -> v::Thing {
    let what = what.to_owned();
    v::ThingFactory::new(Things).create(v::ThingState { what })
}

fn nodes(theirs: &Theirs) -> Result<(), String> {
    let mut b = None;
    let (result, c) = answer!(theirs.there.e_node(Some(&ring(3)), &mut b));
    same(&result, &None)?;
    same(&*words::graph(b.as_ref()), "0(1(2(#0)))")?;
    same(&*words::graph(c.as_ref()), "0(1(2(#0)))")?;
    // A value shared among the results arrives shared.
    same(&b, &c)?;
    let (result, c) = answer!(theirs.there.e_node(None, &mut b));
    same(&*words::graph(result.as_ref()), "0(1(2(#0)))")?;
    same(&(b, c), &(None, None))
}

fn derived(theirs: &Theirs) -> Result<(), String> {
    let shared = node(4);
    let extended = v::Extended::new(v::ExtendedState {
        base: v::NodeState {
            number: 1,
            next: Some(shared.clone()),
            more: vec![Some(shared.clone()), None, Some(shared)],
        },
        extra: 77,
    });
    let mut b = None;
    answer!(theirs.there.e_node(Some(&extended.into()), &mut b));
    same(&*words::graph(b.as_ref()), "1/77(4(-),#1,-,#1)")
}

fn named(theirs: &Theirs) -> Result<(), String> {
    let one = |number, name: &str, next, more| {
        v::Named::new(v::NamedState {
            base: v::NodeState { number, next, more },
            name: name.to_owned(),
        })
    };
    let nine = one(9, "nine", None, Vec::new());
    let two = one(2, "two", Some(node(3)), vec![Some(nine.into())]);
    let mut b = None;
    answer!(theirs.there.e_named(Some(&two), &mut b));
    let b = b.map(v::Node::from);
    same(&*words::graph(b.as_ref()), "2=two(3(-),9=nine(-))")
}

fn truncated(theirs: &Theirs) -> Result<(), String> {
    let mut b = None;
    answer!(theirs.there.e_named(Some(&hidden()), &mut b));
    for cut in [b, answer!(theirs.there.hidden())] {
        let cut = cut.map(v::Node::from);
        same(&*words::graph(cut.as_ref()), "8=eight(-)")?;
        let whole = cut.and_then(|cut| cut.as_value().downcast::<v::Hidden>());
        same(&whole, &None)?;
    }
    Ok(())
}

fn said(theirs: &Theirs) -> Result<(), String> {
    let say = |value: Option<&v::Node>| theirs.there.say_node(value);
    same(&*answer!(say(Some(&ring(2)))), "0(1(#0))")?;
    same(&*answer!(say(None)), "-")?;
    same(&*answer!(say(Some(&hidden().into()))), "8=eight(-)")
}

fn one(theirs: &Theirs) -> Result<(), String> {
    let (a, b) = (ring(2), ring(2));
    let is_one = answer!(theirs.there.same(Some(&a), Some(&a)));
    hold(is_one, "one value arrived as two")?;
    let is_one = answer!(theirs.there.same(Some(&a), Some(&b)));
    hold(!is_one, "two values arrived as one")
}

fn rings(theirs: &Theirs) -> Result<(), String> {
    same(
        &*words::graph(answer!(theirs.there.ring(1)).as_ref()),
        "0(#0)",
    )?;
    let many = answer!(theirs.there.ring(1000));
    let (mut count, mut at) = (0, many.clone());
    loop {
        at = at.and_then(|node| node.next());
        count += 1;
        if at == many || count > 1000 {
            return same(&count, &1000);
        }
    }
}

fn texts(theirs: &Theirs) -> Result<(), String> {
    let mut b = None;
    let text = v::Text::new("boxed".to_owned());
    let (result, _) = answer!(theirs.there.e_text(Some(&text), &mut b));
    same(&result, &None)?;
    same(&b.map(|text| text.value()), &Some("boxed".to_owned()))
}

fn longs(theirs: &Theirs) -> Result<(), String> {
    let mut b = None;
    let longs = v::Longs::new(vec![0, 0, -7]);
    let (_, c) = answer!(theirs.there.e_longs(Some(&longs), &mut b));
    same(&b.map(|longs| longs.value()), &Some(vec![0, 0, -7]))?;
    same(&c.map(|longs| longs.value()), &Some(vec![0, 0, -7]))
}

fn bases(theirs: &Theirs) -> Result<(), String> {
    let back = answer!(theirs.there.e_base(Some(ring(2).as_value())));
    let back = back.and_then(|value| value.downcast());
    same(&*words::graph(back.as_ref()), "0(1(#0))")
}

fn boxed(theirs: &Theirs) -> Result<(), String> {
    let text = v::Text::new("base".to_owned());
    let back = answer!(theirs.there.e_base(Some(text.as_value())));
    let back = back.and_then(|value| value.downcast::<v::Text>());
    same(&back.map(|text| text.value()), &Some("base".to_owned()))
}

fn value_described(theirs: &Theirs) -> Result<(), String> {
    let (a, mut b) = (v::Describable::from(thing("mine")), None);
    answer!(theirs.there.e_describable(Some(&a), &mut b));
    let back = b.ok_or("null came back")?;
    hold(
        matches!(back, v::Describable::Value(_)),
        "a value came back as an object",
    )?;
    same(&*answer!(back.describe()), "our thing mine")?;
    let said = answer!(theirs.there.say_describable(Some(&a)));
    same(&*said, "their thing mine")
}

fn object_described(theirs: &Theirs) -> Result<(), String> {
    let (a, mut b) = (v::Describable::from(theirs.spot.clone()), None);
    answer!(theirs.there.e_describable(Some(&a), &mut b));
    let back = b.ok_or("null came back")?;
    hold(
        matches!(back, v::Describable::Object(_)),
        "an object came back as a value",
    )?;
    same(&*answer!(back.describe()), "our spot")?;
    let said = answer!(theirs.there.say_describable(Some(&a)));
    same(&*said, "our spot")?;
    same(&*answer!(theirs.there.say_describable(None)), "nil")
}

fn any<T: Typed + punctual::stub::Marshal>(
    theirs: &Theirs,
    value: &T,
    expected: &str,
) -> Result<(), String> {
    passed(theirs, &answer!(Any::new(value)), expected)
}

/// Checks that an Any is returned unchanged, and that its description is the expected one.
fn passed(theirs: &Theirs, any: &Any, expected: &str) -> Result<(), String> {
    let mut b = Any::default();
    let (result, c) = answer!(theirs.there.e_any(any, &mut b));
    same(&*words::any(&result), "0 ")?;
    same(&*words::any(&b), expected)?;
    same(&*words::any(&c), expected)?;
    hold(
        b.type_code() == any.type_code(),
        "its TypeCode came back as another",
    )?;
    same(&*answer!(theirs.there.say_any(any)), expected)
}

fn wide(theirs: &Theirs) -> Result<(), String> {
    let code = punctual::TypeCode::wstring(0);
    let any = answer!(Any::of_value(
        &code,
        &punctual::any::Value::String("\u{20ac}x".to_owned())
    ));
    same(&*answer!(theirs.there.say_any(&any)), "27 20ac,78,")
}
