//! Components: paths to parts of an event, behind `$`.

use super::lexer::Lexer;
use crate::diagnostic::Diagnostic;
use crate::program::{Path, Root, Step};

/// Most steps of one component. IDL does not nest types that deep.
const MOST_STEPS: usize = 64;

impl Lexer<'_> {
    /// Reads a component, behind its `$`.
    pub(super) fn component(&mut self) -> Result<Path, Diagnostic> {
        let start = self.scanner.position() - 1;
        let root = self.root();
        let mut steps = Vec::new();
        while let Some(step) = self.step()? {
            let is_last = matches!(
                step,
                Step::Length | Step::Discriminator | Step::TypeId | Step::ReposId
            );
            steps.push(step);
            if is_last {
                break;
            }
            if steps.len() > MOST_STEPS {
                let span = start..self.scanner.position();
                let message = format!("a component has more than {MOST_STEPS} steps");
                return Err(self.mistake_at(span, &message, "too long"));
            }
        }
        Ok(Path::new(root, steps))
    }

    /// Reads the name of a variable, if one follows that is not the next word of the constraint.
    fn root(&mut self) -> Root {
        let mut ahead = self.scanner;
        ahead.skip_space();
        let is_apart = ahead.position() != self.scanner.position();
        let Some(name) = ahead.take_name() else {
            return Root::Event;
        };
        if is_apart && !name.is_escaped && is_operator(name.text) {
            return Root::Event;
        }
        self.scanner = ahead;
        match name.text {
            "curtime" if !name.is_escaped => Root::CurrentTime,
            text => Root::Variable(text.into()),
        }
    }

    fn step(&mut self) -> Result<Option<Step>, Diagnostic> {
        self.begin();
        match self.scanner.peek() {
            Some('.') => self.behind_point().map(Some),
            Some('[') => self.element().map(Some),
            Some('(') => self.named().map(Some),
            _ => Ok(None),
        }
    }

    fn behind_point(&mut self) -> Result<Step, Diagnostic> {
        self.scanner.take();
        self.begin();
        if let Some(name) = self.scanner.take_name() {
            return Ok(match name.text {
                text if name.is_escaped => Step::Member(text.into()),
                "_length" => Step::Length,
                "_d" => Step::Discriminator,
                "_type_id" => Step::TypeId,
                "_repos_id" => Step::ReposId,
                text => Step::Member(text.into()),
            });
        }
        match self.scanner.peek() {
            Some('(') => self.union_member(),
            Some(one) if one.is_ascii_digit() => self.index().map(Step::Position),
            _ => Err(self.not("a member's name or position, or a union's discriminator")),
        }
    }

    fn element(&mut self) -> Result<Step, Diagnostic> {
        self.scanner.take();
        self.begin();
        let index = self.index()?;
        self.expect(']')?;
        Ok(Step::Element(index))
    }

    fn named(&mut self) -> Result<Step, Diagnostic> {
        self.scanner.take();
        self.begin();
        let name = match self.scanner.take_name() {
            Some(name) => name.text.into(),
            None if self.scanner.take_if('\'') => self.string()?,
            None => return Err(self.not("the name of a value in a list")),
        };
        self.expect(')')?;
        Ok(Step::Named(name))
    }

    fn union_member(&mut self) -> Result<Step, Diagnostic> {
        self.scanner.take();
        self.begin();
        let step = match self.scanner.peek() {
            Some(')') => Step::UnionDefault,
            Some('\'') => {
                self.scanner.take();
                Step::UnionNamed(self.string()?)
            }
            _ => Step::Union(self.discriminator()?),
        };
        self.expect(')')?;
        Ok(step)
    }

    fn discriminator(&mut self) -> Result<i128, Diagnostic> {
        let is_negative = self.scanner.take_if('-');
        if !is_negative {
            self.scanner.take_if('+');
        }
        self.scanner.skip_space();
        let digits = self.scanner.take_while(|one| one.is_ascii_digit());
        match digits.parse::<i128>() {
            Ok(number) if is_negative => Ok(-number),
            Ok(number) => Ok(number),
            Err(_) => Err(self.not("a discriminator: a number, or a string")),
        }
    }

    fn index(&mut self) -> Result<u32, Diagnostic> {
        let digits = self.scanner.take_while(|one| one.is_ascii_digit());
        digits.parse().map_err(|_| self.not("an index"))
    }

    fn expect(&mut self, wanted: char) -> Result<(), Diagnostic> {
        self.begin();
        match self.scanner.take_if(wanted) {
            true => Ok(()),
            false => Err(self.not(&format!("`{wanted}`"))),
        }
    }

    /// Makes the diagnostic of a word that is not what was expected.
    fn not(&mut self, expected: &str) -> Diagnostic {
        if self.span().is_empty() {
            self.scanner.take();
        }
        let message = format!("expected {expected}");
        self.mistake(&message, "not that")
    }
}

/// Returns whether a word is an operator between operands.
fn is_operator(word: &str) -> bool {
    matches!(word, "and" | "or" | "in")
}
