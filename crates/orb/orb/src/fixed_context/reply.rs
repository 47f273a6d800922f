//! Service contexts of a reply.

use super::word::{ContextWord, WORD};
use punctual_giop::ServiceContext;

/// Maximum length in bytes of context data that are stored without an allocation.
const SHORT: usize = 16;

/// Service contexts of a reply: nearly always none, one word, or one other short context, none of
/// which needs an allocation.
#[derive(Clone, Debug)]
pub(crate) enum ReplyContexts {
    None,
    /// Single service context with four bytes of data.
    Word(ContextWord),
    /// Single service context with short data of another length.
    Short(ShortContext),
    /// Several service contexts, or one with long data.
    Any(Box<Any>),
}

/// List of any number of service contexts as pairs of id and data.
type Any = Vec<(u32, Vec<u8>)>;

/// Context whose data are stored in the struct itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortContext {
    id: u32,
    length: usize,
    data: [u8; SHORT],
}

impl ReplyContexts {
    /// Adds a context; replaces a context with this id.
    #[inline]
    pub(crate) fn set(&mut self, id: u32, data: &[u8]) {
        let is_alone = match self {
            Self::None => true,
            Self::Word(word) => word.id == id,
            _ => false,
        };
        match <[u8; WORD]>::try_from(data) {
            Ok(data) if is_alone => *self = Self::Word(ContextWord { id, data }),
            _ => self.set_any(id, data),
        }
    }

    #[cold]
    #[inline(never)]
    fn set_any(&mut self, id: u32, data: &[u8]) {
        let is_alone = match self {
            Self::None => true,
            Self::Word(word) => word.id == id,
            Self::Short(short) => short.id == id,
            Self::Any(_) => false,
        };
        if is_alone && data.len() <= SHORT {
            let mut short = [0; SHORT];
            for (to, from) in short.iter_mut().zip(data) {
                *to = *from;
            }
            *self = Self::Short(ShortContext {
                id,
                length: data.len(),
                data: short,
            });
            return;
        }
        let others = self.all().into_iter().filter(|(there, _)| *there != id);
        let others = others.map(|(id, data)| (id, data.to_vec()));
        *self = Self::Any(Box::new(others.chain([(id, data.to_vec())]).collect()));
    }

    /// Returns whether the reply carries no service contexts.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Returns the context, if there is exactly one and it is short but not a word.
    pub(crate) fn short(&self) -> Option<&ShortContext> {
        match self {
            Self::Short(short) => Some(short),
            _ => None,
        }
    }

    /// Returns whether the service contexts own heap memory.
    #[inline]
    pub(crate) fn own_memory(&self) -> bool {
        matches!(self, Self::Any(_))
    }

    /// Returns all service contexts of the reply, as they are sent.
    pub(crate) fn all(&self) -> Vec<ServiceContext<'_>> {
        match self {
            Self::None => Vec::new(),
            Self::Word(word) => vec![(word.id, &word.data)],
            Self::Short(one) => vec![(one.id, one.data.get(..one.length).unwrap_or_default())],
            Self::Any(all) => all.iter().map(|(id, data)| (*id, &data[..])).collect(),
        }
    }
}

impl ShortContext {
    /// Returns the context's id and the length of its data in bytes.
    pub(crate) fn shape(&self) -> (u32, usize) {
        (self.id, self.length)
    }

    /// Writes the context's data into its slot in a message header.
    pub(crate) fn fill(&self, slot: &mut [u8]) {
        for (to, from) in slot.iter_mut().zip(&self.data) {
            *to = *from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_same_id_takes_the_place_of_another_short_or_long() {
        let mut contexts = ReplyContexts::None;
        contexts.set(10, b"abcd");
        assert!(matches!(contexts, ReplyContexts::Word(word) if word.data == *b"abcd"));
        contexts.set(10, b"efgh");
        assert_eq!(contexts.all(), [(10, &b"efgh"[..])]);
        contexts.set(10, b"ef");
        assert_eq!(contexts.short().map(ShortContext::shape), Some((10, 2)));
        contexts.set(11, &[7; 40]);
        contexts.set(10, b"gh");
        assert_eq!(contexts.all(), [(11, &[7; 40][..]), (10, &b"gh"[..])]);
    }
}
