//! Servant of contexts, and the functions that its operations share.

use std::sync::Arc;

use punctual::poa::Current;
use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Nilable};
use punctual::{
    CompletionStatus, Interface, ObjectId, ObjectRef, Orb, Poa, SystemException,
    SystemExceptionKind, about_to_block,
};
use punctual_groups::Checking;

use super::iterators::Iterators;
use super::options::ServeOptions;
use crate::cos_naming::{NamingContext, NamingContextExt};
use crate::refusal::Refusal;
use crate::service::NamingService;
use crate::store::{ContextId, Target};
use crate::tree::{Done, Operation, RequestedChange};

/// Servant of all naming contexts of the service.
#[derive(Clone, Debug)]
pub(crate) struct Server(pub(super) Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) service: NamingService,
    pub(super) options: ServeOptions,
    pub(super) orb: Orb,
    pub(super) contexts: Poa,
    pub(super) iterators: Iterators,
    pub(super) checking: Checking,
}

pub(super) type Result<T> = std::result::Result<T, SystemException>;

impl Server {
    pub(super) fn service(&self) -> &NamingService {
        &self.0.service
    }

    /// Returns the id of the naming context on which the operation is called.
    pub(super) fn current(&self) -> Result<ContextId> {
        let missing = || SystemException::from(Refusal::NoSuchContext);
        let id = Current.object_id().map_err(|_| missing())?;
        self.number_in(&id).ok_or_else(missing)
    }

    /// Returns the context of this service that an id represents.
    pub(super) fn number_in(&self, id: &ObjectId) -> Option<ContextId> {
        let (identity, number) = id.as_bytes().split_at_checked(8)?;
        let is_ours = identity == self.service().identity().to_be_bytes();
        is_ours.then(|| Some(u64::from_be_bytes(number.try_into().ok()?)))?
    }

    /// Creates an object reference to a naming context of the service.
    pub(super) fn context(&self, number: ContextId) -> Result<NamingContext> {
        let mut id = [0; 16];
        let (identity, context) = id.split_at_mut(8);
        identity.copy_from_slice(&self.service().identity().to_be_bytes());
        context.copy_from_slice(&number.to_be_bytes());
        let contexts = &self.0.contexts;
        let made =
            contexts.create_object_with_id(&ObjectId::from(&id), NamingContextExt::REPOSITORY_ID);
        made.map(NamingContext::from_object)
            .map_err(|error| internal(error.to_string()))
    }

    /// Returns the binding target for an object reference.
    pub(super) fn object_target(
        &self,
        object: Option<&ObjectRef>,
    ) -> std::result::Result<Target, Refusal> {
        Ok(Target::Object(self.written(object)?))
    }

    /// Returns the binding target for a context: its number if it is a context of this service,
    /// otherwise its reference.
    pub(super) fn context_target(
        &self,
        context: Option<&NamingContext>,
    ) -> std::result::Result<Target, Refusal> {
        let context = context.ok_or(Refusal::NilContext)?.as_object();
        let id = self.0.contexts.reference_to_id(context).ok();
        match id.and_then(|id| self.number_in(&id)) {
            Some(number) => Ok(Target::Context(number)),
            None => Ok(Target::Foreign(self.written(Some(context))?)),
        }
    }

    /// Encodes an object reference in the form stored in bindings.
    pub(super) fn written(
        &self,
        object: Option<&ObjectRef>,
    ) -> std::result::Result<Box<[u8]>, Refusal> {
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        let most = self.service().limits().reference_bytes;
        let too_long = || Refusal::LimitExceeded(format!("references of {most} bytes"));
        ObjectRef::marshal_nilable(object, &mut out).map_err(|_| too_long())?;
        let bytes = out.into_block();
        match bytes.len() <= most {
            true => Ok(bytes.to_vec().into()),
            false => Err(too_long()),
        }
    }

    /// Returns the object reference to which a binding target leads.
    pub(super) fn reference(&self, target: &Target) -> Result<Option<ObjectRef>> {
        match target {
            Target::Context(number) => self.context(*number).map(|context| Some(context.into())),
            // A group's name is resolved to one of its members.
            Target::Group { .. } => Err(Refusal::NoMember.into()),
            Target::Object(bytes)
            | Target::Foreign(bytes)
            | Target::Temporary {
                reference: bytes, ..
            } => {
                let coding = Coding {
                    environment: Some(&self.0.orb),
                    ..Coding::default()
                };
                let mut input = Decoder::new(bytes, ByteOrder::Big, coding);
                let read = ObjectRef::unmarshal_nilable(&mut input);
                read.map_err(|error| internal(error.to_string()))
            }
        }
    }

    /// Performs a requested change on the naming context that is called.
    pub(super) fn change(&self, wanted: RequestedChange) -> std::result::Result<Done, Refusal> {
        let context = self.current().map_err(|_| Refusal::NoSuchContext)?;
        let by = self.service().requester();
        // Other requests of the same connection continue, so that they get into the same commit.
        if self.service().blocks() {
            about_to_block();
        }
        self.service().change(Operation {
            context,
            wanted,
            by,
        })
    }
}

pub(super) fn internal(detail: String) -> SystemException {
    let kind = SystemExceptionKind::Internal;
    SystemException::new(kind, 0, CompletionStatus::No).with_detail(detail)
}
