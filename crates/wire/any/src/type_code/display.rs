//! Text form of types, as in IDL.

use std::fmt;

use super::TypeCode;
use super::node::Node;
use crate::kind::TypeKind;

/// Shows the type as IDL names it: with its scope if its repository id contains that,
/// `sequence<…>`, `string<8>`.
impl fmt::Display for TypeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self, f, 0)
    }
}

/// Depth to which sequences of sequences are written out.
const DEEPEST: u8 = 16;

fn write(this: &TypeCode, f: &mut fmt::Formatter<'_>, depth: u8) -> fmt::Result {
    if depth == DEEPEST {
        return f.write_str("…");
    }
    let content = |f: &mut fmt::Formatter<'_>| match this.content_type() {
        Ok(content) => write(&content, f, depth + 1),
        Err(_) => Ok(()),
    };
    match this.node() {
        Node::Primitive(kind) => f.write_str(kind.keyword()),
        Node::Text { is_wide, bound } => {
            f.write_str(if *is_wide { "wstring" } else { "string" })?;
            match bound {
                0 => Ok(()),
                _ => write!(f, "<{bound}>"),
            }
        }
        Node::Fixed { digits, scale } => write!(f, "fixed<{digits}, {scale}>"),
        Node::Sequence { bound, .. } => {
            f.write_str("sequence<")?;
            content(f)?;
            match bound {
                0 => f.write_str(">"),
                _ => write!(f, ", {bound}>"),
            }
        }
        Node::Array { .. } => write_array(this, f, depth),
        Node::Recursive { id } => f.write_str(id),
        node => f.write_str(&scoped_name(this).unwrap_or_else(|| node.kind().keyword().into())),
    }
}

/// Writes an array type with all its dimensions, such as `long[3][2]` for three arrays of two.
fn write_array(this: &TypeCode, f: &mut fmt::Formatter<'_>, depth: u8) -> fmt::Result {
    let mut lengths = Vec::new();
    let mut of = this.clone();
    while of.kind() == TypeKind::Array
        && lengths.len() < usize::from(DEEPEST)
        && let (Ok(length), Ok(element)) = (of.length(), of.content_type())
    {
        lengths.push(length);
        of = element;
    }
    write(&of, f, depth + 1)?;
    lengths
        .iter()
        .try_for_each(|length| write!(f, "[{length}]"))
}

/// Returns `A::B` from `IDL:A/B:1.0`, without a prefix that has dots; else the name.
fn scoped_name(this: &TypeCode) -> Option<String> {
    let (id, name) = (this.id().ok()?, this.name().ok()?);
    if id == "IDL:omg.org/CORBA/Object:1.0" && this.kind() == TypeKind::Objref {
        return Some("Object".into());
    }
    let path = id.strip_prefix("IDL:").and_then(|id| id.rsplit_once(':'));
    let scoped = path.map(|(path, _)| match path.split_once('/') {
        Some((prefix, rest)) if prefix.contains('.') => rest.replace('/', "::"),
        _ => path.replace('/', "::"),
    });
    let scoped = scoped.filter(|scoped| !scoped.is_empty());
    scoped.or_else(|| (!name.is_empty()).then(|| name.to_owned()))
}
