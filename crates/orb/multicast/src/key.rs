//! Groups in the place of object keys.
//!
//! A profile of a group has no object key, and the ORB finds objects by their keys: between codec, messaging protocol and
//! adapter a key is this mark, and the profile's data as received. Such a key never leaves the process.

use punctual_ior::{GroupInfo, UipmcProfile};

/// Mark before the profile's data: no adapter's keys begin with it.
const MARK: &[u8] = b"\0\0MIOP\0\0";

/// Returns the key of a group's profile.
pub(crate) fn of_profile(data: &[u8]) -> Vec<u8> {
    [MARK, data].concat()
}

/// Returns the profile's data in a key; `None` if it is the key of another object.
pub(crate) fn profile_in(key: &[u8]) -> Option<&[u8]> {
    key.strip_prefix(MARK)
}

/// Returns the group that a key leads to; `None` if it is the key of another object.
pub(crate) fn group_in(key: &[u8]) -> Option<GroupInfo> {
    UipmcProfile::decode(profile_in(key)?).ok()?.group()
}
