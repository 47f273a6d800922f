//! Filters from TAO's `dependencies`: entries in prefix order, in one of two conventions.
//!
//! ```text
//! prefix   a group (conjunction, disjunction, logical AND) has the number of its children in its source
//! basic    a group has all that follows until the next group or the end; groups do not nest
//!
//! type     entry                     further entries              children
//! 8 9 11   group                     none                         as above
//! 10       negation                  none                         1
//! 12       bitmask                   masks                        1
//! 13       masked type               masks, values                none
//! 4 5 6    timer of creation_time    none                         none
//! 14       null                      none                         none
//! others   type and source           none                         none
//! ```

use super::build::{Dependency, Filter};
use super::error::FilterError;
use super::node::{Bits, Node, Rule, Timer, TimerStyle};
use crate::codes;

/// Nanoseconds of a unit of TimeBase::TimeT.
const UNIT: u64 = 100;

impl Filter {
    /// Reads a filter whose groups count their children (TAO's `prefix` filter builder). No entries are a filter
    /// that accepts nothing.
    ///
    /// # Errors
    /// Counts that lie, missing masks, entries after the end of the tree, and impossible lengths of timers.
    pub fn from_prefix<D: Copy + Into<Dependency>>(entries: &[D]) -> Result<Self, FilterError> {
        parse(entries, Convention::Prefix)
    }

    /// Reads a filter whose groups reach to the next group or the end (TAO's `basic` filter builder, its
    /// default). No entries are a filter that accepts nothing.
    ///
    /// # Errors
    /// As [`Filter::from_prefix`], and groups inside of groups.
    pub fn from_basic<D: Copy + Into<Dependency>>(entries: &[D]) -> Result<Self, FilterError> {
        parse(entries, Convention::Basic)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Convention {
    Prefix,
    Basic,
}

fn parse<D: Copy + Into<Dependency>>(
    entries: &[D],
    convention: Convention,
) -> Result<Filter, FilterError> {
    if entries.is_empty() {
        return Ok(Filter::nothing());
    }
    let mut parser = Parser {
        convention,
        nodes: Vec::new(),
        open: Vec::new(),
        uncounted: None,
    };
    let mut at = 0;
    while at < entries.len() {
        at += parser.take(entries, at)?;
    }
    parser.finish()
}

/// Tree as far as it has been read.
struct Parser {
    convention: Convention,
    nodes: Vec<Node>,
    /// Nodes with children to come, the innermost last.
    open: Vec<Open>,
    /// Entry of the group among them that reaches to the next one.
    uncounted: Option<usize>,
}

/// Node with children to come.
struct Open {
    /// Entry of the node in the list.
    entry: usize,
    /// Index of the node in the tree.
    node: usize,
    /// Number of its children; `None` for a group that reaches to the next one.
    children: Option<usize>,
    /// Number of children that have begun.
    begun: usize,
}

impl Open {
    fn is_full(&self) -> bool {
        self.children == Some(self.begun)
    }
}

impl Parser {
    /// Takes the node that begins at an entry, and returns the number of its entries.
    fn take<D: Copy + Into<Dependency>>(
        &mut self,
        entries: &[D],
        at: usize,
    ) -> Result<usize, FilterError> {
        let entry: Dependency = entries[at].into();
        let code = entry.header.kind;
        self.make_room(at, is_group(code))?;
        let rest = &entries[at + 1..];
        let (rule, further) = rule(&entry, rest, at)?;
        let children = self.children(&entry, at, rest.len() - further)?;
        if let Some(parent) = self.open.last_mut() {
            parent.begun += 1;
        }
        let node = self.nodes.len();
        self.nodes.push(Node {
            rule,
            children: 0,
            rt_info: entry.rt_info,
        });
        if children.is_none() {
            self.uncounted = Some(at);
        }
        if children != Some(0) {
            self.open.push(Open {
                entry: at,
                node,
                children,
                begun: 0,
            });
        }
        Ok(1 + further)
    }

    /// Closes nodes that have all their children, so that the entry belongs to the innermost that is open.
    fn make_room(&mut self, at: usize, is_group: bool) -> Result<(), FilterError> {
        self.close_full();
        if is_group && let Some(group) = self.uncounted {
            if self.open.last().is_some_and(|last| last.entry != group) {
                return Err(FilterError::NestedGroup { at, group });
            }
            self.close_last();
            self.close_full();
        }
        match self.open.is_empty() && !self.nodes.is_empty() {
            true => Err(FilterError::Leftover { at }),
            false => Ok(()),
        }
    }

    /// Returns the number of children of an entry's node; `None` if the next group ends it.
    fn children(
        &self,
        entry: &Dependency,
        at: usize,
        following: usize,
    ) -> Result<Option<usize>, FilterError> {
        let count = match entry.header.kind {
            codes::NEGATION | codes::BITMASK => 1,
            code if !is_group(code) => 0,
            _ if self.convention == Convention::Basic => return Ok(None),
            _ => {
                let count = entry.header.source;
                usize::try_from(count).map_err(|_| FilterError::NegativeCount { at, count })?
            }
        };
        // A count that lies is found before anything is kept for it.
        match count <= following {
            true => Ok(Some(count)),
            false => Err(FilterError::TooFewChildren {
                at,
                announced: count,
                found: following,
            }),
        }
    }

    fn close_full(&mut self) {
        while self.open.last().is_some_and(Open::is_full) {
            self.close_last();
        }
    }

    fn close_last(&mut self) {
        if let Some(open) = self.open.pop()
            && let Some(node) = self.nodes.get_mut(open.node)
        {
            node.children = u32::try_from(open.begun).unwrap_or(u32::MAX);
        }
    }

    fn finish(mut self) -> Result<Filter, FilterError> {
        loop {
            self.close_full();
            match self.open.last() {
                None => return Ok(Filter { nodes: self.nodes }),
                Some(group) if group.children.is_none() => self.close_last(),
                Some(open) => {
                    return Err(FilterError::TooFewChildren {
                        at: open.entry,
                        announced: open.children.unwrap_or(0),
                        found: open.begun,
                    });
                }
            }
        }
    }
}

fn is_group(code: i32) -> bool {
    matches!(
        code,
        codes::CONJUNCTION | codes::DISJUNCTION | codes::LOGICAL_AND
    )
}

/// Returns the rule of an entry, and the number of further entries that it takes.
fn rule<D: Copy + Into<Dependency>>(
    entry: &Dependency,
    rest: &[D],
    at: usize,
) -> Result<(Rule, usize), FilterError> {
    let Dependency { header, .. } = *entry;
    let bits = |index: usize, needs: usize| {
        let missing = FilterError::MissingMasks {
            at,
            needs,
            found: rest.len(),
        };
        let found: Dependency = (*rest.get(index).ok_or(missing)?).into();
        Ok(Bits {
            kind: found.header.kind,
            source: found.header.source,
        })
    };
    Ok(match header.kind {
        codes::CONJUNCTION => (Rule::Conjunction, 0),
        codes::DISJUNCTION => (Rule::Disjunction, 0),
        codes::LOGICAL_AND => (Rule::Both, 0),
        codes::NEGATION => (Rule::Not, 0),
        codes::NULL => (Rule::Null, 0),
        codes::BITMASK => (Rule::Bitmask(bits(0, 1)?), 1),
        codes::MASKED_TYPE => {
            let (masks, values) = (bits(0, 2)?, bits(1, 2)?);
            (Rule::Masked { masks, values }, 2)
        }
        kind => match TimerStyle::of_code(kind) {
            Some(style) => (Rule::Timer(timer(style, header.created, at)?), 0),
            None => {
                let source = header.source;
                (Rule::Event { kind, source }, 0)
            }
        },
    })
}

fn timer(style: TimerStyle, length: u64, at: usize) -> Result<Timer, FilterError> {
    match length.checked_mul(UNIT) {
        Some(0) => Err(FilterError::NoLength { at }),
        Some(length) => Ok(Timer { style, length }),
        None => Err(FilterError::TooLong { at, length }),
    }
}
