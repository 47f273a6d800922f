//! Names of servers in object keys.
//!
//! A client's first request for an object of a server comes here with the server's own object key, which is all that says
//! whose object it is. The keys of three kinds of ORB have the names of POAs in them:
//!
//! | key | names |
//! |---|---|
//! | Punctual: `PUNP`, or `PUNR` with the server's id | the path of POAs |
//! | TAO: `^T ^A ^O NUL`, `N`, `S` or `U`, `P`; with `U` the length of the names | the path of POAs, each ended by a NUL |
//! | text: JacORB, or a name in a `corbaloc:` | what stands before slashes |
//!
//! Nothing in a key is trusted: a key only selects one of the servers that are registered.

use punctual::poa::names_in_key;

/// Maximum length of a server's name, in bytes.
pub(crate) const MAX_NAME: usize = 1024;

/// Beginning of the names of servers of JacORB.
pub(crate) const JACORB: &str = "JACORB:";

/// Beginning of the keys of TAO.
const TAO: [u8; 4] = [0o24, 0o1, 0o17, 0];

/// Number of bytes at the end of a key of TAO that certainly belong to an id which the POA has assigned.
const TAO_SYSTEM_ID: usize = 4;

/// Servers that a key may belong to: a name is that of a POA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyNames<'k> {
    /// Id of the server, if the key has one.
    pub(crate) server_id: Option<&'k str>,
    /// Names, the most likely one first.
    pub(crate) names: Vec<String>,
}

impl<'k> KeyNames<'k> {
    /// Returns the names in a key; there may be none.
    pub(crate) fn of(key: &'k [u8]) -> Self {
        let mut found = match (names_in_key(key), key.strip_prefix(&TAO)) {
            (Some((server_id, path)), _) => Self {
                server_id,
                names: innermost_first(path),
            },
            (None, Some(rest)) => Self {
                server_id: None,
                names: tao(rest).map(innermost_first).unwrap_or_default(),
            },
            (None, None) => Self {
                server_id: None,
                names: text(key),
            },
        };
        found.names.retain(|name| is_name(name));
        found
    }
}

/// Returns whether a text can be a server's name.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control)
}

/// Returns the names of a path from the inside: a POA that its parent makes on demand is not registered before it is made.
fn innermost_first(path: Vec<&str>) -> Vec<String> {
    path.into_iter().rev().map(str::to_owned).collect()
}

/// Returns the path in the key of a persistent object of TAO, behind its beginning.
fn tao(rest: &[u8]) -> Option<Vec<&str>> {
    let (&[b'N', ids, b'P'], rest) = rest.split_first_chunk()? else {
        return None;
    };
    let path = match ids {
        b'U' => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
            rest.get(..length)?
        }
        b'S' => rest.get(..rest.len().checked_sub(TAO_SYSTEM_ID)?)?,
        _ => return None,
    };
    // The names end at the first thing that is none: behind them may be a part of the id.
    let names = path.split(|octet| *octet == 0);
    let names = names.map(|name| std::str::from_utf8(name).ok().filter(|name| is_name(name)));
    Some(names.map_while(|name| name).collect())
}

/// Returns what a textual key may name: all of it, what stands before its first slash, and an implementation with its POA
/// as servers of JacORB register.
fn text(key: &[u8]) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(key) else {
        return Vec::new();
    };
    let mut names = vec![text.to_owned()];
    if let Some((first, _)) = text.split_once('/') {
        names.push(first.to_owned());
    }
    if let Some((path, _)) = text.rsplit_once('/') {
        names.push(format!("{JACORB}{path}"));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(key: &[u8]) -> Vec<String> {
        KeyNames::of(key).names
    }

    #[test]
    fn keys_of_this_orb_have_the_path_and_perhaps_the_servers_id() {
        let key = b"PUNP\0\x0asite\0hall\0pump";
        assert_eq!(names(key), ["hall", "site"]);
        let key = b"PUNR\0\x02p7\0\x05site\0pump";
        let found = KeyNames::of(key);
        assert_eq!(
            (found.server_id, &*found.names),
            (Some("p7"), &["site".to_owned()][..])
        );
    }

    #[test]
    fn keys_of_tao_have_the_path_whoever_assigns_the_ids() {
        let user = b"\x14\x01\x0f\0NUP\0\0\0\x0dRootPOA\0site\0pump";
        assert_eq!(names(user), ["site", "RootPOA"]);
        let system = b"\x14\x01\x0f\0NSPsite\0hall\0\0\0\0\x01\0\0\0\x02";
        assert_eq!(names(system), ["hall", "site"]);
        // A transient object, and the root POA.
        assert_eq!(names(b"\x14\x01\x0f\0NSTabcdefghsite\0\0\0\0\x01"), [""; 0]);
        assert_eq!(names(b"\x14\x01\x0f\0RSP\0\0\0\x01"), [""; 0]);
    }

    #[test]
    fn text_names_itself_what_stands_before_a_slash_and_an_implementation_of_jacorb() {
        assert_eq!(names(b"plant"), ["plant"]);
        assert_eq!(
            names(b"plant/hall/pump"),
            ["plant/hall/pump", "plant", "JACORB:plant/hall"]
        );
    }

    #[test]
    fn keys_that_are_cut_or_forged_name_nothing_harmful() {
        let mut long = b"\x14\x01\x0f\0NUP\xff\xff\xff\xff".to_vec();
        long.extend(std::iter::repeat_n(b'a', 100));
        assert_eq!(names(&long), [""; 0]);
        for key in [
            &b""[..],
            b"PUNP\0",
            b"PUNP\xff\xff",
            b"PUNR\0\x09p7",
            b"\x14\x01\x0f\0",
            b"\x14\x01\x0f\0NUP\0\0",
            b"\x14\x01\x0f\0NSP\0",
            b"\xff\xfe/\xff",
            b"a\nb",
        ] {
            assert_eq!(names(key), [""; 0], "{key:?}");
        }
        let key = "a".repeat(MAX_NAME + 1);
        assert_eq!(names(key.as_bytes()), [""; 0]);
    }
}
