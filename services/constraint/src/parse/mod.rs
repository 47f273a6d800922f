//! Text to program, in one pass and without recursion: operators wait on a list of their own until those that bind
//! tighter are written (the shunting-yard algorithm of Dijkstra, 1961).

mod component;
mod lexer;
mod operators;
mod scanner;

use crate::diagnostic::Diagnostic;
use crate::grammar::Grammar;
use crate::limits::Limits;
use crate::program::{Literal, Op, Path, Program, Root, Step};

use lexer::{Lexer, Token};
use operators::{Binary, Operators, Prefix};

/// Parses a constraint. An empty one is always true.
///
/// # Errors
/// The first mistake.
pub(crate) fn parse(grammar: Grammar, text: &str, limits: &Limits) -> Result<Program, Diagnostic> {
    if text.len() > limits.length {
        let message = format!(
            "the constraint has {} bytes, and the limit is {}",
            text.len(),
            limits.length
        );
        return Err(Diagnostic::new(text, 0..0, message, "too long"));
    }
    let mut parser = Parser {
        lexer: Lexer::new(grammar, text),
        operators: Operators::new(limits.depth),
    };
    parser.constraint()?;
    Ok(parser.operators.finish())
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    operators: Operators,
}

impl Parser<'_> {
    fn constraint(&mut self) -> Result<(), Diagnostic> {
        if self.lexer.is_at_end() {
            self.operators.program.literal(Literal::Boolean(true));
            return Ok(());
        }
        loop {
            self.operand()?;
            if !self.operators_behind()? {
                return Ok(());
            }
        }
    }

    /// Reads prefixes, and the operand behind them.
    fn operand(&mut self) -> Result<(), Diagnostic> {
        loop {
            let token = self.lexer.next_token()?;
            match token {
                Token::Open => self.operators.open(&self.lexer)?,
                Token::Not => self.operators.prefix(Prefix::Not, &self.lexer)?,
                Token::Plus => self.operators.prefix(Prefix::Plus, &self.lexer)?,
                Token::Minus => self.operators.prefix(Prefix::Minus, &self.lexer)?,
                _ => return self.primary(token),
            }
        }
    }

    fn primary(&mut self, token: Token) -> Result<(), Diagnostic> {
        match token {
            Token::Literal(literal) => self.operators.literal(literal),
            Token::Exist => {
                let path = self.path()?;
                self.operators.program.push(Op::Exist(path));
            }
            Token::Default => {
                let path = self.union()?;
                self.operators.program.push(Op::Default(path));
            }
            Token::Dollar | Token::Name(_) => {
                let path = self.path_from(token)?;
                self.operators.program.push(Op::Load(path));
            }
            _ => return Err(self.no_operand(&token)),
        }
        Ok(())
    }

    /// Reads the path behind `exist`, `default` and `in`.
    fn path(&mut self) -> Result<u32, Diagnostic> {
        let token = self.lexer.next_token()?;
        match token {
            Token::Dollar | Token::Name(_) => self.path_from(token),
            _ => Err(self.no_component()),
        }
    }

    /// Reads the path behind `default`: that of a union, or of its discriminator.
    fn union(&mut self) -> Result<u32, Diagnostic> {
        let Token::Dollar = self.lexer.next_token()? else {
            return Err(self.no_component());
        };
        let path = self.lexer.component()?;
        let mut steps = Vec::from(path.steps);
        if steps.last() == Some(&Step::Discriminator) {
            steps.pop();
        }
        Ok(self.operators.program.path(Path::new(path.root, steps)))
    }

    fn path_from(&mut self, token: Token) -> Result<u32, Diagnostic> {
        let path = match token {
            Token::Name(name) => Path::new(Root::Variable(name), Vec::new()),
            _ => self.lexer.component()?,
        };
        Ok(self.operators.program.path(path))
    }

    fn no_component(&self) -> Diagnostic {
        self.lexer
            .mistake("expected a component of the event", "not a component")
    }

    fn no_operand(&self, token: &Token) -> Diagnostic {
        match token {
            Token::End => self
                .lexer
                .mistake("expected a value, found the end", "a value is missing here"),
            _ => self.lexer.mistake("expected a value", "not a value"),
        }
    }

    /// Reads what stands behind an operand; returns whether another operand has to follow.
    fn operators_behind(&mut self) -> Result<bool, Diagnostic> {
        loop {
            match self.lexer.next_token()? {
                Token::End => {
                    self.operators.end(&self.lexer)?;
                    return Ok(false);
                }
                Token::Close => self.operators.close(&self.lexer)?,
                Token::In => self.membership()?,
                token => {
                    let Some(binary) = Binary::of(&token) else {
                        return Err(self.no_operator(&token));
                    };
                    self.operators.binary(binary, &self.lexer)?;
                    return Ok(true);
                }
            }
        }
    }

    fn membership(&mut self) -> Result<(), Diagnostic> {
        self.operators.before_in(&self.lexer)?;
        let path = self.path()?;
        self.operators.program.push(Op::In(path));
        Ok(())
    }

    fn no_operator(&self, token: &Token) -> Diagnostic {
        let mistake = self
            .lexer
            .mistake("expected an operator", "not an operator");
        match token {
            Token::Assign => self
                .lexer
                .mistake("`=` is not an operator", "not an operator")
                .with_help("`==` compares"),
            Token::Not => mistake.with_help("`!=` is for values that differ"),
            _ => mistake,
        }
    }
}
