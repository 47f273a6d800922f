//! Textual descriptions of value graphs and Anys, in a format that the peers also produce, in their
//! languages.

use crate::v;
use punctual::any::TypeKind;
use punctual::{Any, Fixed, TypeCode, ValueType};
use std::fmt::Write;

/// Describes a graph: each value in full, with a number, where it occurs first, and by this number
/// where it occurs again.
pub(super) fn graph(node: Option<&v::Node>) -> String {
    let (mut met, mut out) = (Vec::new(), String::new());
    say(node, &mut met, &mut out);
    out
}

fn say(node: Option<&v::Node>, met: &mut Vec<v::Node>, out: &mut String) {
    let Some(node) = node else {
        out.push('-');
        return;
    };
    if let Some(index) = met.iter().position(|one| one == node) {
        let _ = write!(out, "#{index}");
        return;
    }
    met.push(node.clone());
    let _ = write!(out, "{}", node.number());
    if let Some(named) = node.as_value().downcast::<v::Named>() {
        let _ = write!(out, "={}", named.name());
    }
    if let Some(extended) = node.as_value().downcast::<v::Extended>() {
        let _ = write!(out, "/{}", extended.extra());
    }
    out.push('(');
    say(node.next().as_ref(), met, out);
    for node in node.more() {
        out.push(',');
        say(node.as_ref(), met, out);
    }
    out.push(')');
}

/// Describes an Any: the kind and repository id of its type, and its value.
pub(super) fn any(any: &Any) -> String {
    let code = any.type_code();
    let id = code.id().map(|id| format!(":{id}")).unwrap_or_default();
    let value = value(any).unwrap_or_default();
    format!("{}{id} {value}", code.kind() as u32)
}

/// Tries to extract each listed type from the Any, and describes the value of the first that fits.
macro_rules! first {
    ($any:ident; $($ty:ty: |$value:ident| $words:expr;)*) => {$(
        if let Ok($value) = $any.extract::<$ty>() {
            return Some($words);
        }
    )*};
}

fn value(any: &Any) -> Option<String> {
    first! { any;
        i32: |value| value.to_string();
        i64: |value| value.to_string();
        f64: |value| value.to_string();
        bool: |value| value.to_string();
        v::Colour: |value| (value as u32).to_string();
        v::Point: |value| point(&value);
        v::Tree: |value| format!("{}[{}]", value.label, value.branches.len());
        v::Choice: |value| match value {
            v::Choice::Number(number) => format!("number {number}"),
            v::Choice::Text(text) => format!("text {text}"),
            v::Choice::Unlabeled(_) => "none".to_owned(),
        };
        Vec<v::Point>: |value| value.iter().map(|one| point(one) + ";").collect();
        v::Refused: |value| value.why;
        Any: |value| self::any(&value);
        TypeCode: |value| (value.kind() as u32).to_string();
        Fixed<7, 2>: |value| value.to_string();
        Option<v::Node>: |value| graph(value.as_ref());
        Option<v::Thing>: |value| value.map(|thing| thing.what()).unwrap_or_default();
        Option<v::Text>: |value| value.map(|text| text.value()).unwrap_or_default();
    }
    text(any).or_else(|| object(any))
}

fn point(point: &v::Point) -> String {
    format!("{}|{}", point.x, point.y)
}

/// Describes a string; a wide string by its characters' code points.
fn text(any: &Any) -> Option<String> {
    let Ok(punctual::any::Value::String(text)) = any.value() else {
        return None;
    };
    let is_wide = any.type_code().kind() == TypeKind::WString;
    let number = |c| format!("{:x},", u32::from(c));
    Some(if is_wide {
        text.chars().map(number).collect()
    } else {
        text
    })
}

fn object(any: &Any) -> Option<String> {
    let is_object = any.type_code().kind() == TypeKind::Objref;
    is_object.then(|| match any.value() {
        Ok(punctual::any::Value::Object(None)) => "nil".to_owned(),
        _ => "object".to_owned(),
    })
}
