//! Service contexts that a reply is to carry.

use punctual_giop::ServiceContext;
use punctual_giop::service_context::RT_CORBA_PRIORITY;

/// Data up to this length is kept in place.
const SHORT: usize = 16;
/// Octets of RTCorbaPriority's data.
pub(super) const PRIORITY: usize = 4;

/// Nearly always none, a priority, or another short one, for which nothing is allocated.
#[derive(Clone, Debug)]
pub(super) enum ReplyContexts {
    None,
    /// RTCorbaPriority alone, as the replies of all objects with the priority model CLIENT_PROPAGATED have it.
    Priority([u8; PRIORITY]),
    /// Another one that stands alone.
    Short(Short),
    /// Whatever there is otherwise.
    Any(Box<Any>),
}

/// Ids and data.
type Any = Vec<(u32, Vec<u8>)>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Short {
    id: u32,
    length: usize,
    data: [u8; SHORT],
}

impl ReplyContexts {
    /// Adds one, in the place of another of the same id.
    #[inline]
    pub(super) fn set(&mut self, id: u32, data: &[u8]) {
        match (&self, <&[u8; PRIORITY]>::try_from(data)) {
            (Self::None | Self::Priority(_), Ok(data)) if id == RT_CORBA_PRIORITY => {
                *self = Self::Priority(*data);
            }
            _ => self.set_any(id, data),
        }
    }

    #[cold]
    #[inline(never)]
    fn set_any(&mut self, id: u32, data: &[u8]) {
        let is_alone = match self {
            Self::None => true,
            Self::Priority(_) => id == RT_CORBA_PRIORITY,
            Self::Short(short) => short.id == id,
            Self::Any(_) => false,
        };
        if is_alone && data.len() <= SHORT {
            let mut short = [0; SHORT];
            for (to, from) in short.iter_mut().zip(data) {
                *to = *from;
            }
            *self = Self::Short(Short {
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

    #[inline]
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// A short one that stands alone, and is no priority.
    pub(super) fn short(&self) -> Option<&Short> {
        match self {
            Self::Short(short) => Some(short),
            _ => None,
        }
    }

    /// Whether they are kept in memory of their own.
    #[inline]
    pub(super) fn own_memory(&self) -> bool {
        matches!(self, Self::Any(_))
    }

    /// All, to be sent.
    pub(super) fn all(&self) -> Vec<ServiceContext<'_>> {
        match self {
            Self::None => Vec::new(),
            Self::Priority(data) => vec![(RT_CORBA_PRIORITY, data)],
            Self::Short(one) => vec![(one.id, one.data.get(..one.length).unwrap_or_default())],
            Self::Any(all) => all.iter().map(|(id, data)| (*id, &data[..])).collect(),
        }
    }
}

impl Short {
    /// Its id and its length.
    pub(super) fn is(&self) -> (u32, usize) {
        (self.id, self.length)
    }

    /// Writes its data into its slot.
    pub(super) fn fill(&self, slot: &mut [u8]) {
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
        assert!(matches!(contexts, ReplyContexts::Priority([b'a', ..])));
        contexts.set(10, b"efgh");
        assert_eq!(contexts.all(), [(10, &b"efgh"[..])]);
        contexts.set(10, b"ef");
        assert_eq!(contexts.short().map(Short::is), Some((10, 2)));
        contexts.set(11, &[7; 40]);
        contexts.set(10, b"gh");
        assert_eq!(contexts.all(), [(11, &[7; 40][..]), (10, &b"gh"[..])]);
    }
}
