//! Validity of types.

use punctual_cdr::CdrError;

use super::Shape;
use crate::kind::TypeKind;
use crate::type_code::{Index, Node};

/// Upper bound of the chain of valuetypes that inherit from one another; more than any IDL has.
/// Each value of the last one costs time in proportion to that length, whatever it holds.
const LONGEST_LINE: usize = 64;

/// Checks that the node is a type, given that its parts are.
pub(super) fn check(node: &Node, nodes: &[Node], shapes: &[Shape]) -> Result<(), CdrError> {
    let kind = |at: Index| nodes.get(at as usize).map(Node::kind);
    let original = |at: Index| {
        shapes
            .get(at as usize)
            .and_then(|shape| kind(shape.original))
    };
    if matches!(node, Node::Recursive { .. }) {
        return Err(CdrError::BadTypeCode(
            "a recursive TypeCode outside of the type that it stands for",
        ));
    }
    for part in node.parts() {
        let is_alias_of_void = matches!(node, Node::Alias { .. });
        match kind(part) {
            Some(TypeKind::Null | TypeKind::Void) if !is_alias_of_void => {
                return Err(CdrError::BadTypeCode("a part of the type is void"));
            }
            Some(TypeKind::Except) => {
                return Err(CdrError::BadTypeCode("a part of the type is an exception"));
            }
            _ => {}
        }
    }
    match node {
        Node::Array { length: 0, .. } => Err(CdrError::BadTypeCode("an array of no elements")),
        Node::Fixed { digits, scale }
            if !(1..=31).contains(digits)
                || !(-31..=i16::try_from(*digits).unwrap_or(31)).contains(scale) =>
        {
            Err(CdrError::BadTypeCode(
                "a fixed-point type has 1 to 31 digits, and no more behind the point",
            ))
        }
        Node::Union(union) => {
            if !original(union.discriminator).is_some_and(is_discrete) {
                return Err(CdrError::BadTypeCode(
                    "a union's discriminator is neither integer, character, boolean nor enum",
                ));
            }
            let mut pairs = union.by_label.windows(2);
            if pairs.any(|pair| matches!(pair, [(one, _), (other, _)] if one == other)) {
                return Err(CdrError::BadTypeCode("a union has a label twice"));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Checks conditions on a type that need the shapes of all nodes, since its parts may come after it
/// in the list.
pub(super) fn check_whole(node: &Node, nodes: &[Node], shapes: &[Shape]) -> Result<(), CdrError> {
    let takes_nothing =
        |at: Index| shapes.get(at as usize).and_then(|shape| shape.sizes) == Some([0; 8]);
    // Any number of them would take no bytes on the wire.
    if !matches!(node, Node::Alias { .. }) && node.parts().any(takes_nothing) {
        return Err(CdrError::BadTypeCode(
            "a part of the type has values of size 0",
        ));
    }
    check_base(node, nodes, shapes)
}

/// Checks that a valuetype inherits only from valuetypes, and not too many.
fn check_base(node: &Node, nodes: &[Node], shapes: &[Shape]) -> Result<(), CdrError> {
    let mut node = node;
    for _ in 0..LONGEST_LINE {
        let Node::Value(value) = node else {
            return Ok(());
        };
        let original = |at: Index| shapes.get(at as usize).map(|shape| shape.original);
        let base = value.base.and_then(original);
        node = match base.and_then(|base| nodes.get(base as usize)) {
            None => return Ok(()),
            Some(base @ Node::Value(_)) => base,
            Some(_) => {
                return Err(CdrError::BadTypeCode(
                    "a valuetype's base is not a valuetype",
                ));
            }
        };
    }
    Err(CdrError::BadTypeCode(
        "a valuetype inherits through too many others",
    ))
}

/// Returns whether values of the kind can be discriminators of a union.
fn is_discrete(kind: TypeKind) -> bool {
    use TypeKind as Kind;
    matches!(
        kind,
        Kind::Short
            | Kind::Long
            | Kind::UShort
            | Kind::ULong
            | Kind::LongLong
            | Kind::ULongLong
            | Kind::Boolean
            | Kind::Char
            | Kind::WChar
            | Kind::Octet
            | Kind::Enum
    )
}
