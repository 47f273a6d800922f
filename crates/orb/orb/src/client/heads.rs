//! Templates of request headers, written once for each operation of a bound reference. Only the
//! request id and the message size change from call to call.

use super::contexts::{FilledContexts, filled};
use crate::fixed_context::{RequestContext, WORD, WordLayout};
use crate::lane::{ClientConnection, Endpoint};
use crate::messaging::{Head, Template};
use crate::operation::{KeptName, NamedOperation};
use punctual_cdr::{CdrError, Coding};
use punctual_giop::{MessageKind, RequestHeader, ResponseFlags, ServiceContext, Target};
use std::sync::{Arc, OnceLock};

/// Number of templates in a row of the table.
const A_ROW: usize = 4;
/// Maximum number of rows of a reference's table. For operations beyond that, the header is written
/// anew for each call.
const ROWS: usize = 32;

/// Request header templates for calls through a reference to one endpoint.
#[derive(Debug)]
pub(super) struct Heads {
    /// Service contexts of the ORB that these requests carry.
    contexts: Arc<[Arc<dyn RequestContext>]>,
    rows: Row,
}

#[derive(Debug, Default)]
struct Row {
    places: [OnceLock<RequestHead>; A_ROW],
    next: OnceLock<Box<Row>>,
}

/// Template of the header of requests for one operation.
#[derive(Debug)]
pub(super) struct RequestHead {
    operation: KeptName,
    response: ResponseFlags,
    /// True if the template belongs to a reference that announces code sets.
    pub(super) announces_code_sets: bool,
    pub(super) template: Template,
    /// Layout of the header's only service context, if its data is a single word
    /// ([`RequestContext::word_of_thread`]).
    pub(super) word: Option<WordLayout>,
    /// Service contexts for which the request header's template has slots.
    pub(super) contexts: Arc<[Arc<dyn RequestContext>]>,
}

impl Heads {
    /// Creates an empty table of templates for requests that carry these service contexts.
    pub(super) fn new(contexts: Arc<[Arc<dyn RequestContext>]>) -> Self {
        Self {
            contexts,
            rows: Row::default(),
        }
    }

    /// Returns the template for an operation; `None` if the protocol's headers differ from call to
    /// call, or the template cannot be written. Allocates when the operation is called for the
    /// first time.
    // Inlined in both fast paths, as it is a good part of their cost.
    #[inline(always)]
    pub(super) fn head(
        &self,
        operation: &NamedOperation<'_>,
        to: (&ClientConnection, &Endpoint),
    ) -> Option<&RequestHead> {
        let mut row = &self.rows;
        for _ in 0..ROWS {
            for place in &row.places {
                match place.get() {
                    Some(head) if head.is_of(operation) => return Some(head),
                    Some(_) => {}
                    None => {
                        return self.write(place, operation, to);
                    }
                }
            }
            row = row.next.get_or_init(Box::default);
        }
        None
    }

    #[cold]
    fn write<'h>(
        &self,
        place: &'h OnceLock<RequestHead>,
        operation: &NamedOperation<'_>,
        to: (&ClientConnection, &Endpoint),
    ) -> Option<&'h RequestHead> {
        let written = RequestHead::new(operation, to, &self.contexts).ok()??;
        // Another thread may have stored another operation's head here.
        Some(place.get_or_init(|| written)).filter(|head| head.is_of(operation))
    }
}

impl RequestHead {
    fn new(
        operation: &NamedOperation<'_>,
        (connection, endpoint): (&ClientConnection, &Endpoint),
        contexts: &Arc<[Arc<dyn RequestContext>]>,
    ) -> Result<Option<Self>, CdrError> {
        let coding = Coding {
            code_sets: connection.wire.code_sets,
            ..Coding::new(connection.wire.version, &connection.wire.limits)
        };
        let head = |contexts| {
            let header = RequestHeader {
                request_id: 0,
                response: operation.response,
                target: Target::ObjectKey(&endpoint.object_key),
                operation: operation.name(),
                contexts,
            };
            Head::Request(header, None)
        };
        let contexts = match connection.carries_contexts() {
            true => contexts.clone(),
            false => Arc::default(),
        };
        let lengths: Vec<usize> = contexts.iter().map(|one| one.length()).collect();
        let data: Vec<Vec<u8>> = lengths.iter().map(|length| vec![0; *length]).collect();
        let empty = contexts.iter().zip(&data);
        let empty: Vec<ServiceContext<'_>> =
            empty.map(|(one, data)| (one.id(), &data[..])).collect();
        let (session, kind) = (&*connection.wire.session, MessageKind::Request);
        let template = Template::with_contexts(session, kind, head, (&empty, &lengths), coding)?;
        Ok(template.map(|template| Self {
            operation: operation.kept_name(),
            response: operation.response,
            announces_code_sets: endpoint.announces_code_sets,
            template,
            word: match &*contexts {
                [one] if one.length() == WORD => one.word_of_thread(),
                _ => None,
            },
            contexts,
        }))
    }

    /// Returns the service contexts of the ORB that the header has, for a call by the calling thread.
    pub(super) fn contexts(&self) -> FilledContexts {
        filled(&self.contexts)
    }

    /// Returns the service contexts that a request had, whose data [`Template::save_contexts`] has copied.
    #[cold]
    pub(super) fn saved_contexts(&self, saved: &[u8]) -> FilledContexts {
        let ids = self.contexts.iter().map(|context| context.id());
        ids.zip(self.template.saved_contexts(saved)).collect()
    }

    /// Returns whether the template belongs to this operation. Names are constants, so their
    /// addresses are compared; an equal name at another address gets a template of its own.
    #[inline]
    fn is_of(&self, operation: &NamedOperation<'_>) -> bool {
        self.operation.is_of(operation) && self.response == operation.response
    }
}
