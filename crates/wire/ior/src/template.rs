//! Profiles that are written once for all objects of an adapter: only the key differs from object
//! to object.
//!
//! A codec may encode a key in any way. So the position of the key is found by comparison: a codec
//! writes the profiles for two keys that differ in every byte, and the key is where these differ.

use std::ops::Range;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::tagged::TaggedProfile;

/// Number of key lengths for which templates are kept. Keys of one adapter that chooses its ids
/// have one length.
const MOST_LENGTHS: usize = 16;
/// Length of keys in bytes beyond which profiles are written individually.
const LONGEST: usize = 256;

/// Encoded profiles used as a template for all object keys of one length.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Template {
    length: usize,
    /// Profiles with the range of the key in each; `None` when a codec writes more of a key than
    /// its bytes.
    profiles: Option<Vec<(TaggedProfile, Range<usize>)>>,
}

impl Template {
    /// Makes the template for keys of this one's length.
    fn new<E>(
        key: &[u8],
        encode: impl Fn(&[u8]) -> Result<Vec<TaggedProfile>, E>,
    ) -> Result<Self, E> {
        let length = key.len();
        // One of printable bytes, one of others: a codec that treats those differently is detected.
        let (one, other) = (vec![b'U'; length], vec![!b'U'; length]);
        // A codec may refuse keys like these: it has no template then.
        let (with_one, with_other) = (encode(&one), encode(&other));
        let pairs = with_one.ok().zip(with_other.ok());
        let pairs = pairs.filter(|(with_one, with_other)| with_one.len() == with_other.len());
        let profiles = pairs.and_then(|(with_one, with_other)| {
            let pairs = with_one.into_iter().zip(with_other);
            let placed = pairs.map(|(profile, with_other)| {
                let place = place_of((&one, &profile), (&other, &with_other))?;
                Some((profile, place))
            });
            placed.collect()
        });
        let template = Self { length, profiles };
        let is_right = template.for_key(key) == Some(encode(key)?);
        Ok(match is_right {
            true => template,
            false => Self {
                length,
                profiles: None,
            },
        })
    }

    fn for_key(&self, key: &[u8]) -> Option<Vec<TaggedProfile>> {
        let with_key = |(profile, place): &(TaggedProfile, Range<usize>)| {
            let mut profile = profile.clone();
            profile.data.get_mut(place.clone())?.copy_from_slice(key);
            Some(profile)
        };
        self.profiles.as_ref()?.iter().map(with_key).collect()
    }
}

/// Returns the range of the key: where a profile differs from one for a key that differs in every
/// byte.
fn place_of(
    (key, with): (&[u8], &TaggedProfile),
    (other_key, other): (&[u8], &TaggedProfile),
) -> Option<Range<usize>> {
    let differs = |&at: &usize| with.data.get(at) != other.data.get(at);
    let length = with.data.len();
    let first = (0..length).find(differs)?;
    let place = first..first + key.len();
    let is_it = with.tag == other.tag
        && length == other.data.len()
        && with.data.get(place.clone()) == Some(key)
        && other.data.get(place.clone()) == Some(other_key)
        && !(place.end..length).any(|at| differs(&at));
    is_it.then_some(place)
}

/// Profiles of one adapter's references, by the length of the object key. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ProfileTemplates(Arc<ArcSwap<Templates>>);

/// Templates of profiles, and the versions of the settings that they were made from.
#[derive(Debug, Default)]
struct Templates {
    of: Option<Origin>,
    templates: Vec<Arc<Template>>,
}

/// Version numbers of everything that profiles depend on other than the adapter; one of them
/// changes whenever any of that does.
pub type Origin = [u64; 3];

impl ProfileTemplates {
    /// Returns the profiles for an object key, as `encode` writes them.
    ///
    /// # Errors
    /// Those of `encode`.
    pub fn profiles<E>(
        &self,
        key: &[u8],
        origin: Origin,
        encode: impl Fn(&[u8]) -> Result<Vec<TaggedProfile>, E>,
    ) -> Result<Vec<TaggedProfile>, E> {
        if key.len() > LONGEST {
            return encode(key);
        }
        let known = self.0.load();
        let is_now = known.of == Some(origin);
        let of_length = |one: &&Arc<Template>| one.length == key.len();
        let template = match known.templates.iter().find(of_length) {
            Some(template) if is_now => template.clone(),
            _ => {
                let template = Arc::new(Template::new(key, &encode)?);
                let others = known
                    .templates
                    .iter()
                    .filter(|_| is_now)
                    .take(MOST_LENGTHS - 1);
                // Two concurrent threads may overwrite each other's templates, which are made again
                // then.
                self.0.store(Arc::new(Templates {
                    of: Some(origin),
                    // The newest first: beyond the limit the oldest is dropped.
                    templates: [&template].into_iter().chain(others).cloned().collect(),
                }));
                template
            }
        };
        match template.for_key(key) {
            Some(profiles) => Ok(profiles),
            None => encode(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::convert::Infallible;

    const ORIGIN: Origin = [1, 1, 1];

    fn profile(data: Vec<u8>) -> TaggedProfile {
        TaggedProfile { tag: 7, data }
    }

    fn plain(key: &[u8]) -> Result<Vec<TaggedProfile>, Infallible> {
        let around = [b"<".as_slice(), key, b">"].concat();
        Ok(vec![profile(around), profile(key.to_vec())])
    }

    #[test]
    fn what_is_written_with_a_template_is_what_the_codec_writes() {
        let templates = ProfileTemplates::default();
        for key in [b"one".as_slice(), b"two", b"three", b"", b"\0\0\0", b"UUU"] {
            let written = templates.profiles(key, ORIGIN, plain);
            assert_eq!(written, plain(key));
        }
    }

    #[test]
    fn a_codec_is_asked_again_only_when_endpoints_or_protocols_change() {
        let (templates, asked) = (ProfileTemplates::default(), Cell::new(0));
        let encode = |key: &[u8]| {
            asked.set(asked.get() + 1);
            plain(key)
        };
        let changed = [1, 2, 1];
        for (origin, times) in [(ORIGIN, 3), (changed, 6), (ORIGIN, 9)] {
            for key in [b"one", b"two", b"six"] {
                templates.profiles(key, origin, encode).unwrap();
            }
            assert_eq!(asked.get(), times);
        }
    }

    #[test]
    fn more_lengths_than_are_kept_are_written_all_the_same() {
        let templates = ProfileTemplates::default();
        for length in (0..2 * MOST_LENGTHS).chain([LONGEST, LONGEST + 1, 70_000]) {
            let key = vec![b'k'; length];
            assert_eq!(templates.profiles(&key, ORIGIN, plain), plain(&key));
        }
        assert_eq!(templates.0.load().templates.len(), MOST_LENGTHS);
    }

    #[test]
    fn a_codec_that_writes_more_of_a_key_than_its_octets_writes_each_itself() {
        type Codec = fn(&[u8]) -> Result<Vec<TaggedProfile>, ()>;
        let twice: Codec = |key| Ok(vec![profile([key, b"/", key].concat())]);
        let escaped: Codec = |key| Ok(vec![profile(key.escape_ascii().collect())]);
        let summed: Codec = |key| {
            let parity = key.iter().fold(0, |parity, octet| parity ^ octet);
            Ok(vec![profile([key, &[parity]].concat())])
        };
        let absent: Codec = |_| Ok(vec![profile(b"fixed".to_vec())]);
        let only_text: Codec = |key| {
            let text = String::from_utf8(key.to_vec());
            text.map(|text| vec![profile(text.into_bytes())])
                .map_err(drop)
        };
        let by_first: Codec = |key| Ok(vec![profile(key.to_vec()); usize::from(key[0] % 3)]);
        for codec in [twice, escaped, summed, absent, by_first, only_text] {
            let templates = ProfileTemplates::default();
            for key in [b"ab\0d", b"c\xffde"] {
                assert_eq!(templates.profiles(key, ORIGIN, codec), codec(key));
            }
        }
    }
}
