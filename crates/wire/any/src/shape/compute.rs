//! Computation of the shapes of all types of an arena, those of parts before those of wholes.

use punctual_cdr::CdrError;

use super::check::{check, check_whole};
use super::{Holds, Shape, run_size};
use crate::kind::TypeKind;
use crate::type_code::{Index, Node};

/// Computes the shapes of all nodes.
///
/// # Errors
/// [`CdrError::BadTypeCode`] for an invalid type: one whose values would be endless, as it holds
/// itself other than in a sequence or valuetype; one with members that can have no value; a union
/// with an ambiguous discriminator; a part that was never defined.
pub(crate) fn shapes(nodes: &[Node]) -> Result<Box<[Shape]>, CdrError> {
    let mut shapes = vec![Shape::EMPTY; nodes.len()];
    for at in order(nodes)? {
        let place = at as usize;
        let Some(node) = nodes.get(place) else {
            continue;
        };
        check(node, nodes, &shapes)?;
        let mut shape = shape(node, &shapes);
        if !matches!(node, Node::Alias { .. }) {
            shape.original = at;
        }
        if let Some(place) = shapes.get_mut(place) {
            *place = shape;
        }
    }
    for node in nodes {
        check_whole(node, nodes, &shapes)?;
    }
    spread(nodes, &mut shapes);
    Ok(shapes.into())
}

/// Returns the parts that every encoding of the node contains. The elements of a sequence and the
/// members of a valuetype may be absent.
fn direct_parts(node: &Node) -> impl Iterator<Item = Index> + '_ {
    let is_direct = !matches!(
        node,
        Node::Sequence { .. } | Node::Value(_) | Node::ValueBox { .. }
    );
    node.parts().filter(move |_| is_direct)
}

/// Returns all indices, those of direct parts before those of wholes. Without recursion: a peer's
/// types may be chained as long as their message allows.
fn order(nodes: &[Node]) -> Result<Vec<Index>, CdrError> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Unseen,
        Open,
        Done,
    }
    let mut states = vec![State::Unseen; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let mut open = Vec::new();
    for (root, node) in (0u32..).zip(nodes) {
        if states.get(root as usize) != Some(&State::Unseen) {
            continue;
        }
        set(&mut states, root, State::Open);
        open.push((root, direct_parts(node)));
        while let Some((at, parts)) = open.last_mut() {
            let at = *at;
            let Some(part) = parts.next() else {
                set(&mut states, at, State::Done);
                order.push(at);
                open.pop();
                continue;
            };
            match (states.get(part as usize), nodes.get(part as usize)) {
                (Some(State::Unseen), Some(node)) => {
                    set(&mut states, part, State::Open);
                    open.push((part, direct_parts(node)));
                }
                (Some(State::Open), _) => {
                    return Err(CdrError::BadTypeCode(
                        "values of the type would contain themselves",
                    ));
                }
                _ => {}
            }
        }
    }
    return Ok(order);

    fn set(states: &mut [State], at: Index, state: State) {
        if let Some(place) = states.get_mut(at as usize) {
            *place = state;
        }
    }
}

/// Computes a node's shape from those of its direct parts.
fn shape(node: &Node, shapes: &[Shape]) -> Shape {
    let part = |at: Index| shapes.get(at as usize).unwrap_or(&Shape::EMPTY);
    match node {
        Node::Primitive(kind) => primitive(*kind),
        Node::Text { is_wide: false, .. } => Shape::variable(4, 4, Holds::NARROW),
        Node::Text { is_wide: true, .. } => Shape::variable(4, 4, Holds::WIDE | Holds::ALIGNED_2),
        Node::Fixed { digits, .. } => {
            Shape::of_number(u8::try_from(digits / 2 + 1).unwrap_or(16), 1)
        }
        Node::Sequence { .. } => Shape::variable(4, 4, 0),
        Node::Array { element, length } => array(part(*element), u64::from(*length)),
        Node::Interface {
            kind: TypeKind::AbstractInterface,
            ..
        } => Shape::variable(1, 5, Holds::REFERENCE | Holds::VALUE),
        Node::Interface { .. } => Shape::variable(4, 8, Holds::REFERENCE),
        Node::Alias { of, .. } => part(*of).clone(),
        Node::ValueBox { .. } | Node::Value(_) => Shape::variable(4, 4, Holds::VALUE),
        Node::Struct { members, .. } => {
            structure(&mut members.iter().map(|member| part(member.at)))
        }
        // The repository id may precede the members or be absent (see `walk::exception`).
        Node::Exception { .. } => Shape::variable(1, 0, Holds::ALIGNED_8),
        Node::Union(union) => {
            let discriminator = part(union.discriminator);
            Shape {
                parts: 2,
                sizes: None,
                ..discriminator.clone()
            }
        }
        Node::Enum { .. } => Shape::of_number(4, 4),
        Node::Recursive { .. } => Shape::EMPTY,
    }
}

fn primitive(kind: TypeKind) -> Shape {
    use TypeKind as Kind;
    match kind {
        Kind::Boolean | Kind::Octet => Shape::of_number(1, 1),
        Kind::Char => Shape {
            holds: Holds(Holds::NARROW),
            ..Shape::of_number(1, 1)
        },
        Kind::Short | Kind::UShort => Shape::of_number(2, 2),
        Kind::Long | Kind::ULong | Kind::Float => Shape::of_number(4, 4),
        Kind::LongLong | Kind::ULongLong | Kind::Double => Shape::of_number(8, 8),
        Kind::LongDouble => Shape::of_number(16, 8),
        // A length and bytes in GIOP 1.2, a number in 1.1.
        Kind::WChar => Shape::variable(1, 1, Holds::WIDE | Holds::ALIGNED_2),
        Kind::Any | Kind::TypeCode => Shape::variable(4, 4, Holds::ANY),
        Kind::Principal => Shape::variable(4, 4, 0),
        _ => Shape::EMPTY,
    }
}

fn array(element: &Shape, length: u64) -> Shape {
    let parts = length
        .saturating_mul(element.parts.into())
        .saturating_add(1);
    Shape {
        parts: u32::try_from(parts).unwrap_or(u32::MAX),
        min_size: element.min_size.saturating_mul(length),
        sizes: element
            .sizes
            .map(|sizes| std::array::from_fn(|phase| run_size(&sizes, phase, length))),
        ..element.clone()
    }
}

fn structure(members: &mut dyn Iterator<Item = &Shape>) -> Shape {
    let mut whole = Shape::EMPTY;
    let mut is_first = true;
    for member in members {
        if is_first {
            // The data before the first number decides where the struct begins.
            whole.first = member.first;
            is_first = false;
        }
        whole.holds.0 |= member.holds.0;
        whole.min_size = whole.min_size.saturating_add(member.min_size);
        whole.parts = whole.parts.saturating_add(member.parts);
        whole.sizes = match (whole.sizes, member.sizes) {
            (Some(before), Some(sizes)) => Some(std::array::from_fn(|phase| {
                let taken = before.get(phase).copied().unwrap_or(0);
                let behind = (phase as u64).wrapping_add(taken);
                let behind = usize::try_from(behind % 8).unwrap_or(0);
                taken.saturating_add(run_size(&sizes, behind, 1))
            })),
            _ => None,
        };
    }
    whole
}

/// Propagates to each shape what is held through sequences and unions, too.
fn spread(nodes: &[Node], shapes: &mut [Shape]) {
    let mut users = vec![Vec::new(); nodes.len()];
    for (at, node) in (0u32..).zip(nodes) {
        for part in node.parts() {
            if let Some(users) = users.get_mut(part as usize) {
                users.push(at);
            }
        }
    }
    let mut changed: Vec<Index> = (0u32..).zip(nodes).map(|(at, _)| at).collect();
    while let Some(at) = changed.pop() {
        let Some(holds) = shapes.get(at as usize).map(|shape| shape.holds) else {
            continue;
        };
        for user in users.get(at as usize).into_iter().flatten() {
            let Some(shape) = shapes.get_mut(*user as usize) else {
                continue;
            };
            let before = shape.holds.0;
            shape.holds.0 |= holds.0;
            if shape.holds.0 != before {
                changed.push(*user);
            }
        }
    }
}
