//! Object groups of Fault Tolerant CORBA (CORBA 3.0, chapter 23): components that say of which group a reference is, and
//! references of whole groups.
//!
//! ```text
//! TAG_FT_GROUP:             encapsulation { octet major; octet minor; string ft_domain_id;
//!                                           unsigned long long object_group_id;
//!                                           unsigned long object_group_ref_version; }
//! TAG_FT_PRIMARY:           encapsulation { boolean primary; }
//! TAG_FT_HEARTBEAT_ENABLED: encapsulation { boolean heartbeat_enabled; }
//! ```

use std::borrow::Cow;

use punctual_cdr::{
    ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal,
};
use thiserror::Error;

use crate::component::Component;
use crate::endpoint::Endpoint;
use crate::profile::Profile;
use crate::reference::Ior;
use crate::tagged::{TaggedComponent, TaggedProfile, encapsulate};
use crate::tags::component as tag;

/// Version of TAG_FT_GROUP that is written; a later minor version is read as this one.
const VERSION: (u8, u8) = (1, 0);

/// Maximum number of profiles of a group's reference.
const MOST_PROFILES: usize = 128;

/// Contents of a TAG_FT_GROUP component: the object group of which a reference is, and the version of that reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FtGroup {
    /// Fault tolerance domain in which the group's id is unique: at most [`FtGroup::MOST_DOMAIN`] bytes.
    pub domain: String,
    /// Id of the group in its domain.
    pub id: u64,
    /// Version of the group's reference, which grows as members come and go.
    pub version: u32,
}

impl FtGroup {
    /// Maximum length of a domain's name, in bytes.
    pub const MOST_DOMAIN: u32 = 256;

    /// Maximum number of members whose profiles are in one reference of a group.
    pub const MOST_MEMBERS: usize = 32;

    /// Returns whether both are of one group, whichever their versions.
    #[must_use]
    pub fn is_same_group(&self, other: &Self) -> bool {
        self.id == other.id && self.domain == other.domain
    }
}

impl Marshal for FtGroup {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        check_domain(self.domain.len())?;
        out.put_u8(VERSION.0);
        out.put_u8(VERSION.1);
        out.put_string_in(NarrowCodeSet::Utf8, &self.domain)?;
        out.put_u64(self.id);
        out.put_u32(self.version);
        Ok(())
    }
}

impl Unmarshal for FtGroup {
    const MIN_SIZE: usize = 28;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let (major, _) = (input.get_u8()?, input.get_u8()?);
        if major != VERSION.0 {
            return Err(CdrError::Invalid("the version of TAG_FT_GROUP is not 1.x"));
        }
        let domain = input.get_string_in(NarrowCodeSet::Utf8)?;
        check_domain(domain.len())?;
        Ok(Self {
            domain: Cow::into_owned(domain),
            id: input.get_u64()?,
            version: input.get_u32()?,
        })
    }
}

fn check_domain(length: usize) -> Result<(), CdrError> {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    match length <= FtGroup::MOST_DOMAIN {
        true => Ok(()),
        false => Err(CdrError::LengthOverLimit {
            length,
            limit: FtGroup::MOST_DOMAIN,
        }),
    }
}

impl TaggedComponent {
    /// Makes a `FT_GROUP` component.
    ///
    /// # Errors
    /// Those of an invalid domain: [`CdrError::InnerNul`], [`CdrError::LengthOverLimit`].
    pub fn ft_group(group: &FtGroup) -> Result<Self, CdrError> {
        Ok(Self {
            tag: tag::FT_GROUP,
            data: encapsulate(|data| group.marshal(data))?,
        })
    }

    /// Creates a `FT_PRIMARY` component, which marks a profile of the group's primary member.
    #[must_use]
    pub fn ft_primary(primary: bool) -> Self {
        Self::of_boolean(tag::FT_PRIMARY, primary)
    }

    /// Creates a `FT_HEARTBEAT_ENABLED` component: whether the server answers heartbeats.
    #[must_use]
    pub fn ft_heartbeat_enabled(enabled: bool) -> Self {
        Self::of_boolean(tag::FT_HEARTBEAT_ENABLED, enabled)
    }

    fn of_boolean(tag: u32, value: bool) -> Self {
        let data = encapsulate(|data| value.marshal(data));
        Self {
            tag,
            data: data.unwrap_or_default(),
        }
    }
}

impl TaggedProfile {
    /// Returns the components of the profile; none of a profile that has no place for them, or cannot be read.
    #[must_use]
    pub fn components(&self) -> Vec<TaggedComponent> {
        match self.decode() {
            Ok(Profile::Iiop(profile) | Profile::Shmiop(profile)) => profile.components,
            Ok(Profile::Diop(profile)) => profile.components,
            Ok(Profile::Uiop(profile)) => profile.components,
            Ok(Profile::Pair(profile)) => profile.components,
            Ok(Profile::MultipleComponents(components)) => components,
            Ok(Profile::Other) | Err(_) => Vec::new(),
        }
    }

    /// Returns the profile with its components changed. One that has no place for components is returned as it is: of an
    /// unknown tag, or of version 1.0.
    fn with_components(
        &self,
        change: impl FnOnce(&mut Vec<TaggedComponent>) -> Result<(), CdrError>,
    ) -> Result<Self, CdrError> {
        let order = ByteOrder::Big;
        let data = match self.decode() {
            Ok(Profile::Iiop(mut of) | Profile::Shmiop(mut of)) if of.version.has_components() => {
                change(&mut of.components)?;
                of.encode(order)?
            }
            Ok(Profile::Diop(mut of)) if of.version.has_components() => {
                change(&mut of.components)?;
                of.encode(order)?
            }
            Ok(Profile::Uiop(mut of)) if of.version.has_components() => {
                change(&mut of.components)?;
                of.encode(order)?
            }
            Ok(Profile::Pair(mut of)) => {
                change(&mut of.components)?;
                of.encode(order)?
            }
            Ok(Profile::MultipleComponents(mut components)) => {
                change(&mut components)?;
                Encoder::encapsulated(order, Coding::default(), |out| components.marshal(out))?
            }
            Ok(_) | Err(_) => return Ok(self.clone()),
        };
        Ok(Self {
            tag: self.tag,
            data,
        })
    }

    /// Returns the group that the profile's TAG_FT_GROUP states, and whether the profile is one of the primary member.
    #[must_use]
    pub fn group(&self) -> Option<(FtGroup, bool)> {
        let (mut group, mut is_primary) = (None, false);
        for component in self.components() {
            match component.decode() {
                Ok(Component::FtGroup(stated)) => group = group.or(Some(stated)),
                Ok(Component::FtPrimary(primary)) => is_primary |= primary,
                _ => {}
            }
        }
        group.map(|group| (group, is_primary))
    }
}

/// Reason why no reference of a group can be made.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GroupError {
    /// No member has a profile.
    #[error("the group has no member, or no member's reference has a profile")]
    NoMember,
    /// The primary is not among the members that a reference can hold.
    #[error(
        "the primary member is not among the group's first {} members",
        FtGroup::MOST_MEMBERS
    )]
    NoSuchPrimary,
    /// The domain or a profile cannot be encoded.
    #[error("the group's reference cannot be encoded: {0}")]
    Cdr(#[from] CdrError),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for GroupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Ior {
    /// Returns the group that the first profile with a TAG_FT_GROUP states; `None` for a reference of a single object.
    #[must_use]
    pub fn group(&self) -> Option<FtGroup> {
        let mut groups = self.profiles.iter().filter_map(TaggedProfile::group);
        groups.next().map(|(group, _)| group)
    }

    /// Makes an interoperable object group reference (CORBA 3.0, §23.2.2): one that has the profiles of all members, each
    /// once and each with TAG_FT_GROUP in place of one that it had. Profiles of the `primary`, an index of `members`, stand
    /// first and alone have TAG_FT_PRIMARY. A profile that has no place for components is taken as it is.
    ///
    /// Holds at most the first [`FtGroup::MOST_MEMBERS`] members and 128 profiles: each member has an equal share of these,
    /// and of [`Ior::MOST_OCTETS`], as members' owners determine number and length of profiles.
    ///
    /// # Errors
    /// [`GroupError`]
    pub fn of_group(
        type_id: &str,
        group: &FtGroup,
        members: &[Self],
        primary: Option<usize>,
    ) -> Result<Self, GroupError> {
        let members = members.get(..FtGroup::MOST_MEMBERS).unwrap_or(members);
        if primary.is_some_and(|primary| primary >= members.len()) {
            return Err(GroupError::NoSuchPrimary);
        }
        let stated = TaggedComponent::ft_group(group)?;
        let share = Share::among(members.len());
        let others = (0..members.len()).filter(|index| Some(*index) != primary);
        let mut profiles = Vec::new();
        for index in primary.into_iter().chain(others) {
            let Some(member) = members.get(index) else {
                continue;
            };
            for profile in share.of(member, &stated, Some(index) == primary)? {
                if !profiles.contains(&profile) {
                    profiles.push(profile);
                }
            }
        }
        match profiles.is_empty() {
            true => Err(GroupError::NoMember),
            false => Ok(Self {
                type_id: type_id.to_owned(),
                profiles,
            }),
        }
    }
}

impl Ior {
    /// Returns the reference with the addresses of its other IIOP profiles that have the same object key as alternate addresses
    /// (TAG_ALTERNATE_IIOP_ADDRESS) of its first one. For clients that use the first profile alone, as omniORB's do: members of
    /// persistent adapters of equal names have equal keys.
    ///
    /// # Errors
    /// Those of an address that cannot be encoded.
    pub fn with_alternate_addresses(&self) -> Result<Self, CdrError> {
        let mut ior = self.clone();
        let mut iiop =
            self.profiles
                .iter()
                .enumerate()
                .filter_map(|(index, profile)| match profile.decode() {
                    Ok(Profile::Iiop(profile)) => Some((index, profile)),
                    _ => None,
                });
        let Some((first, mut profile)) = iiop.next() else {
            return Ok(ior);
        };
        if !profile.version.has_components() {
            return Ok(ior);
        }
        let own: Vec<Endpoint> = profile.endpoints().collect();
        let others = iiop.filter(|(_, other)| other.object_key == profile.object_key);
        let others: Vec<Endpoint> = others
            .flat_map(|(_, other)| other.endpoints().collect::<Vec<_>>())
            .collect();
        for endpoint in others.iter().filter(|one| !own.contains(one)) {
            let component = TaggedComponent::alternate_iiop_address(endpoint)?;
            if !profile.components.contains(&component) {
                profile.components.push(component);
            }
        }
        if let Some(place) = ior.profiles.get_mut(first) {
            *place = profile.to_tagged(ByteOrder::Big)?;
        }
        Ok(ior)
    }
}

/// Number and length of the profiles that a group's reference has of each member.
struct Share {
    profiles: usize,
    octets: usize,
}

impl Share {
    fn among(members: usize) -> Self {
        let members = members.max(1);
        Self {
            profiles: MOST_PROFILES / members,
            octets: Ior::MOST_OCTETS as usize / members,
        }
    }

    /// Returns the profiles of a member that are within the share, as profiles of the group.
    fn of(
        &self,
        member: &Ior,
        group: &TaggedComponent,
        is_primary: bool,
    ) -> Result<Vec<TaggedProfile>, CdrError> {
        let mut left = self.octets;
        let mut profiles = Vec::new();
        for profile in member.profiles.iter().take(self.profiles) {
            let profile = profile.with_components(|components| {
                components.retain(|one| ![tag::FT_GROUP, tag::FT_PRIMARY].contains(&one.tag));
                components.push(group.clone());
                if is_primary {
                    components.push(TaggedComponent::ft_primary(true));
                }
                Ok(())
            })?;
            if let Some(rest) = left.checked_sub(profile.data.len()) {
                left = rest;
                profiles.push(profile);
            }
        }
        Ok(profiles)
    }
}
