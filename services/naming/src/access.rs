//! Access rules of contexts.
//!
//! Rights are granted below a context: for it, and for all contexts that were made in it or in
//! those. The relevant parent is the context in which one was made (its home), not one where it is
//! bound: otherwise a peer that may bind below one context could bind another context there and
//! then change it. All peers that reach the service may read all of it.

use punctual_host::access::Rules;

use crate::cos_naming::NameComponent;
use crate::name::{from_text, key};
use crate::refusal::Refusal;
use crate::store::{ContextId, ROOT, Target};
use crate::tree::View;

pub(crate) use punctual_host::access::Requester;
pub use punctual_host::access::{BadPrincipal, Principal};

/// Rights to change contexts. As long as nothing is granted, every peer may change everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access(Rules<Vec<NameComponent>>);

impl Access {
    /// Grants the right to change the context with this name, all contexts below it, and their
    /// bindings. An empty text means the root, and so everything.
    ///
    /// # Errors
    ///
    /// The text is not a stringified name.
    pub fn grant(&mut self, below: &str, to: Principal) -> Result<(), Refusal> {
        let below = match below {
            "" => Vec::new(),
            below => from_text(below)?,
        };
        self.0.grant(below, to);
        Ok(())
    }

    /// Returns the requester of the upcall that this thread serves, as far as the rules need it.
    pub(crate) fn requester(&self) -> Requester {
        self.0.requester()
    }

    /// Returns true if a requester may change a context.
    pub(crate) fn permits(&self, view: &impl View, context: ContextId, by: &Requester) -> bool {
        if !self.0.is_restricted() {
            return true;
        }
        let homes = view.homes(context);
        let covers =
            |below: &Vec<NameComponent>| made_at(view, below).is_some_and(|at| homes.contains(&at));
        self.0.permits(by, covers)
    }
}

/// Returns the context that a name leads to, if each context of the name was made in the one before
/// it.
fn made_at(view: &impl View, name: &[NameComponent]) -> Option<ContextId> {
    name.iter().try_fold(ROOT, |home, component| {
        match view.target(home, &key(component)) {
            Some(Target::Context(next) | Target::Group { context: next, .. })
                if view.home(*next) == Some(home) =>
            {
                Some(*next)
            }
            _ => None,
        }
    })
}
