//! Dispatch of an operation's name in a few steps however many operations there are: by the name's
//! length, then by those of its octets that distinguish names of that length. The last step
//! compares the whole name.

//! For an interface with very many operations this is a large part of the text, and its shape is
//! simple: so it is written as text here, and only parts that do not fit on a line are laid out by
//! the formatter.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;

use crate::layout::{self, INDENT};
use crate::scope::{self, Scope};

/// Number of names that are compared one after the other.
const FEW: usize = 2;

/// Number of operations up to which a plain `match` suffices.
const SMALL: usize = 4;

/// Operation's name, and the expression that it selects.
type Arm<'n> = (&'n str, String);

/// Generates the body of a method that selects an expression by `operation`.
pub(super) fn generate(
    scope: &Scope<'_>,
    arms: Vec<Arm<'_>>,
    otherwise: &TokenStream,
) -> TokenStream {
    if arms.is_empty() {
        return otherwise.clone();
    }
    let mut chooser = Chooser {
        scope,
        otherwise: otherwise.to_string().replace(' ', ""),
        level: 0,
        text: String::new(),
    };
    if arms.len() <= SMALL {
        chooser.compare(arms);
    } else {
        chooser.by_length(arms);
    }
    scope.kept(chooser.text)
}

/// Writer of nested `match`es.
struct Chooser<'c> {
    scope: &'c Scope<'c>,
    /// Expression for an unknown name.
    otherwise: String,
    /// Nesting depth of the present `match`.
    level: usize,
    text: String,
}

impl Chooser<'_> {
    fn by_length(&mut self, arms: Vec<Arm<'_>>) {
        let mut lengths: BTreeMap<usize, Vec<Arm<'_>>> = BTreeMap::new();
        for arm in arms {
            lengths.entry(arm.0.len()).or_default().push(arm);
        }
        self.choose("operation.len()", |chooser| {
            for (length, arms) in lengths {
                chooser.branch(&length.to_string(), arms);
            }
        });
    }

    /// Writes the selection among names of one length.
    fn by_octet(&mut self, arms: Vec<Arm<'_>>) {
        let position = (arms.len() > FEW).then(|| best_position(&arms)).flatten();
        let Some(position) = position else {
            return self.compare(arms);
        };
        let mut groups: BTreeMap<u8, Vec<Arm<'_>>> = BTreeMap::new();
        for arm in arms {
            let octet = arm.0.as_bytes()[position];
            groups.entry(octet).or_default().push(arm);
        }
        let octet = match position {
            0 => "operation.as_bytes().first()".to_owned(),
            _ => format!("operation.as_bytes().get({position})"),
        };
        let some = self.scope.name("Some").to_string().replace(' ', "");
        self.choose(&octet, |chooser| {
            for (octet, arms) in groups {
                let octet = char::from(octet);
                chooser.branch(&format!("{some}(b'{octet}')"), arms);
            }
        });
    }

    /// Writes the comparison of whole names.
    fn compare(&mut self, arms: Vec<Arm<'_>>) {
        self.choose("operation", |chooser| {
            for (name, answer) in arms {
                chooser.arm(&format!("\"{name}\""), &answer);
            }
        });
    }

    /// Writes one arm of a `match`, for the names that match this pattern.
    fn branch(&mut self, pattern: &str, arms: Vec<Arm<'_>>) {
        if let [(name, answer)] = arms.as_slice() {
            return self.arm(&format!("{pattern} if operation == \"{name}\""), answer);
        }
        self.line(&format!("{pattern} => {{"));
        self.level += 1;
        self.by_octet(arms);
        self.level -= 1;
        self.line("}");
    }

    /// Writes a `match` on `value` whose last arm is for names of operations that the interface
    /// does not have.
    fn choose(&mut self, value: &str, arms: impl FnOnce(&mut Self)) {
        let outer = INDENT * (self.scope.depth() + 2 * self.level + 2);
        self.indented(outer, &format!("match {value} {{"));
        arms(self);
        let otherwise = self.otherwise.clone();
        self.arm("_", &otherwise);
        self.indented(outer, "}");
    }

    fn arm(&mut self, pattern: &str, answer: &str) {
        let indent = self.indent();
        let room = layout::room(indent);
        let arm = format!("{pattern} => {answer}");
        // The formatter lets the comma stand beyond the margin.
        if arm.len() <= room {
            self.line(&(arm + ","));
        } else if pattern.len() + " => {".len() <= room
            && answer.len() <= layout::room(indent + INDENT)
        {
            self.line(&format!("{pattern} => {{"));
            self.indented(indent + INDENT, answer);
            self.line("}");
        } else {
            let lines = layout::arm(indent, scope::parse(&arm));
            self.text.push_str(&lines.unwrap_or(arm + ",\n"));
        }
    }

    fn line(&mut self, line: &str) {
        self.indented(self.indent(), line);
    }

    /// Returns the indentation of arms: within modules, an `impl`, a method, and `match`es.
    fn indent(&self) -> usize {
        INDENT * (self.scope.depth() + 2 * self.level + 3)
    }

    fn indented(&mut self, indent: usize, line: &str) {
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Returns the position where names of one length differ most, if they differ anywhere.
fn best_position(arms: &[Arm<'_>]) -> Option<usize> {
    let length = arms.first()?.0.len();
    let distinct = |position: usize| {
        let octets = arms.iter().map(|(name, _)| name.as_bytes()[position]);
        octets.collect::<BTreeSet<u8>>().len()
    };
    // The first of the best positions.
    let best = (0..length)
        .rev()
        .max_by_key(|&position| distinct(position))?;
    (distinct(best) > 1).then_some(best)
}
