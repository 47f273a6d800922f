//! Events, and short forms of compiling and evaluating.

use punctual_any::{Any, TypeBuilder, TypeCode, TypeKind, Typed, Value};
use punctual_cdr::Marshal;
use punctual_constraint::{
    Constraint, Diagnostic, Event, Failure, FieldValue, Grammar, Limits, List,
};

/// Structured event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Structured {
    pub(crate) domain_name: String,
    pub(crate) type_name: String,
    pub(crate) event_name: String,
    pub(crate) header: Vec<(String, Any)>,
    pub(crate) data: Vec<(String, Any)>,
    pub(crate) remainder: Any,
    pub(crate) time: Option<u64>,
}

impl Structured {
    pub(crate) fn of_type(domain_name: &str, type_name: &str, event_name: &str) -> Self {
        Self {
            domain_name: domain_name.into(),
            type_name: type_name.into(),
            event_name: event_name.into(),
            ..Self::default()
        }
    }

    pub(crate) fn with<T: Typed + Marshal + ?Sized>(mut self, name: &str, value: &T) -> Self {
        self.data.push((name.into(), any(value)));
        self
    }

    pub(crate) fn with_any(mut self, name: &str, value: Any) -> Self {
        self.data.push((name.into(), value));
        self
    }

    pub(crate) fn with_header<T: Typed + Marshal + ?Sized>(
        mut self,
        name: &str,
        value: &T,
    ) -> Self {
        self.header.push((name.into(), any(value)));
        self
    }
}

impl Event for Structured {
    fn domain_name(&self) -> &str {
        &self.domain_name
    }

    fn type_name(&self) -> &str {
        &self.type_name
    }

    fn event_name(&self) -> &str {
        &self.event_name
    }

    fn property_count(&self, list: List) -> usize {
        match list {
            List::VariableHeader => self.header.len(),
            List::FilterableData => self.data.len(),
        }
    }

    fn property_at(&self, list: List, index: usize) -> Option<(&str, FieldValue<'_>)> {
        let properties = match list {
            List::VariableHeader => &self.header,
            List::FilterableData => &self.data,
        };
        properties
            .get(index)
            .map(|(name, value)| (&**name, value.into()))
    }

    fn remainder_of_body(&self) -> Option<FieldValue<'_>> {
        Some((&self.remainder).into())
    }

    fn current_time(&self) -> Option<u64> {
        self.time
    }
}

/// Structured event whose values stand in encodings.
pub(crate) struct Encoded<'e> {
    event: &'e dyn Event,
    lists: [Vec<(&'e str, Any)>; 2],
    remainder: Option<Any>,
}

impl<'e> Encoded<'e> {
    pub(crate) fn of(event: &'e dyn Event) -> Self {
        // An Any in an Any is encoded with its TypeCode.
        let encoded = |value: FieldValue<'_>| match value {
            FieldValue::Any(held) => any(held),
            FieldValue::Within(..) => panic!("the events of tests hold Anys"),
        };
        let list = |list| {
            let all = (0..event.property_count(list)).map_while(|at| event.property_at(list, at));
            all.map(|(name, value)| (name, encoded(value))).collect()
        };
        Self {
            event,
            lists: [List::VariableHeader, List::FilterableData].map(list),
            remainder: event.remainder_of_body().map(encoded),
        }
    }
}

impl Event for Encoded<'_> {
    fn domain_name(&self) -> &str {
        self.event.domain_name()
    }

    fn type_name(&self) -> &str {
        self.event.type_name()
    }

    fn event_name(&self) -> &str {
        self.event.event_name()
    }

    fn property_count(&self, list: List) -> usize {
        self.event.property_count(list)
    }

    fn property_at(&self, list: List, index: usize) -> Option<(&str, FieldValue<'_>)> {
        let [header, data] = &self.lists;
        let properties = match list {
            List::VariableHeader => header,
            List::FilterableData => data,
        };
        let (name, outer) = properties.get(index)?;
        Some((name, FieldValue::Within(outer, 0)))
    }

    fn remainder_of_body(&self) -> Option<FieldValue<'_>> {
        Some(FieldValue::Within(self.remainder.as_ref()?, 0))
    }

    fn current_time(&self) -> Option<u64> {
        self.event.current_time()
    }
}

/// Event that is a single Any.
#[derive(Clone, Debug)]
pub(crate) struct Unstructured(pub(crate) Any);

impl Event for Unstructured {
    fn root(&self) -> Option<&Any> {
        Some(&self.0)
    }

    fn property_count(&self, _: List) -> usize {
        0
    }

    fn property_at(&self, _: List, _: usize) -> Option<(&str, FieldValue<'_>)> {
        None
    }
}

pub(crate) fn any<T: Typed + Marshal + ?Sized>(value: &T) -> Any {
    Any::new(value).unwrap()
}

pub(crate) fn event<T: Typed + Marshal + ?Sized>(value: &T) -> Unstructured {
    Unstructured(any(value))
}

/// Any with a struct of these members.
pub(crate) fn structure(name: &str, members: &[(&str, TypeCode, Value)]) -> Any {
    let type_code = structure_type(name, members.iter().map(|(name, its, _)| (*name, its)));
    let values = members.iter().map(|(_, _, value)| value.clone()).collect();
    Any::of_value(&type_code, &Value::Struct(values)).unwrap()
}

pub(crate) fn structure_type<'a>(
    name: &str,
    members: impl Iterator<Item = (&'a str, &'a TypeCode)>,
) -> TypeCode {
    let members: Vec<_> = members.collect();
    let mut types = TypeBuilder::default();
    let id = format!("IDL:{name}:1.0");
    let root = types.structure(&id, name, |types| {
        members
            .iter()
            .map(|(name, its)| (*name, types.include(its)))
            .collect()
    });
    types.finish(root)
}

pub(crate) fn enumeration(name: &str, labels: &[&str]) -> TypeCode {
    let mut types = TypeBuilder::default();
    let root = types.enumeration(&format!("IDL:{name}:1.0"), name, labels);
    types.finish(root)
}

pub(crate) fn sequence_type(element: &TypeCode) -> TypeCode {
    let mut types = TypeBuilder::default();
    let element = types.include(element);
    let root = types.sequence(element, 0);
    types.finish(root)
}

/// Type `CosNotification::PropertySeq`.
pub(crate) fn property_list_type() -> TypeCode {
    let members = [
        ("name", simple(TypeKind::String)),
        ("value", simple(TypeKind::Any)),
    ];
    sequence_type(&structure_type(
        "Property",
        members.iter().map(|(name, its)| (*name, its)),
    ))
}

/// Any with a list of named values.
pub(crate) fn property_list(properties: &[(&str, Any)]) -> Any {
    Any::written(&property_list_type(), |out| {
        out.put_u32(u32::try_from(properties.len()).unwrap());
        properties.iter().try_for_each(|(name, value)| {
            out.put_string(name)?;
            value.marshal(out)
        })
    })
    .unwrap()
}

pub(crate) fn simple(kind: TypeKind) -> TypeCode {
    let mut types = TypeBuilder::default();
    let root = types.primitive(kind);
    types.finish(root)
}

pub(crate) fn compile(text: &str) -> Result<Constraint, Diagnostic> {
    Constraint::compile(Grammar::ExtendedTcl, text, &Limits::DEFAULT)
}

/// Evaluates a constraint over an event, and over the same one in encoded form.
pub(crate) fn evaluate(text: &str, event: &dyn Event) -> Result<bool, Failure> {
    let constraint = compile(text).unwrap();
    let result = constraint.evaluate(event);
    if event.root().is_none() {
        let encoded = constraint.evaluate(&Encoded::of(event));
        assert_eq!(encoded, result, "{text}");
    }
    result
}

/// Returns whether a constraint is true for an event without any content.
pub(crate) fn is_true(text: &str) -> bool {
    compile(text).unwrap().matches(&Structured::default())
}

#[track_caller]
pub(crate) fn holds(text: &str, event: &dyn Event) {
    assert_eq!(evaluate(text, event), Ok(true), "{text}");
}

#[track_caller]
pub(crate) fn fails(text: &str, event: &dyn Event, failure: Failure) {
    assert_eq!(evaluate(text, event), Err(failure), "{text}");
    assert!(!compile(text).unwrap().matches(event));
}
