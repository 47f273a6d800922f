//! Random events and expressions.

use punctual_any::{
    Any, Label, TypeBuilder, TypeCode, TypeKind, UnionDescription, UnionValue, Value,
};
use punctual_cdr::{Char, Marshal};

use crate::reference::{Expression, Path, Step};
use crate::support::{
    Structured, enumeration, property_list, property_list_type, sequence_type, simple,
    structure_type,
};

/// Source of choices: a generator of Marsaglia's.
pub(crate) struct Dice(u64);

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const TEXTS: [&str; 8] = ["", "x", "red", "green", "y", "xy", "Type", "S"];

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn number(&mut self) -> i32 {
        i32::try_from(self.below(7)).unwrap() - 2
    }

    /// Makes a structured event.
    pub(crate) fn event(&mut self) -> Structured {
        let mut event = Structured::of_type(self.of(&TEXTS), self.of(&TEXTS), self.of(&TEXTS));
        for name in NAMES {
            match self.below(8) {
                0 => {}
                1 | 2 => event.header.push((name.into(), self.any(3))),
                _ => event.data.push((name.into(), self.any(3))),
            }
        }
        event.remainder = self.any(2);
        event
    }

    fn any(&mut self, depth: usize) -> Any {
        let (its, value) = self.typed(depth);
        Any::of_value(&its, &value).unwrap()
    }

    fn typed(&mut self, depth: usize) -> (TypeCode, Value) {
        let number = self.number();
        match self.below(if depth == 0 { 9 } else { 15 }) {
            0 => (simple(TypeKind::Long), Value::Long(number)),
            1 => (
                simple(TypeKind::ULongLong),
                Value::ULongLong(u64::MAX - self.below(2) as u64),
            ),
            2 => (
                simple(TypeKind::Double),
                Value::Double(f64::from(number) / 2.0),
            ),
            3 => (
                simple(TypeKind::String),
                Value::String(self.of(&TEXTS).into()),
            ),
            4 => (simple(TypeKind::Boolean), Value::Boolean(number > 0)),
            5 => (simple(TypeKind::Char), Value::Char(Char(b'x'))),
            6 => (colour(), Value::Enum(u32::try_from(self.below(3)).unwrap())),
            7 => (
                simple(TypeKind::WString),
                Value::String(self.of(&TEXTS).into()),
            ),
            8 => (alias(), Value::Short(i16::try_from(number).unwrap())),
            9 | 10 => self.structure(depth - 1),
            11 => self.sequence(depth - 1),
            12 => (
                simple(TypeKind::Any),
                Value::Any(Box::new(self.any(depth - 1))),
            ),
            13 => self.union(depth - 1),
            _ => {
                let list = self.properties(depth - 1);
                (list.type_code().clone(), list.value().unwrap())
            }
        }
    }

    fn structure(&mut self, depth: usize) -> (TypeCode, Value) {
        let members: Vec<_> = ["a", "b"].map(|name| (name, self.typed(depth))).into();
        let its = structure_type("S", members.iter().map(|(name, (its, _))| (*name, its)));
        (
            its,
            Value::Struct(members.into_iter().map(|(_, (_, value))| value).collect()),
        )
    }

    fn sequence(&mut self, depth: usize) -> (TypeCode, Value) {
        let (element, first) = self.typed(depth);
        let count = self.below(3);
        let values = std::iter::repeat_n(first, count).collect();
        (sequence_type(&element), Value::Sequence(values))
    }

    fn properties(&mut self, depth: usize) -> Any {
        let count = self.below(3);
        let all: Vec<(&str, Any)> = (0..count)
            .map(|_| (self.of(&NAMES[..3]), self.any(depth)))
            .collect();
        property_list(&all)
    }

    fn union(&mut self, depth: usize) -> (TypeCode, Value) {
        let parts = [self.typed(depth), self.typed(depth), self.typed(depth)];
        let is_short = self.below(2) == 0;
        let mut types = TypeBuilder::default();
        let root = types.union_("IDL:U:1.0", "U", |types| {
            let discriminator = match is_short {
                true => types.primitive(TypeKind::Short),
                false => types.include(&colour()),
            };
            let labels = [Label::Value(0), Label::Value(1), Label::Default];
            let members = labels.into_iter().zip(["a", "x", "b"]).zip(&parts);
            let members =
                members.map(|((label, name), (its, _))| (label, name, types.include(its)));
            UnionDescription {
                discriminator,
                members: members.collect(),
            }
        });
        let chosen = self.below(3);
        let member = Some(parts[chosen].1.clone());
        let discriminator = i128::try_from(chosen).unwrap();
        (
            types.finish(root),
            Value::Union(Box::new(UnionValue {
                discriminator,
                member,
            })),
        )
    }

    /// Makes an expression that is likely to be a boolean, or a value.
    pub(crate) fn expression(&mut self, depth: usize, is_condition: bool) -> Expression {
        let is_condition = is_condition ^ (self.below(12) == 0);
        match is_condition {
            true => self.condition(depth),
            false => self.value(depth),
        }
    }

    fn boxed(&mut self, depth: usize, is_condition: bool) -> Box<Expression> {
        Box::new(self.expression(depth - 1, is_condition))
    }

    fn condition(&mut self, depth: usize) -> Expression {
        let choice = if depth == 0 {
            self.below(4)
        } else {
            self.below(14)
        };
        match choice {
            0 => Expression::Boolean(self.below(2) == 0),
            1 => Expression::Exist(self.path()),
            2 => Expression::Default(self.path()),
            3 => Expression::Load(self.path()),
            4 => Expression::In(self.boxed(depth, false), self.path()),
            5 => Expression::Not(self.boxed(depth, true)),
            6 | 7 => {
                let operator = self.of(&["and", "or"]);
                Expression::Binary(operator, self.boxed(depth, true), self.boxed(depth, true))
            }
            8 => Expression::Binary("~", self.boxed(depth, false), self.boxed(depth, false)),
            _ => {
                let operator = self.of(&["==", "==", "==", "!=", "<", "<=", ">", ">="]);
                Expression::Binary(operator, self.boxed(depth, false), self.boxed(depth, false))
            }
        }
    }

    fn value(&mut self, depth: usize) -> Expression {
        let choice = if depth == 0 {
            self.below(8)
        } else {
            self.below(12)
        };
        match choice {
            0 | 1 => Expression::Integer(self.number().into()),
            2 => Expression::Real(f64::from(self.number()) / 2.0),
            3 | 4 => Expression::Text(self.of(&TEXTS).into()),
            5..=8 => Expression::Load(self.path()),
            9 => Expression::Negate(self.boxed(depth, false)),
            _ => {
                let operator = self.of(&["+", "-", "*", "/"]);
                Expression::Binary(operator, self.boxed(depth, false), self.boxed(depth, false))
            }
        }
    }

    fn path(&mut self) -> Path {
        let member = |name: &str| Step::Member(name.into());
        let name = self.of(&NAMES).to_owned();
        let (variable, mut steps) = match self.below(14) {
            0 => (
                Some(
                    self.of(&["type_name", "domain_name", "event_name"])
                        .to_owned(),
                ),
                vec![],
            ),
            1 => (None, vec![member("filterable_data"), Step::Named(name)]),
            2 => (
                None,
                vec![
                    member("header"),
                    member("variable_header"),
                    Step::Named(name),
                ],
            ),
            3 => (
                None,
                vec![
                    Step::Position(1),
                    Step::Element(self.below(3)),
                    Step::Position(1),
                ],
            ),
            4 => (
                None,
                vec![member("header"), Step::Position(0), member("event_name")],
            ),
            5 => (None, vec![member("remainder_of_body")]),
            6 => (None, vec![member("filterable_data"), Step::Length]),
            _ => (Some(name), vec![]),
        };
        if !matches!(steps.last(), Some(Step::Length)) {
            let count = [0, 0, 1, 1, 2, 3][self.below(6)];
            (0..count).for_each(|_| steps.push(self.step()));
            if self.below(6) == 0 {
                steps.push(match self.below(4) {
                    0 => Step::Length,
                    1 => Step::Discriminator,
                    2 => Step::TypeId,
                    _ => Step::ReposId,
                });
            }
        }
        Path { variable, steps }
    }

    fn step(&mut self) -> Step {
        match self.below(10) {
            0..=3 => Step::Member(self.of(&["a", "b", "x"]).into()),
            4 => Step::Position(self.below(3)),
            5 => Step::Element(self.below(3)),
            6 => Step::Named(self.of(&NAMES[..3]).into()),
            7 => Step::Union(i128::try_from(self.below(3)).unwrap()),
            8 => Step::UnionNamed(self.of(&["a", "b", "x", "red", "green"]).into()),
            _ => Step::UnionDefault,
        }
    }
}

fn colour() -> TypeCode {
    enumeration("Colour", &["red", "green", "blue"])
}

fn alias() -> TypeCode {
    let mut types = TypeBuilder::default();
    let root = types.alias("IDL:Small:1.0", "Small", |types| {
        types.primitive(TypeKind::Short)
    });
    types.finish(root)
}

/// Returns a structured event as a value of its IDL type.
pub(crate) fn whole(event: &Structured) -> Any {
    let list = |properties: &[(String, Any)]| {
        let all: Vec<_> = properties
            .iter()
            .map(|(name, value)| (&**name, value.clone()))
            .collect();
        property_list(&all)
    };
    Any::written(&structured_event_type(), |out| {
        [&event.domain_name, &event.type_name, &event.event_name]
            .iter()
            .try_for_each(|text| out.put_string(text))?;
        list(&event.header).marshal_value(out)?;
        list(&event.data).marshal_value(out)?;
        event.remainder.marshal(out)
    })
    .unwrap()
}

fn structured_event_type() -> TypeCode {
    let mut types = TypeBuilder::default();
    let id = |name: &str| format!("IDL:omg.org/CosNotification/{name}:1.0");
    let list = |types: &mut TypeBuilder, name: &str| {
        types.alias(&id(name), name, |types| {
            types.include(&property_list_type())
        })
    };
    let root = types.structure(&id("StructuredEvent"), "StructuredEvent", |types| {
        let header = types.structure(&id("EventHeader"), "EventHeader", |types| {
            let fixed = types.structure(&id("FixedEventHeader"), "FixedEventHeader", |types| {
                let text = types.string(0);
                let its = types.structure(&id("EventType"), "EventType", |_| {
                    vec![("domain_name", text), ("type_name", text)]
                });
                vec![("event_type", its), ("event_name", text)]
            });
            vec![
                ("fixed_header", fixed),
                ("variable_header", list(types, "OptionalHeaderFields")),
            ]
        });
        let body = list(types, "FilterableEventBody");
        let rest = types.primitive(TypeKind::Any);
        vec![
            ("header", header),
            ("filterable_data", body),
            ("remainder_of_body", rest),
        ]
    });
    types.finish(root)
}
