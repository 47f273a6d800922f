//! Operators that wait for their right operand.

use super::lexer::{Lexer, Token};
use crate::diagnostic::Diagnostic;
use crate::program::{Arithmetic, Builder, Comparison, Literal, Op, Program};

/// Operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    Not,
    Plus,
    Minus,
}

/// Operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    And,
    Compare(Comparison),
    Contains,
    Compute(Arithmetic),
}

/// Precedence of an operator; the later ones bind tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Compare,
    In,
    Contains,
    Sum,
    Product,
    Not,
    Sign,
}

impl Binary {
    /// Returns the operator that a token is.
    pub(super) fn of(token: &Token) -> Option<Self> {
        Some(match token {
            Token::Or => Self::Or,
            Token::And => Self::And,
            Token::Compare(comparison) => Self::Compare(*comparison),
            Token::Tilde => Self::Contains,
            Token::Plus => Self::Compute(Arithmetic::Add),
            Token::Minus => Self::Compute(Arithmetic::Subtract),
            Token::Star => Self::Compute(Arithmetic::Multiply),
            Token::Slash => Self::Compute(Arithmetic::Divide),
            _ => return None,
        })
    }

    const fn level(self) -> Level {
        match self {
            Self::Or => Level::Or,
            Self::And => Level::And,
            Self::Compare(_) => Level::Compare,
            Self::Contains => Level::Contains,
            Self::Compute(Arithmetic::Add | Arithmetic::Subtract) => Level::Sum,
            Self::Compute(_) => Level::Product,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Waiting {
    /// Parenthesis that begins at this byte.
    Open(usize),
    Prefix(Prefix),
    /// Operator, and for `and` and `or` the number of the instruction that jumps over the right side.
    Binary(Binary, u32),
}

impl Waiting {
    /// Returns the precedence of the operator; `None` for a parenthesis, past which nothing is written.
    const fn level(self) -> Option<Level> {
        match self {
            Self::Open(_) => None,
            Self::Prefix(Prefix::Not) => Some(Level::Not),
            Self::Prefix(_) => Some(Level::Sign),
            Self::Binary(binary, _) => Some(binary.level()),
        }
    }
}

/// Operators that wait, and the program of those that do not.
pub(super) struct Operators {
    waiting: Vec<Waiting>,
    /// Parentheses and prefixes among those that wait.
    nesting: usize,
    deepest: usize,
    pub(super) program: Builder,
    /// Last operator that was written with `in`, at the number of the instruction behind it.
    behind_in: Option<u32>,
}

impl Operators {
    pub(super) fn new(deepest: usize) -> Self {
        Self {
            waiting: Vec::new(),
            nesting: 0,
            deepest,
            program: Builder::default(),
            behind_in: None,
        }
    }

    pub(super) fn open(&mut self, lexer: &Lexer<'_>) -> Result<(), Diagnostic> {
        self.nest(Waiting::Open(lexer.span().start), lexer)
    }

    pub(super) fn prefix(&mut self, prefix: Prefix, lexer: &Lexer<'_>) -> Result<(), Diagnostic> {
        self.nest(Waiting::Prefix(prefix), lexer)
    }

    fn nest(&mut self, waiting: Waiting, lexer: &Lexer<'_>) -> Result<(), Diagnostic> {
        self.nesting += 1;
        if self.nesting > self.deepest {
            let message = format!("the constraint nests deeper than {} levels", self.deepest);
            return Err(lexer.mistake(&message, "one level too many begins here"));
        }
        self.waiting.push(waiting);
        Ok(())
    }

    /// Adds a literal; a number takes the sign before it.
    pub(super) fn literal(&mut self, mut literal: Literal) {
        while let Some(Waiting::Prefix(sign @ (Prefix::Minus | Prefix::Plus))) = self.waiting.last()
        {
            match (&mut literal, sign) {
                (Literal::Integer(number), Prefix::Minus) => *number = -*number,
                (Literal::Real(number), Prefix::Minus) => *number = -*number,
                (Literal::Integer(_) | Literal::Real(_), _) => {}
                _ => break,
            }
            self.waiting.pop();
            self.nesting -= 1;
        }
        self.program.literal(literal);
    }

    pub(super) fn binary(&mut self, binary: Binary, lexer: &Lexer<'_>) -> Result<(), Diagnostic> {
        let level = binary.level();
        if level > Level::In && self.behind_in == Some(self.program.next()) {
            return Err(lexer
                .mistake(
                    "`in` is no operand of this operator",
                    "binds tighter than `in`",
                )
                .with_help("put the `in` and its operands in parentheses"));
        }
        self.write_tighter_than(level);
        let before = self.waiting.last().and_then(|one| one.level());
        let chains = !matches!(level, Level::Compare | Level::Contains);
        if before == Some(level) && !chains {
            return Err(lexer
                .mistake("comparisons do not chain", "a second comparison")
                .with_help("put one of them in parentheses"));
        }
        if before == Some(level) {
            self.write_last();
        }
        let at = self.program.next();
        match binary {
            Binary::And => self.program.push(Op::And(0)),
            Binary::Or => self.program.push(Op::Or(0)),
            _ => {}
        }
        self.waiting.push(Waiting::Binary(binary, at));
        Ok(())
    }

    /// Prepares for `in`, whose right operand is a path.
    pub(super) fn before_in(&mut self, lexer: &Lexer<'_>) -> Result<(), Diagnostic> {
        self.write_tighter_than(Level::In);
        if self.behind_in == Some(self.program.next()) {
            return Err(lexer
                .mistake("`in` does not chain", "a second `in`")
                .with_help("put one of them in parentheses"));
        }
        self.behind_in = Some(self.program.next() + 1);
        Ok(())
    }

    pub(super) fn close(&mut self, lexer: &Lexer<'_>) -> Result<(), Diagnostic> {
        self.write_all();
        match self.waiting.pop() {
            Some(Waiting::Open(_)) => {
                self.nesting -= 1;
                self.behind_in = None;
                Ok(())
            }
            _ => Err(lexer.mistake("`)` closes nothing", "no `(` stands before")),
        }
    }

    pub(super) fn end(&mut self, lexer: &Lexer<'_>) -> Result<(), Diagnostic> {
        self.write_all();
        match self.waiting.pop() {
            Some(Waiting::Open(at)) => {
                Err(lexer.mistake_at(at..at + 1, "`(` is not closed", "opened here"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn finish(self) -> Program {
        self.program.finish()
    }

    fn write_tighter_than(&mut self, level: Level) {
        while self.last_level().is_some_and(|last| last > level) {
            self.write_last();
        }
    }

    /// Writes the operators that wait since the last parenthesis was opened.
    fn write_all(&mut self) {
        while self.last_level().is_some() {
            self.write_last();
        }
    }

    fn last_level(&self) -> Option<Level> {
        self.waiting.last().and_then(|last| last.level())
    }

    /// Writes the instruction of the operator that waits last.
    fn write_last(&mut self) {
        match self.waiting.pop() {
            Some(Waiting::Prefix(prefix)) => {
                self.nesting -= 1;
                self.program.push(match prefix {
                    Prefix::Not => Op::Not,
                    Prefix::Plus => Op::Affirm,
                    Prefix::Minus => Op::Negate,
                });
            }
            Some(Waiting::Binary(binary, at)) => match binary {
                Binary::Or | Binary::And => self.program.join(at),
                Binary::Compare(comparison) => self.program.push(Op::Compare(comparison)),
                Binary::Contains => self.program.push(Op::Contains),
                Binary::Compute(arithmetic) => self.program.push(Op::Compute(arithmetic)),
            },
            _ => {}
        }
    }
}
