//! Tree of the contexts around the displayed context, limited to those needed for orientation.

use punctual_naming::cos_naming::NameComponent;

use super::names::text_of;
use super::state::NamingPage;

/// Maximum number of child contexts that are shown of one context, and number of bindings that are
/// searched for them.
const BRANCHES: (usize, usize) = (50, 5_000);

/// Maximum number of contexts of a name that are shown together with their siblings.
const LEVELS: usize = 6;

/// Line in the displayed tree of naming contexts.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) depth: usize,
    pub(super) text: String,
    pub(super) name: String,
    pub(super) is_here: bool,
    pub(super) is_open: bool,
    /// True if the line represents further contexts that are not shown.
    pub(super) is_rest: bool,
}

impl Branch {
    /// Returns the root, the contexts that lead to `name` with their siblings, and the child
    /// contexts of the last one.
    pub(super) fn tree(naming: &NamingPage, name: &[NameComponent]) -> Vec<Self> {
        let root = Self {
            depth: 0,
            text: "/".to_owned(),
            name: String::new(),
            is_here: name.is_empty(),
            is_open: true,
            is_rest: false,
        };
        let mut lines = vec![root];
        Self::grow(naming, name, 0, &mut lines);
        lines
    }

    fn grow(naming: &NamingPage, name: &[NameComponent], depth: usize, lines: &mut Vec<Self>) {
        let Some((above, rest)) = name.split_at_checked(depth) else {
            return;
        };
        let has_neighbours = rest.len() <= LEVELS;
        let (most, among) = if has_neighbours { BRANCHES } else { (0, 0) };
        let found = naming.directory.contexts(above, most, among);
        let (mut contexts, are_all) = found.unwrap_or_default();
        let next = rest.first();
        contexts.extend(next.filter(|next| !contexts.contains(next)).cloned());
        for context in contexts {
            let is_open = next == Some(&context);
            lines.push(Self {
                depth: (depth + 1).min(12),
                text: one(&context),
                name: below(above, &context),
                is_here: is_open && rest.len() == 1,
                is_open,
                is_rest: false,
            });
            if is_open {
                Self::grow(naming, name, depth + 1, lines);
            }
        }
        if !are_all {
            lines.push(Self {
                depth: (depth + 1).min(12),
                text: "more in the list".to_owned(),
                name: text_of(above),
                is_here: false,
                is_open: false,
                is_rest: true,
            });
        }
    }
}

/// Returns a name component in its stringified form.
pub(super) fn one(component: &NameComponent) -> String {
    text_of(std::slice::from_ref(component))
}

/// Returns a component's name in a context, as text.
pub(super) fn below(name: &[NameComponent], component: &NameComponent) -> String {
    let mut name = name.to_vec();
    name.push(component.clone());
    text_of(&name)
}
