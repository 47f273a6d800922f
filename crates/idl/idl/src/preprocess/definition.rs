//! Definition of a macro.

use std::rc::Rc;

use crate::lexer::Token;
use crate::session::Symbol;
use crate::source::Place;

pub(super) struct Macro {
    /// Parameters; `None` for a macro without a parameter list.
    pub(super) parameters: Option<Vec<Symbol>>,
    pub(super) body: Rc<[Token]>,
    pub(super) place: Place,
}

impl Macro {
    /// Returns whether two definitions of a macro have equal parameters and equal bodies.
    pub(super) fn says_the_same(&self, other: &Macro) -> bool {
        let texts = |m: &Macro| m.body.iter().map(|t| (t.kind, t.text)).collect::<Vec<_>>();
        self.parameters == other.parameters && texts(self) == texts(other)
    }
}
