//! Filters: which events a consumer wants, and which of them it wants together.
//!
//! A filter is a tree, held in one array in prefix order: a node, then its children's subtrees. Nothing here
//! recurses, so that neither depth nor width of a peer's filter matters but for its limits.
//!
//! ```text
//! node         a node of the tree
//! build        functions that make filters
//! parse        filters from TAO's `dependencies`, in both of its conventions
//! tree         a filter made ready: ends of subtrees, levels, conjunctions, timers
//! accept       which nodes accept an event: a pure function of type and source
//! interest     types that a filter may accept
//! selectors    types and sources for observers
//! path         what is left of a tree for one type and source
//! correlation  events that conjunctions have collected: flat ones, and those of trees in which they nest
//! ```

mod accept;
mod build;
mod correlation;
mod error;
mod flat;
mod interest;
mod nested;
mod node;
mod parse;
mod path;
mod selectors;
mod tree;

pub use build::{Dependency, Filter};
pub use error::{FilterError, FilterLimits};

pub(crate) use accept::Subject;
pub(crate) use correlation::Correlation;
pub(crate) use interest::Interest;
pub(crate) use node::TimerStyle;
pub(crate) use path::Path;
pub(crate) use tree::{Tree, TreeTimer};
