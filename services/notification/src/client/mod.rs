//! Clients: consumers and suppliers behind proxies, and calls to them that wait for no reply.
//!
//! ```text
//! failure    failures of calls
//! events     calls that push events, or pull them
//! control    calls that tell of the end of a connection, and of changes of types
//! ```

mod control;
mod events;
mod failure;

use std::time::Duration;

use punctual::{Interface, ObjectRef, Orb};
use punctual_events::peer::bounded;

use crate::kept::ClientForm;
use crate::reference;
use crate::refusal::Refusal;

pub(crate) use control::Heard;
pub(crate) use failure::Failure;

/// Form in which a client has events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Any,
    Structured,
    Sequence,
}

impl From<Form> for ClientForm {
    fn from(form: Form) -> Self {
        match form {
            Form::Any => Self::AnyClient,
            Form::Structured => Self::StructuredClient,
            Form::Sequence => Self::SequenceClient,
        }
    }
}

impl From<ClientForm> for Form {
    fn from(form: ClientForm) -> Self {
        match form {
            ClientForm::AnyClient => Self::Any,
            ClientForm::StructuredClient => Self::Structured,
            ClientForm::SequenceClient => Self::Sequence,
        }
    }
}

/// Direction of calls: those with which events go to their receiver, or those with which it takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Push,
    Pull,
}

/// Consumer or supplier of a form and a style.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    object: ObjectRef,
    form: Form,
    style: Style,
}

impl Client {
    pub(crate) fn new(client: &impl Interface, form: Form, style: Style) -> Self {
        Self {
            object: client.as_object().clone(),
            form,
            style,
        }
    }

    pub(crate) fn object(&self) -> &ObjectRef {
        &self.object
    }

    /// Returns the first endpoint of the reference, as an address.
    pub(crate) fn endpoint(&self) -> Option<String> {
        reference::endpoint(&self.object)
    }

    /// Returns the reference to the client as text.
    ///
    /// # Errors
    /// It has none.
    pub(crate) fn to_text(&self) -> Result<String, Refusal> {
        reference::to_text(&self.object)
    }

    /// Returns the client that a text refers to.
    ///
    /// # Errors
    /// It is no reference.
    pub(crate) fn of_text(
        orb: &Orb,
        text: &str,
        (form, style): (Form, Style),
    ) -> Result<Self, Refusal> {
        Ok(Self {
            object: reference::of_text(orb, text)?,
            form,
            style,
        })
    }

    /// Returns the same client, whose calls take no longer than the time.
    pub(crate) fn bounded(&self, time: Duration) -> Self {
        Self {
            object: bounded(&self.object, time),
            ..*self
        }
    }

    fn of<I: Interface>(&self) -> I {
        I::from_object(self.object.clone())
    }
}
