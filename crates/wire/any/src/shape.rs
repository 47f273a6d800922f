//! What is known of a type's values before one is seen, and whether a type is one at all.
//!
//! A value of fixed size is passed over by arithmetic: how many octets it takes depends only on where,
//! in steps of 8, it begins. So is a sequence of such values, however long.

use punctual_cdr::CdrError;

use crate::kind::TypeKind;
use crate::type_code::{Index, Node};

/// What all values of a type have in common on the wire.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// What the first octet is aligned to.
    pub(crate) first: u8,
    /// What is somewhere in a value, at any depth.
    pub(crate) holds: Holds,
    /// The least number of octets, without padding.
    pub(crate) min_size: u64,
    /// How many octets a value takes, padding before it included, for each phase that it may begin at: the
    /// octets from the last multiple of 8. `None` where that depends on the value.
    pub(crate) sizes: Option<Sizes>,
    /// The type behind aliases.
    pub(crate) original: Index,
}

/// Octets taken, for each phase.
pub(crate) type Sizes = [u64; 8];

impl Shape {
    /// That of `null` and `void`.
    pub(crate) const NOTHING: Self = Self {
        first: 1,
        holds: Holds(0),
        min_size: 0,
        sizes: Some([0; 8]),
        original: 0,
    };

    fn of_number(size: u8, alignment: u8) -> Self {
        let mut sizes = [0; 8];
        for (phase, taken) in (0u64..).zip(&mut sizes) {
            *taken = u64::from(size) + (phase.wrapping_neg() & u64::from(alignment - 1));
        }
        Self {
            first: alignment,
            holds: Holds::aligned(alignment),
            min_size: u64::from(size),
            sizes: Some(sizes),
            original: 0,
        }
    }

    fn variable(first: u8, min_size: u64, holds: u16) -> Self {
        Self {
            first,
            holds: Holds(Holds::aligned(first).0 | holds),
            min_size,
            sizes: None,
            original: 0,
        }
    }
}

/// What a value holds somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Holds(u16);

impl Holds {
    const ALIGNED_2: u16 = 1;
    const ALIGNED_4: u16 = 2;
    const ALIGNED_8: u16 = 4;
    const NARROW: u16 = 8;
    const WIDE: u16 = 16;
    const ANY: u16 = 32;
    const REFERENCE: u16 = 64;
    const VALUE: u16 = 128;

    const fn aligned(alignment: u8) -> Self {
        Self(match alignment {
            2 => Self::ALIGNED_2,
            4 => Self::ALIGNED_4,
            8 => Self::ALIGNED_8,
            _ => 0,
        })
    }

    /// The largest alignment of anything in a value; its encoding looks the same wherever it begins at the
    /// same distance from a multiple of that.
    pub(crate) const fn alignment(self) -> usize {
        if self.0 & (Self::ALIGNED_8 | Self::ANY | Self::VALUE) != 0 {
            8
        } else if self.0 & Self::ALIGNED_4 != 0 {
            4
        } else if self.0 & Self::ALIGNED_2 != 0 {
            2
        } else {
            1
        }
    }

    /// Whether there is `char` or `string`, or may be.
    pub(crate) const fn has_narrow(self) -> bool {
        self.0 & (Self::NARROW | Self::ANY | Self::VALUE) != 0
    }

    /// Whether there is `wchar` or `wstring`, or may be.
    pub(crate) const fn has_wide(self) -> bool {
        self.0 & (Self::WIDE | Self::ANY | Self::VALUE) != 0
    }

    /// Whether there are valuetypes, those in Anys aside.
    pub(crate) const fn has_values(self) -> bool {
        self.0 & Self::VALUE != 0
    }

    /// Whether something may need an environment to come alive.
    pub(crate) const fn has_live(self) -> bool {
        self.0 & (Self::REFERENCE | Self::ANY | Self::VALUE) != 0
    }
}

/// How many octets `count` values of fixed size take that begin at `phase`. In constant time: after 8 values
/// at most, a phase comes again.
pub(crate) fn run_size(sizes: &Sizes, phase: usize, count: u64) -> u64 {
    let taken = |phase: u64| {
        let place = usize::try_from(phase % 8).unwrap_or(0);
        sizes.get(place).copied().unwrap_or(0)
    };
    let mut total = 0u64;
    let mut at = phase as u64 % 8;
    let mut seen = [None; 8];
    let mut done = 0u64;
    while done < count {
        let place = seen.get_mut(usize::try_from(at).unwrap_or(0));
        let Some(place) = place else { break };
        if let Some((before, total_then)) = *place {
            let (period, each): (u64, u64) = (done - before, total - total_then);
            let rounds = (count - done) / period;
            total = total.saturating_add(each.saturating_mul(rounds));
            done += rounds * period;
            seen = [None; 8];
            if done == count {
                break;
            }
            continue;
        }
        *place = Some((done, total));
        let size = taken(at);
        total = total.saturating_add(size);
        at = at.wrapping_add(size) % 8;
        done += 1;
    }
    total
}

/// The shapes of all nodes.
///
/// # Errors
/// [`CdrError::BadTypeCode`] for what is no type: one whose values would be endless, as it holds itself
/// other than in a sequence or valuetype; one with members that no value has; a union that does not tell
/// which member a discriminator chooses; a part that was never defined.
pub(crate) fn shapes(nodes: &[Node]) -> Result<Box<[Shape]>, CdrError> {
    let mut shapes = vec![Shape::NOTHING; nodes.len()];
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
        check_base(node, nodes, &shapes)?;
    }
    spread(nodes, &mut shapes);
    Ok(shapes.into())
}

/// The parts whose encoding stands in that of the node: in a sequence, and where a valuetype stands, there
/// may be none.
fn direct_parts(node: &Node) -> impl Iterator<Item = Index> + '_ {
    let is_direct = !matches!(
        node,
        Node::Sequence { .. } | Node::Value(_) | Node::ValueBox { .. }
    );
    node.parts().filter(move |_| is_direct)
}

/// All places, those of direct parts before what they are part of. No recursion: a peer's types may be
/// chained as long as their message allows.
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
                        "values of the type would hold themselves without end",
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

/// Whether the node is a type, its parts being ones.
fn check(node: &Node, nodes: &[Node], shapes: &[Shape]) -> Result<(), CdrError> {
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

/// Whether what a valuetype inherits from is one. It may come behind it in the order.
fn check_base(node: &Node, nodes: &[Node], shapes: &[Shape]) -> Result<(), CdrError> {
    let Node::Value(value) = node else {
        return Ok(());
    };
    let original = |at: Index| shapes.get(at as usize).map(|shape| shape.original);
    let base = value.base.and_then(original);
    let base = base.and_then(|base| nodes.get(base as usize));
    match base {
        None | Some(Node::Value(_)) => Ok(()),
        Some(_) => Err(CdrError::BadTypeCode("a valuetype's base is none")),
    }
}

/// Whether values of the kind can choose a union's member.
pub(crate) fn is_discrete(kind: TypeKind) -> bool {
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

/// A node's shape, those of its direct parts being known.
fn shape(node: &Node, shapes: &[Shape]) -> Shape {
    let part = |at: Index| shapes.get(at as usize).unwrap_or(&Shape::NOTHING);
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
        // The repository id precedes the members, or does not (see `walk::exception`).
        Node::Exception { .. } => Shape::variable(1, 0, Holds::ALIGNED_8),
        Node::Union(union) => {
            let discriminator = part(union.discriminator);
            Shape {
                sizes: None,
                ..discriminator.clone()
            }
        }
        Node::Enum { .. } => Shape::of_number(4, 4),
        Node::Recursive { .. } => Shape::NOTHING,
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
        // A length and octets in GIOP 1.2, a number in 1.1.
        Kind::WChar => Shape::variable(1, 1, Holds::WIDE | Holds::ALIGNED_2),
        Kind::Any | Kind::TypeCode => Shape::variable(4, 4, Holds::ANY),
        Kind::Principal => Shape::variable(4, 4, 0),
        _ => Shape::NOTHING,
    }
}

fn array(element: &Shape, length: u64) -> Shape {
    Shape {
        min_size: element.min_size.saturating_mul(length),
        sizes: element
            .sizes
            .map(|sizes| std::array::from_fn(|phase| run_size(&sizes, phase, length))),
        ..element.clone()
    }
}

fn structure(members: &mut dyn Iterator<Item = &Shape>) -> Shape {
    let mut whole = Shape::NOTHING;
    let mut is_first = true;
    for member in members {
        if is_first {
            // What is before the first number decides where the struct begins.
            whole.first = member.first;
            is_first = false;
        }
        whole.holds.0 |= member.holds.0;
        whole.min_size = whole.min_size.saturating_add(member.min_size);
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

/// Makes each shape tell what is held through sequences and unions, too.
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
