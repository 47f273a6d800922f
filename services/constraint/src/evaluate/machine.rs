//! The machine that runs a program.

use super::arithmetic::{affirm, negate};
use super::compare::contains;
use super::failure::Failure;
use super::found::Found;
use super::list::is_in;
use super::operand::Operand;
use super::reach::{is_default, load, reach};
use super::steps::Steps;
use crate::event::Event;
use crate::program::{Op, Path, Program};

/// Runs a program; returns its result.
///
/// # Errors
/// [`Failure`].
pub(crate) fn evaluate(program: &Program, event: &dyn Event, steps: u32) -> Result<bool, Failure> {
    // Memory is allocated for programs with more than eight operands at a time.
    match program.depth {
        ..=2 => run(program, event, steps, &mut [EMPTY; 2]),
        3..=8 => run(program, event, steps, &mut [EMPTY; 8]),
        depth => run(program, event, steps, &mut vec![EMPTY; depth]),
    }
}

/// Content of a slot of the stack that holds no operand.
const EMPTY: Operand<'static> = Operand::Boolean(false);

fn run<'e>(
    program: &'e Program,
    event: &'e dyn Event,
    steps: u32,
    stack: &mut [Operand<'e>],
) -> Result<bool, Failure> {
    Machine::new(program, event, steps, stack).run()
}

struct Machine<'s, 'e> {
    program: &'e Program,
    event: &'e dyn Event,
    steps: Steps,
    stack: &'s mut [Operand<'e>],
    /// Number of operands on the stack.
    height: usize,
}

impl<'s, 'e> Machine<'s, 'e> {
    fn new(
        program: &'e Program,
        event: &'e dyn Event,
        steps: u32,
        stack: &'s mut [Operand<'e>],
    ) -> Self {
        Self {
            program,
            event,
            steps: Steps::new(steps),
            stack,
            height: 0,
        }
    }

    fn run(mut self) -> Result<bool, Failure> {
        let mut next = 0;
        while let Some(op) = self.program.ops.get(next) {
            self.steps.take(1)?;
            next = match *op {
                Op::And(target) if !self.top()?.boolean()? => target as usize,
                Op::Or(target) if self.top()?.boolean()? => target as usize,
                op => {
                    self.step(op)?;
                    next + 1
                }
            };
        }
        self.pop()?.boolean()
    }

    fn step(&mut self, op: Op) -> Result<(), Failure> {
        match op {
            Op::Literal(at) => {
                let literal = self.program.literal(at).ok_or(Failure::Type)?;
                self.push(Operand::of(literal))
            }
            Op::Load(at) => {
                let operand = self.load(at)?;
                self.push(operand)
            }
            Op::Test(comparison, at, literal) => {
                let literal = self.program.literal(literal).ok_or(Failure::Type)?;
                let operand = self.load(at)?;
                let result = comparison.of(&operand, &Operand::of(literal), &mut self.steps)?;
                self.push(Operand::Boolean(result))
            }
            Op::Exist(at) => self.exist(at),
            Op::Default(at) => {
                let cursor = self.found(at)?.cursor(&mut self.steps)?;
                self.push(Operand::Boolean(is_default(&cursor)?))
            }
            Op::In(at) => {
                let list = self.found(at)?.cursor(&mut self.steps)?;
                let value = self.pop()?;
                let is_in = is_in(&value, list, &mut self.steps)?;
                self.push(Operand::Boolean(is_in))
            }
            Op::And(_) | Op::Or(_) => self.pop().map(drop),
            Op::Joined => self.top()?.boolean().map(drop),
            _ => self.compute(op),
        }
    }

    fn compute(&mut self, op: Op) -> Result<(), Failure> {
        let right = self.pop()?;
        let result = match op {
            Op::Not => Operand::Boolean(!right.boolean()?),
            Op::Negate => negate(&right)?,
            Op::Compare(comparison) => {
                Operand::Boolean(comparison.of(&self.pop()?, &right, &mut self.steps)?)
            }
            Op::Compute(arithmetic) => arithmetic.of(&self.pop()?, &right)?,
            Op::Contains => Operand::Boolean(contains(&self.pop()?, &right, &mut self.steps)?),
            _ => {
                affirm(&right)?;
                right
            }
        };
        self.push(result)
    }

    fn exist(&mut self, at: u32) -> Result<(), Failure> {
        let is_there = match self.found(at) {
            Ok(_) => true,
            Err(Failure::Absent) => false,
            Err(failure) => return Err(failure),
        };
        self.push(Operand::Boolean(is_there))
    }

    fn load(&mut self, at: u32) -> Result<Operand<'e>, Failure> {
        let path: &'e Path = self.program.path(at).ok_or(Failure::Absent)?;
        load(self.event, path, &mut self.steps)
    }

    fn found(&mut self, at: u32) -> Result<Found<'e>, Failure> {
        let path: &'e Path = self.program.path(at).ok_or(Failure::Absent)?;
        reach(self.event, path, &mut self.steps)
    }

    fn push(&mut self, operand: Operand<'e>) -> Result<(), Failure> {
        *self.stack.get_mut(self.height).ok_or(Failure::Steps)? = operand;
        self.height += 1;
        Ok(())
    }

    fn pop(&mut self) -> Result<Operand<'e>, Failure> {
        let at = self.height.checked_sub(1).ok_or(Failure::Type)?;
        let slot = self.stack.get_mut(at).ok_or(Failure::Type)?;
        self.height = at;
        Ok(std::mem::replace(slot, EMPTY))
    }

    fn top(&self) -> Result<&Operand<'e>, Failure> {
        let at = self.height.checked_sub(1);
        at.and_then(|at| self.stack.get(at)).ok_or(Failure::Type)
    }
}
