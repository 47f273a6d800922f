//! Service contexts that a reply is to carry.

use punctual_giop::ServiceContext;

/// Data up to this length is kept in place.
const SHORT: usize = 16;

/// Nearly always none, or a short one, for which nothing is allocated.
#[derive(Clone, Debug)]
pub(super) struct ReplyContexts {
    /// One that stands alone.
    short: Option<Short>,
    /// Whatever there is otherwise.
    any: Option<Box<Any>>,
}

/// Ids and data.
type Any = Vec<(u32, Vec<u8>)>;

#[derive(Clone, Copy, Debug)]
struct Short {
    id: u32,
    length: usize,
    data: [u8; SHORT],
}

impl ReplyContexts {
    pub(super) const NONE: Self = Self {
        short: None,
        any: None,
    };

    /// Adds one, in the place of another of the same id.
    pub(super) fn set(&mut self, id: u32, data: &[u8]) {
        let is_alone = self.any.is_none() && self.short.is_none_or(|short| short.id == id);
        if is_alone && data.len() <= SHORT {
            let mut short = [0; SHORT];
            for (to, from) in short.iter_mut().zip(data) {
                *to = *from;
            }
            self.short = Some(Short {
                id,
                length: data.len(),
                data: short,
            });
            return;
        }
        let others = self.all().into_iter().filter(|(there, _)| *there != id);
        let others = others.map(|(id, data)| (id, data.to_vec()));
        let all = others.chain([(id, data.to_vec())]).collect();
        (self.short, self.any) = (None, Some(Box::new(all)));
    }

    /// The id and the length of a short one that stands alone.
    #[inline]
    pub(super) fn short(&self) -> Option<(u32, usize)> {
        self.short.map(|short| (short.id, short.length))
    }

    /// Whether there are none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.short.is_none() && self.any.is_none()
    }

    /// Writes the short one's data into its slot.
    #[inline]
    pub(super) fn fill(&self, slot: &mut [u8]) {
        if let Some(short) = &self.short {
            for (to, from) in slot.iter_mut().zip(&short.data) {
                *to = *from;
            }
        }
    }

    /// All, to be sent.
    pub(super) fn all(&self) -> Vec<ServiceContext<'_>> {
        let short = self.short.as_ref();
        let short = short.map(|one| (one.id, one.data.get(..one.length).unwrap_or_default()));
        let any = self.any.iter().flat_map(|any| any.iter());
        let any = any.map(|(id, data)| (*id, &data[..]));
        short.into_iter().chain(any).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_same_id_takes_the_place_of_another_short_or_long() {
        let mut contexts = ReplyContexts::NONE;
        contexts.set(10, b"abcd");
        contexts.set(10, b"ef");
        assert_eq!(contexts.short(), Some((10, 2)));
        contexts.set(11, &[7; 40]);
        contexts.set(10, b"gh");
        assert_eq!(contexts.all(), [(11, &[7; 40][..]), (10, &b"gh"[..])]);
    }
}
