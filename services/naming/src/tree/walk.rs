//! Resolution of a name through contexts (CosNaming 1.3, §2.2.2).

use std::borrow::Cow;
use std::collections::HashSet;

use crate::cos_naming::NameComponent;
use crate::cos_naming::naming_context::NotFoundReason;
use crate::name::key;
use crate::refusal::Refusal;
use crate::store::{ContextId, ROOT, Target};

/// View of contexts and bindings: either the committed ones, or those of a draft.
pub(crate) trait View {
    /// Returns the home of a context, if the context exists. The root's home is the root.
    fn home(&self, context: ContextId) -> Option<ContextId>;

    /// Returns the target of a binding, or `None` if the key is unbound.
    fn target(&self, context: ContextId, key: &str) -> Option<&Target>;

    /// Returns `true` if the naming context exists.
    fn has(&self, context: ContextId) -> bool {
        self.home(context).is_some()
    }

    /// Returns a context, its home, the home of that, and so on, up to the root. A home that no
    /// longer exists counts as the root.
    fn homes(&self, context: ContextId) -> HashSet<ContextId> {
        let mut homes = HashSet::new();
        let mut at = context;
        // A home is made before its contexts, so there is no cycle; a damaged store may have one.
        while at != ROOT && homes.insert(at) {
            at = self.home(at).unwrap_or(ROOT);
        }
        homes.insert(ROOT);
        homes
    }

    /// Returns the number of homes from a context up to the root, or `most` if that is less.
    fn depth(&self, context: ContextId, most: usize) -> usize {
        let mut at = context;
        let mut depth = 0;
        while at != ROOT && depth < most {
            at = self.home(at).unwrap_or(ROOT);
            depth += 1;
        }
        depth
    }
}

/// Permitted kind of the container of a name's last component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Only a naming context is permitted as the container.
    Context,
    /// Only an object group is permitted as the container.
    Group,
    /// A naming context or an object group is permitted as the container.
    Any,
}

/// Follows a name except for its last component: returns the context that contains the last
/// component, and the component's key there. The name has at least one component. Names lead
/// through contexts only.
///
/// # Errors
/// [`Refusal::NotFound`], [`Refusal::Elsewhere`], [`Refusal::NoSuchContext`] for the starting
/// context.
pub(crate) fn walk<'n>(
    view: &impl View,
    context: ContextId,
    name: &'n [NameComponent],
) -> Result<(ContextId, Cow<'n, str>), Refusal> {
    walk_to(view, context, name, Place::Context)
}

/// Works as [`walk`], and also requires that the last component is in a container of this kind: a
/// context, a group, or either.
///
/// # Errors
///
/// As of [`walk`].
pub(crate) fn walk_to<'n>(
    view: &impl View,
    context: ContextId,
    name: &'n [NameComponent],
    place: Place,
) -> Result<(ContextId, Cow<'n, str>), Refusal> {
    if !view.has(context) {
        return Err(Refusal::missing(context));
    }
    let Some((last, way)) = name.split_last() else {
        return Err(Refusal::InvalidName("it has no component"));
    };
    let mut here = context;
    for (at, component) in way.iter().enumerate() {
        let is_place = at + 1 == way.len();
        let no_context = || Err(Refusal::not_found(NotFoundReason::NotContext, name, at));
        here = match view.target(here, &key(component)) {
            None => return Err(Refusal::not_found(NotFoundReason::MissingNode, name, at)),
            Some(Target::Group { context, .. })
                if is_place && place != Place::Context && view.has(*context) =>
            {
                *context
            }
            Some(_) if is_place && place == Place::Group => return no_context(),
            // A context that is bound as an object cannot be passed through (§2.2.1.1).
            Some(Target::Object(_) | Target::Temporary { .. } | Target::Group { .. }) => {
                return no_context();
            }
            Some(Target::Context(next)) if view.has(*next) => *next,
            Some(other) => {
                let context = other.clone();
                let rest = name.get(at + 1..).unwrap_or_default().to_vec();
                return Err(Refusal::Elsewhere { context, rest });
            }
        };
    }
    Ok((here, key(last)))
}
