//! Writing of programs, instruction by instruction.

use std::collections::HashMap;

use super::{Literal, Op, Path, Program};

/// Program that is being written, in the order of a postfix notation.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    ops: Vec<Op>,
    literals: Vec<Literal>,
    paths: Vec<Path>,
    known: HashMap<Path, u32>,
    on_stack: usize,
    depth: usize,
}

impl Builder {
    pub(crate) fn literal(&mut self, literal: Literal) {
        let at = number(self.literals.len());
        self.literals.push(literal);
        self.push(Op::Literal(at));
    }

    /// Returns the number of a path, the same for equal ones.
    pub(crate) fn path(&mut self, path: Path) -> u32 {
        if let Some(at) = self.known.get(&path) {
            return *at;
        }
        let at = number(self.paths.len());
        self.known.insert(path.clone(), at);
        self.paths.push(path);
        at
    }

    /// Adds an instruction.
    pub(crate) fn push(&mut self, op: Op) {
        self.count(op);
        // No jump leads between the two, as they only lead behind `Joined`.
        if let Op::Compare(comparison) = op
            && let Some([Op::Load(path), Op::Literal(literal)]) = self.ops.last_chunk()
        {
            let test = Op::Test(comparison, *path, *literal);
            self.ops.truncate(self.ops.len() - 2);
            return self.ops.push(test);
        }
        self.ops.push(op);
    }

    /// Counts the operands on the stack.
    fn count(&mut self, op: Op) {
        match op {
            Op::Test(..) | Op::Literal(_) | Op::Load(_) | Op::Exist(_) | Op::Default(_) => {
                self.on_stack += 1
            }
            Op::Compare(_) | Op::Compute(_) | Op::Contains | Op::And(_) | Op::Or(_) => {
                self.on_stack = self.on_stack.saturating_sub(1);
            }
            Op::In(_) | Op::Not | Op::Negate | Op::Affirm | Op::Joined => {}
        }
        self.depth = self.depth.max(self.on_stack);
    }

    /// Returns the number of the next instruction.
    pub(crate) fn next(&self) -> u32 {
        number(self.ops.len())
    }

    /// Lets an `and` or `or` that was added before go on behind the instruction added last.
    pub(crate) fn join(&mut self, at: u32) {
        self.push(Op::Joined);
        let target = self.next();
        if let Some(Op::And(to) | Op::Or(to)) = self.ops.get_mut(at as usize) {
            *to = target;
        }
    }

    pub(crate) fn finish(self) -> Program {
        Program {
            ops: self.ops.into(),
            literals: self.literals.into(),
            paths: self.paths.into(),
            depth: self.depth,
        }
    }
}

/// Converts a number of instructions, which are fewer than a text has bytes.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
