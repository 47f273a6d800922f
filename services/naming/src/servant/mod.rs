//! The service's objects: one servant for all contexts, another for all iterators, each found by a locator that knows
//! which of them there are. None is ever activated.
//!
//! The id of a context is the store's identity and its number, eight bytes each, so that contexts of another naming
//! server, whose adapters have the same names, are not taken for ours. That of an iterator is a random number.

mod beyond;
mod check;
mod context;
mod extended;
mod forward;
mod group;
mod iterator;
mod present;

use std::sync::Arc;
use std::time::Duration;

use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Nilable};
use punctual::{
    Current, IdAssignmentPolicy, IdUniquenessPolicy, Implements, Interface, LifespanPolicy,
    ObjectId, ObjectRef, Orb, Poa, PoaPolicy, RequestProcessingPolicy, ServantRetentionPolicy,
    SystemException, SystemExceptionKind, about_to_block, request_peer,
};
use thiserror::Error;

use crate::access::Requester;
use crate::cos_naming::{BindingIterator, NamingContext, NamingContextExt};
use crate::extension::ExtendedContext;
use crate::refusal::Refusal;
use crate::service::NamingService;
use crate::store::{ContextId, ROOT, Target};
use crate::tree::{Done, Operation, Wanted};

use check::Checking;
use iterator::Iterators;
use present::Present;

/// Why a naming service cannot be served.
#[derive(Clone, Debug, Error)]
#[error("the naming service cannot be served: {0}")]
pub struct ServeError(String);

/// How a naming service is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// Whether names that lead through contexts of other servers are resolved there; else the client is told to go on
    /// there by itself, by CannotProceed. Whoever may bind a context can have the server call any address then.
    /// Default: true.
    pub federated: bool,
    /// How long a call to another server may take. Default: 5 s.
    pub federated_timeout: Duration,
    /// How often the members of groups are asked whether they exist; none are without it. Only where `federated` is
    /// true, as the server is led to other addresses by it, too. Default: 10 s.
    pub group_check: Option<Duration>,
    /// How long a member is dead before it is removed; none is without it. Default: 60 s.
    pub group_remove: Option<Duration>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            federated: true,
            federated_timeout: Duration::from_secs(5),
            group_check: Some(Duration::from_secs(10)),
            group_remove: Some(Duration::from_secs(60)),
        }
    }
}

/// The servant.
#[derive(Clone, Debug)]
pub(crate) struct Server(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    service: NamingService,
    options: ServeOptions,
    orb: Orb,
    contexts: Poa,
    iterators: Iterators,
    checking: Checking,
}

type Result<T> = std::result::Result<T, SystemException>;

impl NamingService {
    /// Serves the service by adapters below `parent`, which requests reach through its manager; the root context's
    /// reference. Where the store and the ORB's endpoints stay the same, so do all references.
    ///
    /// # Errors
    /// The adapters cannot be made: there are some of their names already.
    pub fn serve(
        &self,
        parent: &Poa,
        options: ServeOptions,
    ) -> std::result::Result<NamingContextExt, ServeError> {
        let adapter = |name, lifespan| {
            let policies = [
                PoaPolicy::Lifespan(lifespan),
                PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
                PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple),
                PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain),
                PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager),
            ];
            let poa = parent.create_poa(name, Some(parent.manager()), &policies);
            poa.map_err(|error| ServeError(error.to_string()))
        };
        let contexts = adapter("NamingContexts", LifespanPolicy::Persistent)?;
        let iterators = adapter("BindingIterators", LifespanPolicy::Transient)?;
        let server = Server(Arc::new(Shared {
            service: self.clone(),
            options,
            orb: parent.orb().clone(),
            contexts: contexts.clone(),
            iterators: Iterators::new(iterators.clone()),
            checking: Checking::default(),
        }));
        server.0.checking.begin(&server)?;
        let failed = |error: punctual::PoaError| ServeError(error.to_string());
        let of_contexts = <ExtendedContext as Implements<Server>>::servant(server.clone());
        let present = Present::when(server.clone(), of_contexts, |server, id| {
            let number = server.number_in(id);
            number.is_some_and(|number| server.service().has(number))
        });
        contexts.set_servant_manager(present).map_err(failed)?;
        let of_iterators = iterator::IteratorServer(server.clone());
        let of_iterators = <BindingIterator as Implements<_>>::servant(of_iterators);
        let present = Present::when(server.clone(), of_iterators, |server, id| {
            server.0.iterators.has(id)
        });
        iterators.set_servant_manager(present).map_err(failed)?;
        let root = server.context(ROOT);
        let root = root.map_err(|exception| ServeError(exception.to_string()))?;
        Ok(NamingContextExt::from_object(root.into()))
    }
}

impl Server {
    fn service(&self) -> &NamingService {
        &self.0.service
    }

    /// The context that is called.
    fn current(&self) -> Result<ContextId> {
        let missing = || SystemException::from(Refusal::NoSuchContext);
        let id = Current.object_id().map_err(|_| missing())?;
        self.number_in(&id).ok_or_else(missing)
    }

    /// The context of ours that an id stands for.
    fn number_in(&self, id: &ObjectId) -> Option<ContextId> {
        let (identity, number) = id.as_bytes().split_at_checked(8)?;
        let is_ours = identity == self.service().identity().to_be_bytes();
        is_ours.then(|| Some(u64::from_be_bytes(number.try_into().ok()?)))?
    }

    /// A reference to a context.
    fn context(&self, number: ContextId) -> Result<NamingContext> {
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

    /// What an object is as a target.
    fn object_target(&self, object: Option<&ObjectRef>) -> std::result::Result<Target, Refusal> {
        Ok(Target::Object(self.written(object)?))
    }

    /// What a context is as a target: by its number if it is ours.
    fn context_target(
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

    /// A reference as bytes.
    fn written(&self, object: Option<&ObjectRef>) -> std::result::Result<Box<[u8]>, Refusal> {
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

    /// The reference that a target stands for.
    fn reference(&self, target: &Target) -> Result<Option<ObjectRef>> {
        match target {
            Target::Context(number) => self.context(*number).map(|context| Some(context.into())),
            // What it is resolved to is one of the others.
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

    /// Does what is wanted of the context that is called.
    fn change(&self, wanted: Wanted) -> std::result::Result<Done, Refusal> {
        let context = self.current().map_err(|_| Refusal::NoSuchContext)?;
        let by = match self.service().is_restricted() {
            true => Requester::from_peer(request_peer()),
            false => Requester::Process,
        };
        // Other requests of the same connection go on, so that they get into the same commit.
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

fn internal(detail: String) -> SystemException {
    let kind = SystemExceptionKind::Internal;
    SystemException::new(kind, 0, punctual::CompletionStatus::No).with_detail(detail)
}
