//! Layout of contexts and bindings in etcd.
//!
//! | key | value |
//! |---|---|
//! | PREFIX`/identity` | format and identity of the store, in hexadecimal |
//! | PREFIX`/beat` | the server that has written it last, to see whether etcd accepts and reports changes |
//! | PREFIX`/c/`NUMBER | a context: the number of its home |
//! | PREFIX`/b/`NUMBER`/`COMPONENT | a binding: its target ([`record`](crate::store::record)) |
//!
//! Numbers have 16 hexadecimal digits, so that the bindings of a context are adjacent.

use punctual_etcd::Keys;

use crate::store::change::{Change, ContextId};
use crate::store::record::decoded;

/// Layout of the store's etcd keys below a prefix.
#[derive(Clone, Debug)]
pub(super) struct Layout(String);

impl Layout {
    pub(super) fn below(prefix: &str) -> Self {
        Self(prefix.trim_end_matches('/').to_owned())
    }

    pub(super) fn all(&self) -> Keys {
        Keys::below(&format!("{}/", self.0))
    }

    pub(super) fn identity(&self) -> Vec<u8> {
        format!("{}/identity", self.0).into_bytes()
    }

    pub(super) fn beat(&self) -> Vec<u8> {
        format!("{}/beat", self.0).into_bytes()
    }

    pub(super) fn contexts(&self) -> Keys {
        Keys::below(&format!("{}/c/", self.0))
    }

    pub(super) fn bindings(&self) -> Keys {
        Keys::below(&format!("{}/b/", self.0))
    }

    pub(super) fn context(&self, context: ContextId) -> Vec<u8> {
        format!("{}/c/{}", self.0, hex(context)).into_bytes()
    }

    pub(super) fn bindings_of(&self, context: ContextId) -> Keys {
        Keys::below(&format!("{}/b/{}/", self.0, hex(context)))
    }

    pub(super) fn binding(&self, context: ContextId, key: &str) -> Vec<u8> {
        format!("{}/b/{}/{key}", self.0, hex(context)).into_bytes()
    }

    /// Returns the change of the store that a written or deleted key means. `Ok(None)` for keys
    /// that are neither contexts nor bindings.
    pub(super) fn change(&self, key: &[u8], value: Option<&[u8]>) -> Result<Option<Change>, ()> {
        let key = std::str::from_utf8(key).map_err(drop)?;
        let key = key.strip_prefix(self.0.as_str()).ok_or(())?;
        if let Some(context) = key.strip_prefix("/c/") {
            let context = number(context).ok_or(())?;
            return match value {
                None => Ok(Some(Change::Destroy(context))),
                Some(home) => {
                    let home = std::str::from_utf8(home).ok().and_then(number).ok_or(())?;
                    Ok(Some(Change::Create { context, home }))
                }
            };
        }
        let Some(binding) = key.strip_prefix("/b/") else {
            return Ok(None);
        };
        let (context, key) = binding.split_once('/').ok_or(())?;
        let (context, key) = (number(context).ok_or(())?, key.into());
        Ok(Some(match value {
            None => Change::Unbind { context, key },
            Some(value) => Change::Bind {
                context,
                key,
                target: decoded(value).ok_or(())?,
            },
        }))
    }
}

/// Formats a number as 16 hexadecimal digits, as in etcd keys and values.
pub(super) fn hex(number: u64) -> String {
    format!("{number:016x}")
}

/// Parses a number of 16 hexadecimal digits, as in etcd keys and values.
pub(super) fn number(text: &str) -> Option<u64> {
    let is_one = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_one.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::change::Target;
    use crate::store::record::encoded;

    #[test]
    fn keys_say_what_they_were_made_of_whatever_a_component_has() {
        let layout = Layout::below("/names/");
        for key in ["pump", "a/b", "", "id\0kind", "ü"] {
            let target = Target::Context(7);
            let made = layout.binding(9 << 60, key);
            let read = layout.change(&made, Some(&encoded(&target))).unwrap();
            let (context, key) = (9 << 60, Box::from(key));
            let expected = Change::Bind {
                context,
                key,
                target,
            };
            assert_eq!(read, Some(expected));
        }
        let made = layout.context(3);
        let home = hex(1);
        assert_eq!(
            layout.change(&made, Some(home.as_bytes())).unwrap(),
            Some(Change::Create {
                context: 3,
                home: 1
            })
        );
        assert_eq!(
            layout.change(&made, None).unwrap(),
            Some(Change::Destroy(3))
        );
        assert_eq!(layout.change(&layout.beat(), Some(b"1")), Ok(None));
    }

    #[test]
    fn what_others_have_written_below_the_prefix_is_no_change() {
        let layout = Layout::below("/names");
        for (key, value) in [
            ("/names/c/7", "0000000000000000"),
            ("/names/c/00000000000000g0", "0000000000000000"),
            ("/names/c/0000000000000001", "home"),
            ("/names/b/0000000000000001", "x"),
            ("/names/b/0000000000000001/a", "\u{9}"),
            ("/others/c/0000000000000001", "0000000000000000"),
        ] {
            assert_eq!(
                layout.change(key.as_bytes(), Some(value.as_bytes())),
                Err(()),
                "{key}"
            );
        }
    }
}
