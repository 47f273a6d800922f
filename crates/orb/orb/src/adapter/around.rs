//! What a policy of an adapter does around each upcall.

use crate::exception::SystemException;
use crate::server::ServerCall;
use std::fmt::Debug;

/// What surrounds each upcall of an adapter, where one of its policies asks for it
/// ([`crate::PolicyType::around_upcalls`]): a priority that the thread takes, a lock.
pub trait AroundUpcall: Send + Sync + Debug {
    /// Before the servant is called, on the thread that calls it, once the object is found. A call from within the
    /// process comes without a message. What it returns [`AroundUpcall::leave`] is given.
    ///
    /// # Errors
    /// What the caller is told; there is no upcall then, and no `leave`.
    fn enter(&self, call: Option<&mut ServerCall<'_>>) -> Result<u64, SystemException>;

    /// Behind the upcall, on the same thread, however it ended.
    fn leave(&self, entered: u64);
}
