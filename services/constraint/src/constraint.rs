//! Constraints.

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::evaluate::{Failure, evaluate};
use crate::event::Event;
use crate::grammar::Grammar;
use crate::limits::Limits;
use crate::parse::parse;
use crate::program::{Key, Path, Program};

/// Compiled constraint. A clone shares the program.
///
/// `Display` shows it as it was understood, with all parentheses.
#[derive(Clone)]
pub struct Constraint {
    inner: Arc<Inner>,
}

struct Inner {
    program: Program,
    keys: Box<[Key]>,
    steps: u32,
}

impl Constraint {
    /// Compiles a constraint. An empty text is a constraint that is always true.
    ///
    /// Takes time and memory in proportion to the text.
    ///
    /// # Errors
    /// The first mistake: one of the language, or a text beyond the limits.
    pub fn compile(grammar: Grammar, text: &str, limits: &Limits) -> Result<Self, Diagnostic> {
        let program = parse(grammar, text, limits)?;
        let inner = Inner {
            keys: program.keys().into(),
            program,
            steps: limits.steps,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Returns whether the constraint is true for an event. One that cannot be evaluated is false.
    ///
    /// Allocates for text that has to be converted from another code set, for TypeCodes of nested Anys that the thread
    /// has not seen lately, and for constraints that need more than eight operands at a time.
    #[must_use]
    pub fn matches(&self, event: &dyn Event) -> bool {
        self.evaluate(event).unwrap_or(false)
    }

    /// Returns whether the constraint is true for an event, or why it cannot be evaluated.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn evaluate(&self, event: &dyn Event) -> Result<bool, Failure> {
        evaluate(&self.inner.program, event, self.inner.steps)
    }

    /// Returns equalities that hold for all events for which the constraint is true: those between its outermost `and`s.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.inner.keys
    }

    /// Returns the components of an event that the constraint names, each once, as they are written.
    pub fn fields(&self) -> impl Iterator<Item = String> + '_ {
        self.inner.program.paths.iter().map(ToString::to_string)
    }

    /// Returns the path of a key's field.
    pub(crate) fn path(&self, key: &Key) -> Option<&Path> {
        self.inner.program.path(key.path)
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.inner.program, f)
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Constraint({self})")
    }
}
