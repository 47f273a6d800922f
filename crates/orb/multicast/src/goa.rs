//! Group object adapter (MIOP, `PortableGroup::GOA`): a POA whose objects are members of groups.

use crate::codec::address_of;
use crate::extend::Multicast;
use crate::table::Member;
use punctual_ior::{GroupInfo, Profile, UipmcProfile};
use punctual_orb::{
    CompletionStatus, Interface, ObjectRef, SystemException, SystemExceptionKind as Kind, minor,
    relay,
};
use punctual_poa::{ObjectId, Poa, PoaError};
use std::sync::Arc;

/// View of a POA by which its objects become members of groups. A request to a group is served by every member that the
/// process has, each under the policies of its own POA, one after the other in the order in which they became members.
#[derive(Clone, Debug)]
pub struct Goa {
    poa: Poa,
    multicast: Arc<Multicast>,
}

/// Reason why an object does not become a member of a group, or its members are not known.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum GoaError {
    /// The reference is not one of a group (`PortableGroup::NotAGroupObject`).
    #[error("the reference has no profile of a multicast group")]
    NotAGroupObject,
    /// The object is not a member of the group.
    #[error("the object is not a member of the group")]
    NotAMember,
    /// The POA does not have the object.
    #[error("{0}")]
    Poa(#[from] PoaError),
    /// The ORB cannot receive what is sent to the group.
    #[error("{0}")]
    Join(#[from] SystemException),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for GoaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<GoaError> for SystemException {
    fn from(error: GoaError) -> Self {
        match error {
            GoaError::Join(exception) => exception,
            GoaError::Poa(error) => error.into(),
            GoaError::NotAGroupObject | GoaError::NotAMember => {
                let (kind, code) = (Kind::InvObjref, minor::BAD_REFERENCE);
                Self::new(kind, code, CompletionStatus::No).with_detail(error.to_string())
            }
        }
    }
}

impl Goa {
    /// Returns the group object adapter of a POA; `None` if its ORB has no groups ([`Multicast::extend`]).
    #[must_use]
    pub fn of(poa: &Poa) -> Option<Self> {
        let multicast = Multicast::of(poa.orb())?;
        let poa = poa.clone();
        Some(Self { poa, multicast })
    }

    /// Returns an id that no object of the POA has had, for a member of a group. The object is activated later.
    ///
    /// # Errors
    /// [`GoaError::NotAGroupObject`]; [`GoaError::Poa`] without SYSTEM_ID; [`GoaError::Join`].
    pub fn create_id_for_reference(&self, group: &impl Interface) -> Result<ObjectId, GoaError> {
        let object: ObjectRef = self.poa.create_reference()?;
        let id = self.poa.reference_to_id(&object)?;
        self.associate_reference_with_id(group, &id)?;
        Ok(id)
    }

    /// Returns the ids of the POA's objects that are members of a group.
    ///
    /// # Errors
    /// [`GoaError::NotAGroupObject`].
    pub fn reference_to_ids(&self, group: &impl Interface) -> Result<Vec<ObjectId>, GoaError> {
        let (group, _) = group_of(group.as_object())?;
        let poa = self.poa.id();
        let members = self.multicast.groups.members(&group);
        let of_poa = members.iter().filter(|member| *member.poa == *poa);
        Ok(of_poa.map(|member| member.id.clone()).collect())
    }

    /// Makes an object a member of a group, which it is until it is disassociated, whether or not it is active. The ORB
    /// joins the group at its address with the first member, by the properties of the link `miop`. Associating a member
    /// again changes nothing, also by a reference with another address of the group.
    ///
    /// # Errors
    /// [`GoaError::NotAGroupObject`]; [`GoaError::Poa`] for an id that the POA cannot have; [`GoaError::Join`] if the ORB
    /// cannot listen at the group's address.
    pub fn associate_reference_with_id(
        &self,
        group: &impl Interface,
        id: &ObjectId,
    ) -> Result<(), GoaError> {
        let (group, place) = group_of(group.as_object())?;
        let object = self.poa.create_object_with_id(id, "")?;
        let profile = relay::first_profile(self.poa.orb(), object.ior(), &[])?;
        let member = Member {
            poa: self.poa.id().into(),
            id: id.clone(),
            key: profile.object_key.into(),
            place: place.as_str().into(),
        };
        self.multicast.join(self.poa.orb(), &place)?;
        if !self.multicast.groups.add(&group, &member) {
            self.multicast.leave(self.poa.orb(), &place);
        }
        Ok(())
    }

    /// Ends the membership of an object. The ORB leaves the address with the last member of its groups there.
    ///
    /// # Errors
    /// [`GoaError::NotAGroupObject`], [`GoaError::NotAMember`].
    pub fn disassociate_reference_with_id(
        &self,
        group: &impl Interface,
        id: &ObjectId,
    ) -> Result<(), GoaError> {
        let (group, _) = group_of(group.as_object())?;
        let removed = self.multicast.groups.remove(&group, &self.poa.id(), id);
        // The reference may have another address of the group than the one that was joined.
        let member = removed.ok_or(GoaError::NotAMember)?;
        self.multicast.leave(self.poa.orb(), &member.place);
        Ok(())
    }
}

/// Returns the group of a reference, and its address.
fn group_of(reference: &ObjectRef) -> Result<(GroupInfo, String), GoaError> {
    let profiles = &reference.ior().profiles;
    let decoded = profiles.iter().find_map(|tagged| match tagged.decode() {
        Ok(Profile::Uipmc(profile)) => Some(profile),
        _ => None,
    });
    let profile: UipmcProfile = decoded.ok_or(GoaError::NotAGroupObject)?;
    let group = profile.group().ok_or(GoaError::NotAGroupObject)?;
    Ok((group, address_of(&profile).place().to_owned()))
}
