//! Equalities that a constraint needs to be true.

use super::{Comparison, Literal, Op, Program};

/// Equality of a field and a literal that has to hold for a constraint to be true.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Number of the field's path in the program.
    pub(crate) path: u32,
    field: Box<str>,
    value: Literal,
}

impl Key {
    /// Returns the field, as it is written in a constraint: `$type_name`.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns the value that the field has to be equal to.
    #[must_use]
    pub fn value(&self) -> &Literal {
        &self.value
    }
}

/// Operand on the stack, as far as keys depend on it.
enum Part {
    Path(u32),
    Literal(u32),
    /// Condition that needs all keys from this one on.
    Condition(usize),
}

impl Program {
    /// Returns the equalities that stand between the outermost `and`s, in order.
    pub(crate) fn keys(&self) -> Vec<Key> {
        let mut finder = Finder {
            program: self,
            keys: Vec::new(),
            stack: Vec::new(),
        };
        self.ops.iter().for_each(|op| finder.see(*op));
        finder.keys
    }
}

struct Finder<'p> {
    program: &'p Program,
    keys: Vec<Key>,
    stack: Vec<(Part, Joint)>,
}

/// Operator that follows an operand on the stack.
#[derive(Clone, Copy, PartialEq)]
enum Joint {
    None,
    And,
    Or,
}

impl Finder<'_> {
    fn see(&mut self, op: Op) {
        match op {
            Op::Literal(at) => self.push(Part::Literal(at)),
            Op::Load(at) => self.push(Part::Path(at)),
            Op::Test(comparison, path, literal) => self.test(comparison, path, literal),
            Op::Exist(_) | Op::Default(_) => self.push(Part::Condition(self.keys.len())),
            Op::And(_) => self.follow(Joint::And),
            Op::Or(_) => self.follow(Joint::Or),
            Op::Joined => self.join(),
            Op::In(_) | Op::Not | Op::Negate | Op::Affirm => self.replace(1),
            Op::Compare(Comparison::Equal) => self.equal(),
            Op::Compare(_) | Op::Compute(_) | Op::Contains => self.replace(2),
        }
    }

    fn push(&mut self, part: Part) {
        self.stack.push((part, Joint::None));
    }

    /// Sees the operator behind the left operand: keys of the right one come after those that are there.
    fn follow(&mut self, joint: Joint) {
        if let Some((part, _)) = self.stack.pop() {
            let from = self.first_key(&part);
            self.stack.push((Part::Condition(from), joint));
        }
    }

    fn join(&mut self) {
        let (Some(_), Some((left, joint))) = (self.stack.pop(), self.stack.pop()) else {
            return;
        };
        let from = self.first_key(&left);
        if joint == Joint::Or {
            self.keys.truncate(from);
        }
        self.push(Part::Condition(from));
    }

    /// Replaces operands by a condition that needs none of their keys.
    fn replace(&mut self, count: usize) {
        let mut from = self.keys.len();
        for _ in 0..count {
            if let Some((part, _)) = self.stack.pop() {
                from = from.min(self.first_key(&part));
            }
        }
        self.keys.truncate(from);
        self.push(Part::Condition(from));
    }

    fn first_key(&self, part: &Part) -> usize {
        match part {
            Part::Condition(from) => *from,
            _ => self.keys.len(),
        }
    }

    fn test(&mut self, comparison: Comparison, path: u32, literal: u32) {
        self.push(Part::Condition(self.keys.len()));
        if comparison == Comparison::Equal {
            self.keys.extend(self.key(path, literal));
        }
    }

    /// Sees an equality, whose literal may stand on the left.
    fn equal(&mut self) {
        let key = match self.stack.last_chunk::<2>() {
            Some([(Part::Literal(literal), _), (Part::Path(path), _)]) => self.key(*path, *literal),
            _ => None,
        };
        self.replace(2);
        self.keys.extend(key);
    }

    fn key(&self, path: u32, literal: u32) -> Option<Key> {
        Some(Key {
            path,
            field: self.program.path(path)?.to_string().into(),
            value: self.program.literal(literal)?.clone(),
        })
    }
}
