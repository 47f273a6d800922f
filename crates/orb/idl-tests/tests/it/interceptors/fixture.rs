//! Server and client, each with interceptors.

use super::generated::intercepted::{Account, AccountDepositError, AccountServant, Refused};
use punctual::interceptor::{OrbInitInfo, OrbInitializer, SlotId};
use punctual::policy::{Collocation, CollocationScope};
use punctual::{
    Any, CompletionStatus, Interface, ListenEndpoint, ObjectRef, Orb, OrbBuilder, Poa, Policy,
    RootPoa, SetOverride, SystemException, SystemExceptionKind as Kind,
};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

/// Servant that the interceptor tests call.
#[derive(Default)]
pub(crate) struct Vault {
    pub(crate) holds: AtomicI32,
    pub(crate) notes: AtomicI32,
    /// ORB and slot of which the operation `slot` returns the value.
    pub(crate) slots: OnceLock<(Orb, SlotId)>,
}

impl AccountServant for Vault {
    fn deposit(&self, amount: i32) -> Result<i32, AccountDepositError> {
        if amount < 0 {
            let why = "negative".to_owned();
            return Err(Refused { why }.into());
        }
        Ok(self.holds.fetch_add(amount, Ordering::Relaxed) + amount)
    }

    fn fail(&self) -> Result<(), SystemException> {
        let completed = CompletionStatus::Yes;
        Err(SystemException::new(Kind::BadParam, 7, completed))
    }

    fn panic(&self) -> Result<(), SystemException> {
        panic!("the servant panics on purpose")
    }

    fn note(&self, _: &str) -> Result<(), SystemException> {
        self.notes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn slot(&self) -> Result<i32, SystemException> {
        let Some((orb, slot)) = self.slots.get() else {
            return Ok(-1);
        };
        let current = orb.pi_current();
        let value: i32 = current.get_slot(*slot)?.extract().unwrap_or(0);
        current.set_slot(*slot, Any::new(&(2 * value))?)?;
        Ok(value)
    }
}

/// Path of the client's calls to the server's objects: requests, or calls within the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Near {
    ByWire,
    WithinProcess,
}

pub(crate) struct Pair {
    pub(crate) server: Orb,
    pub(crate) client: Orb,
    pub(crate) poa: Poa,
    pub(crate) vault: Arc<Vault>,
    /// Reference to the account object, held by the server's ORB.
    pub(crate) account: Account,
}

impl Pair {
    pub(crate) fn new(near: Near, server: OrbBuilder, client: OrbBuilder) -> Self {
        let server = server.listen(ListenEndpoint::iiop("127.0.0.1", 0));
        let server = server.build().unwrap();
        let client = client.configure(|config| {
            config.collocation_scope = match near {
                Near::ByWire => CollocationScope::Orb,
                Near::WithinProcess => CollocationScope::Process,
            };
        });
        let client = client.build().unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let vault = Arc::new(Vault::default());
        let account: Account = poa.activate(vault.clone()).unwrap();
        Self {
            server,
            client,
            poa,
            vault,
            account,
        }
    }

    /// Returns a new reference of the client's ORB to the account.
    pub(crate) fn account(&self) -> Account {
        Account::from_object(self.as_client(self.account.as_object()))
    }

    /// Returns a new reference of the client's ORB to the account, whose calls are always sent as
    /// requests.
    pub(crate) fn as_if_elsewhere(&self) -> Account {
        let by_wire = [Policy::Collocation(Collocation::None)];
        let object = self.as_client(self.account.as_object());
        let object = object.set_policy_overrides(&by_wire, SetOverride::Add);
        Account::from_object(object.unwrap())
    }

    pub(crate) fn as_client(&self, object: &ObjectRef) -> ObjectRef {
        moved(object, &self.client)
    }

    pub(crate) fn end(self) {
        self.client.shutdown(true).unwrap();
        self.server.shutdown(true).unwrap();
    }
}

/// Returns a reference of the ORB `to` to the object of a reference of another ORB.
pub(crate) fn moved(object: &ObjectRef, to: &Orb) -> ObjectRef {
    let text = object.orb().object_to_string(object).unwrap();
    to.string_to_object(&text).unwrap()
}

/// ORB initialiser that allocates one `PICurrent` slot.
#[derive(Default)]
pub(crate) struct Allocates(pub(crate) OnceLock<SlotId>);

impl OrbInitializer for Allocates {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        self.0.get_or_init(|| info.allocate_slot_id());
        Ok(())
    }
}
