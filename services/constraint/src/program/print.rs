//! Programs as text: with all parentheses, so that it shows how a constraint was understood.

use std::fmt;

use super::{Arithmetic, Comparison, Op, Program};

/// Text of an operand, and what stands around it.
#[derive(Default)]
struct Leaf {
    /// Texts before it, the last first.
    before: Vec<&'static str>,
    text: String,
    after: usize,
}

/// Range of leaves that an operand on the stack spans, and the operator behind it.
struct Span {
    first: usize,
    last: usize,
    joint: &'static str,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        self.ops.iter().for_each(|op| printer.see(self, *op));
        for leaf in printer.leaves {
            leaf.before
                .iter()
                .rev()
                .try_for_each(|text| f.write_str(text))?;
            f.write_str(&leaf.text)?;
            (0..leaf.after).try_for_each(|_| f.write_str(")"))?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Printer {
    leaves: Vec<Leaf>,
    stack: Vec<Span>,
}

impl Printer {
    fn see(&mut self, program: &Program, op: Op) {
        let path = |at| {
            program
                .path(at)
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        match op {
            Op::Literal(at) => {
                self.leaf(
                    program
                        .literal(at)
                        .map(ToString::to_string)
                        .unwrap_or_default(),
                );
            }
            Op::Load(at) => self.leaf(path(at)),
            Op::Test(comparison, at, literal) => {
                self.leaf(path(at));
                self.see(program, Op::Literal(literal));
                self.binary(comparison.text());
            }
            Op::Exist(at) => self.leaf(format!("exist {}", path(at))),
            Op::Default(at) => self.leaf(format!("default {}", path(at))),
            Op::In(at) => {
                self.leaf(path(at));
                self.binary(" in ");
            }
            Op::Not => self.unary("not "),
            Op::Negate => self.unary("-"),
            Op::Affirm => self.unary("+"),
            Op::Compare(comparison) => self.binary(comparison.text()),
            Op::Compute(arithmetic) => self.binary(arithmetic.text()),
            Op::Contains => self.binary(" ~ "),
            Op::And(_) => self.follow(" and "),
            Op::Or(_) => self.follow(" or "),
            Op::Joined => {
                let left = self
                    .stack
                    .len()
                    .checked_sub(2)
                    .and_then(|at| self.stack.get(at));
                let joint = left.map_or("", |left| left.joint);
                self.binary(joint);
            }
        }
    }

    fn leaf(&mut self, text: String) {
        let at = self.leaves.len();
        self.leaves.push(Leaf {
            text,
            ..Leaf::default()
        });
        self.stack.push(Span {
            first: at,
            last: at,
            joint: "",
        });
    }

    fn follow(&mut self, joint: &'static str) {
        if let Some(left) = self.stack.last_mut() {
            left.joint = joint;
        }
    }

    fn unary(&mut self, operator: &'static str) {
        if let Some(span) = self.stack.pop() {
            self.before(span.first, operator);
            self.wrap(span.first, span.last);
        }
    }

    fn binary(&mut self, operator: &'static str) {
        if let (Some(right), Some(left)) = (self.stack.pop(), self.stack.pop()) {
            self.before(right.first, operator);
            self.wrap(left.first, right.last);
        }
    }

    fn before(&mut self, at: usize, text: &'static str) {
        if let Some(leaf) = self.leaves.get_mut(at) {
            leaf.before.push(text);
        }
    }

    /// Puts parentheses around leaves, which become one operand.
    fn wrap(&mut self, first: usize, last: usize) {
        self.before(first, "(");
        if let Some(leaf) = self.leaves.get_mut(last) {
            leaf.after += 1;
        }
        self.stack.push(Span {
            first,
            last,
            joint: "",
        });
    }
}

impl Comparison {
    const fn text(self) -> &'static str {
        match self {
            Self::Equal => " == ",
            Self::Unequal => " != ",
            Self::Less => " < ",
            Self::LessOrEqual => " <= ",
            Self::Greater => " > ",
            Self::GreaterOrEqual => " >= ",
        }
    }
}

impl Arithmetic {
    const fn text(self) -> &'static str {
        match self {
            Self::Add => " + ",
            Self::Subtract => " - ",
            Self::Multiply => " * ",
            Self::Divide => " / ",
        }
    }
}
