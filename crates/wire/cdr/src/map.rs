//! Maps and optional members: functions called by generated code.
//!
//! Plain CDR has neither. A map is transmitted as the sequence of its pairs, in the order of its
//! keys, as `sequence<struct { K key; V value; }>` is; an optional value as a boolean that says
//! whether it follows, as `union switch (boolean) { case TRUE: T value; }` is. So peers without
//! these types can declare in their IDL what they receive.

use std::collections::BTreeMap;

use crate::decoder::Decoder;
use crate::each::check_bound;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::value::{Marshal, Unmarshal};

/// Writes a `map<K, V, bound>`: the number of pairs, then each as `key` and `value` write it.
///
/// # Errors
/// [`CdrError::BoundExceeded`], [`CdrError::LengthOverLimit`], and those of `key` and `value`.
pub fn marshal_map<K, V>(
    map: &BTreeMap<K, V>,
    bound: u32,
    out: &mut Encoder<'_>,
    mut key: impl FnMut(&K, &mut Encoder<'_>) -> Result<(), CdrError>,
    mut value: impl FnMut(&V, &mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<(), CdrError> {
    check_bound(map.len(), bound)?;
    out.put_length(map.len())?;
    map.iter().try_for_each(|(k, v)| {
        key(k, out)?;
        value(v, out)
    })
}

/// Reads a `map<K, V, bound>` whose pairs have `min_size` bytes at least. Of pairs with the same
/// key, the last one counts.
///
/// # Errors
/// [`CdrError::BoundExceeded`], and those of [`Decoder::get_length`], `key` and `value`.
pub fn unmarshal_map<K: Ord, V>(
    input: &mut Decoder<'_>,
    min_size: usize,
    bound: u32,
    mut key: impl FnMut(&mut Decoder<'_>) -> Result<K, CdrError>,
    mut value: impl FnMut(&mut Decoder<'_>) -> Result<V, CdrError>,
) -> Result<BTreeMap<K, V>, CdrError> {
    let length = input.get_length(min_size)?;
    check_bound(length, bound)?;
    let mut map = BTreeMap::new();
    for _ in 0..length {
        let key = key(input)?;
        map.insert(key, value(input)?);
    }
    Ok(map)
}

/// Writes whether there is a value, and the value, if there is, as `each` writes it.
///
/// # Errors
/// Those of `each`.
#[inline]
pub fn marshal_optional<T>(
    value: Option<&T>,
    out: &mut Encoder<'_>,
    each: impl FnOnce(&T, &mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<(), CdrError> {
    value.is_some().marshal(out)?;
    value.map_or(Ok(()), |value| each(value, out))
}

/// Reads whether there is a value, and the value, if there is, as `each` reads it.
///
/// # Errors
/// [`CdrError::BadBoolean`], and those of `each`.
#[inline]
pub fn unmarshal_optional<T>(
    input: &mut Decoder<'_>,
    each: impl FnOnce(&mut Decoder<'_>) -> Result<T, CdrError>,
) -> Result<Option<T>, CdrError> {
    let is_there = bool::unmarshal(input)?;
    is_there.then(|| each(input)).transpose()
}

impl<K: Marshal, V: Marshal> Marshal for BTreeMap<K, V> {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        marshal_map(self, u32::MAX, out, K::marshal, V::marshal)
    }
}

impl<K: Unmarshal + Ord, V: Unmarshal> Unmarshal for BTreeMap<K, V> {
    const MIN_SIZE: usize = 4;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let least = K::MIN_SIZE + V::MIN_SIZE;
        unmarshal_map(input, least, u32::MAX, K::unmarshal, V::unmarshal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, ByteOrder, Coding};

    fn octets(write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>) -> Vec<u8> {
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        write(&mut out).unwrap();
        out.into_block().to_vec()
    }

    fn decoder(octets: &[u8]) -> Decoder<'_> {
        Decoder::new(octets, ByteOrder::Big, Coding::default())
    }

    #[test]
    fn a_map_travels_as_its_pairs_in_the_order_of_keys() {
        let map = BTreeMap::from([(7_u16, 1_u8), (3, 2)]);
        let octets = octets(|out| map.marshal(out));
        assert_eq!(octets, [0, 0, 0, 2, 0, 3, 2, 0, 0, 7, 1]);
        assert_eq!(BTreeMap::unmarshal(&mut decoder(&octets)), Ok(map));
    }

    #[test]
    fn a_map_that_claims_more_pairs_than_there_can_be_is_refused() {
        let octets = [0, 0, 0, 9, 0, 3, 2];
        let read = BTreeMap::<u16, u8>::unmarshal(&mut decoder(&octets));
        assert!(matches!(read, Err(CdrError::Truncated { .. })), "{read:?}");
        let two = [0, 0, 0, 2, 0, 3, 2, 0, 0, 7, 1];
        let read = unmarshal_map(&mut decoder(&two), 3, 1, u16::unmarshal, u8::unmarshal);
        assert_eq!(read, Err(CdrError::over_bound(2, 1)));
    }

    #[test]
    fn an_optional_value_follows_its_boolean() {
        let there = octets(|out| marshal_optional(Some(&5_u16), out, u16::marshal));
        assert_eq!(there, [1, 0, 0, 5]);
        let absent = octets(|out| marshal_optional(None, out, u16::marshal));
        assert_eq!(absent, [0]);
        let read = |octets: &[u8]| unmarshal_optional(&mut decoder(octets), u16::unmarshal);
        assert_eq!(read(&there), Ok(Some(5)));
        assert_eq!(read(&absent), Ok(None));
        assert_eq!(read(&[2, 0, 0, 5]), Err(CdrError::BadBoolean(2)));
    }
}
