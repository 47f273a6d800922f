//! Structured events that are pushed to a proxy by requests: they stay encoded.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use punctual::stub::{
    Answered, CdrError, Decoder, Identity, OperationTypes, Provided, ServerCall, Unmarshal,
};
use punctual::{Servant, SystemException};

use super::core::Inlet;
use crate::client::Form;
use crate::cos_event_comm::Disconnected;
use crate::cos_notification::StructuredEvent;
use crate::event::Event;
use crate::refusal::Refusal;

/// Number of events for which there is room before they are read: a peer may announce more than it sends.
const EXPECTED: usize = 256;

/// Servant of a proxy of structured events. It answers pushes itself; all else is for the skeleton.
struct Receiver {
    inlet: Arc<Inlet>,
    skeleton: Arc<dyn Servant>,
    /// Operation that pushes.
    push: &'static str,
}

/// Returns the servant of a proxy with this skeleton.
pub(crate) fn servant(inlet: &Arc<Inlet>, skeleton: Arc<dyn Servant>) -> Arc<dyn Servant> {
    let push = match inlet.base.form {
        Form::Any => return skeleton,
        Form::Structured => "push_structured_event",
        Form::Sequence => "push_structured_events",
    };
    Arc::new(Receiver {
        inlet: inlet.clone(),
        skeleton,
        push,
    })
}

impl Receiver {
    fn push(&self, call: &mut ServerCall<'_>) -> Answered {
        let input = call.arguments();
        let events = match self.inlet.base.form {
            Form::Sequence => read_batch(input)?,
            _ => vec![Event::read(input)?],
        };
        match self.inlet.publish(events) {
            Ok(()) => call.reply(|_| Ok(())),
            Err(Refusal::Disconnected) => call.raise(&Disconnected),
            Err(other) => Err(SystemException::from(other).into()),
        }
    }
}

/// Reads a batch, all of whose events are read before the first one is taken.
fn read_batch(input: &mut Decoder<'_>) -> Result<Vec<Event>, CdrError> {
    let count = input.get_length(StructuredEvent::MIN_SIZE)?;
    let mut events = Vec::with_capacity(count.min(EXPECTED));
    for _ in 0..count {
        events.push(Event::read(input)?);
    }
    Ok(events)
}

impl Servant for Receiver {
    fn repository_ids(&self) -> &'static [&'static str] {
        self.skeleton.repository_ids()
    }

    fn primary_interface(&self) -> Cow<'_, str> {
        self.skeleton.primary_interface()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.skeleton.is_a(repository_id)
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Answered {
        match call.operation() == self.push {
            true => self.push(call),
            false => self.skeleton.dispatch(call),
        }
    }

    fn operations(&self) -> &'static [&'static str] {
        self.skeleton.operations()
    }

    fn declaring_interface(&self, operation: &str) -> Option<&'static str> {
        self.skeleton.declaring_interface(operation)
    }

    fn upcall(&self, operation: usize, call: &mut ServerCall<'_>) -> Answered {
        match self.operations().get(operation) == Some(&self.push) {
            true => self.push(call),
            false => self.skeleton.upcall(operation, call),
        }
    }

    fn operation_types(&self, operation: &str) -> Option<&'static OperationTypes> {
        self.skeleton.operation_types(operation)
    }

    fn identity(&self) -> Identity {
        self.skeleton.identity()
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self.skeleton.implementation()
    }

    fn provide(&self) -> Provided<'_> {
        self.skeleton.provide()
    }
}
