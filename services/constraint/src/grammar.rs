//! Names of the constraint languages.

/// Constraint language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grammar {
    /// Extended Trader Constraint Language, the default of the Notification Service (formal/04-10-11, §2.4).
    ExtendedTcl,
    /// Trader Constraint Language of the Trading Service (formal/00-06-27, annex B): a name stands for a property. Components
    /// that begin with `$` are those of [`ExtendedTcl`](Self::ExtendedTcl), as TAO takes them; `default` is a name.
    Tcl,
}

impl Grammar {
    /// Returns the language of this name: `EXTENDED_TCL` or `ETCL`, and `TCL`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "EXTENDED_TCL" | "ETCL" => Some(Self::ExtendedTcl),
            "TCL" => Some(Self::Tcl),
            _ => None,
        }
    }

    /// Returns the name by which the standard knows the language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExtendedTcl => "EXTENDED_TCL",
            Self::Tcl => "TCL",
        }
    }
}
