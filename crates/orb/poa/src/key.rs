//! Object keys.
//!
//! ```text
//! octet  0   4                 12          16          20
//!        'PUN1' adapter's nonce  index       generation
//! ```
//! Numbers are big-endian. The nonce is random for each adapter, so that a key from before a restart,
//! or from another process at the same port, is told from a live one; nothing in a key is trusted.

use crate::active_map::ObjectId;

/// Octets of a key.
const LEN: usize = 20;
const MAGIC: [u8; 4] = *b"PUN1";

/// What tells one adapter's keys from every other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nonce([u8; 8]);

impl Nonce {
    /// From the operating system's random numbers.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce)?;
        Ok(Self(nonce))
    }
}

/// The key of an object of this adapter.
pub(crate) fn encode(nonce: Nonce, id: ObjectId) -> [u8; LEN] {
    let mut key = [0; LEN];
    key[..4].copy_from_slice(&MAGIC);
    key[4..12].copy_from_slice(&nonce.0);
    key[12..16].copy_from_slice(&id.index.to_be_bytes());
    key[16..].copy_from_slice(&id.generation.to_be_bytes());
    key
}

/// The id in a key, if the key is this adapter's.
pub(crate) fn decode(nonce: Nonce, key: &[u8]) -> Option<ObjectId> {
    let key: &[u8; LEN] = key.try_into().ok()?;
    let (magic, rest) = key.split_first_chunk::<4>()?;
    let (theirs, rest) = rest.split_first_chunk::<8>()?;
    let (index, rest) = rest.split_first_chunk::<4>()?;
    let (generation, _) = rest.split_first_chunk::<4>()?;
    (*magic == MAGIC && *theirs == nonce.0).then(|| ObjectId {
        index: u32::from_be_bytes(*index),
        generation: u32::from_be_bytes(*generation),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: ObjectId = ObjectId {
        index: 7,
        generation: 0x0102_0304,
    };

    #[test]
    fn a_key_gives_its_id_back() {
        let nonce = Nonce::random().unwrap();
        assert_eq!(decode(nonce, &encode(nonce, ID)), Some(ID));
    }

    #[test]
    fn foreign_truncated_and_forged_keys_give_none() {
        let (mine, other) = (Nonce([1; 8]), Nonce([2; 8]));
        let key = encode(mine, ID);
        assert_eq!(decode(other, &key), None);
        assert_eq!(decode(mine, &key[..19]), None);
        assert_eq!(decode(mine, &[&key[..], &[0]].concat()), None);
        assert_eq!(decode(mine, b""), None);
        let mut forged = key;
        forged[0] ^= 1;
        assert_eq!(decode(mine, &forged), None);
    }
}
