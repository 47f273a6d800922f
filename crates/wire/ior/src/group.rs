//! References of object groups of Fault Tolerant CORBA (CORBA 3.0, §23.2): those that name a group, and those made of the
//! references of its members.

use punctual_cdr::{ByteOrder, CdrError, Coding, Encoder, Marshal};
use thiserror::Error;

use crate::component::Component;
use crate::endpoint::Endpoint;
use crate::ft_group::FtGroup;
use crate::profile::Profile;
use crate::reference::Ior;
use crate::tagged::{TaggedComponent, TaggedProfile};
use crate::tags::component as tag;

/// Maximum number of profiles of a group's reference.
const MOST_PROFILES: usize = 128;

impl TaggedProfile {
    /// Returns the components of the profile; none of a profile that has no place for them, or cannot be read.
    #[must_use]
    pub fn components(&self) -> Vec<TaggedComponent> {
        match self.decode() {
            Ok(Profile::Iiop(profile) | Profile::Shmiop(profile)) => profile.components,
            Ok(Profile::Diop(profile)) => profile.components,
            Ok(Profile::Uiop(profile)) => profile.components,
            Ok(Profile::Pair(profile)) => profile.components,
            Ok(Profile::Uipmc(profile)) => profile.components,
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
