//! Object by which an Implementation Repository calls this process (`ImplementationRepository::ServerObject` of TAO): it
//! answers whether the process lives, and shuts the ORB down.

use crate::servant::Servant;
use punctual_orb::{DispatchError, Dispatched, Orb, ServerCall, WeakOrb};
use std::any::Any;

/// Servant of the process for the Implementation Repository.
#[derive(Debug)]
pub(crate) struct ServerObject {
    orb: WeakOrb,
}

impl ServerObject {
    pub(crate) const REPOSITORY_ID: &'static str = "IDL:ImplementationRepository/ServerObject:1.0";

    /// Makes the servant of an ORB's process.
    pub(crate) fn of(orb: &Orb) -> Self {
        let orb = orb.downgrade();
        Self { orb }
    }
}

impl Servant for ServerObject {
    fn repository_ids(&self) -> &'static [&'static str] {
        &[Self::REPOSITORY_ID]
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "ping" => call.reply(|_| Ok(())),
            "shutdown" => {
                if let Some(orb) = self.orb.upgrade() {
                    tracing::info!("the Implementation Repository ends this process's ORB");
                    orb.shutdown(false)?;
                }
                call.reply(|_| Ok(()))
            }
            _ => Err(call.bad_operation()),
        }
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}
