//! Servants of the accounts test: accounts that ask `Current` for their object id, and the bank
//! that makes references to them.

use crate::adapters as a;
use punctual::poa::{Current, NoContext};
use punctual::{CompletionStatus, ObjectId, Poa, SystemException, SystemExceptionKind};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// State that outlives the servants: the accounts' balances, and a log of the requests that servant
/// managers receive.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    balances: Mutex<BTreeMap<(String, String), i32>>,
    events: Mutex<Vec<String>>,
}

impl Ledger {
    /// Appends an event to the log of servant manager calls.
    pub(super) fn note(&self, event: String) {
        locked(&self.events).push(event);
    }
}

/// Locks a mutex, poisoned or not: each change is a single step, so a panic of another thread
/// leaves the state valid.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Servant of one account or of all accounts; it does not store the identity of an account.
#[derive(Clone, Debug)]
pub(super) struct Account(pub(super) Arc<Ledger>);

impl Account {
    fn adapter_and_id() -> Result<(String, String), NoContext> {
        let (poa, id) = (Current.poa()?, Current.object_id()?);
        Ok((poa.name().to_owned(), id.to_string()))
    }
}

fn internal(why: impl Display) -> SystemException {
    SystemException::new(SystemExceptionKind::Internal, 0, CompletionStatus::No)
        .with_detail(why.to_string())
}

impl a::IdentifiedServant for Account {
    fn id(&self) -> Result<String, SystemException> {
        Ok(Self::adapter_and_id().map_err(internal)?.1)
    }
    fn adapter(&self) -> Result<String, SystemException> {
        Ok(Self::adapter_and_id().map_err(internal)?.0)
    }
}

impl a::AccountServant for Account {
    fn deposit(&self, amount: i32) -> Result<i32, a::AccountDepositError> {
        let account = Self::adapter_and_id().map_err(internal)?;
        let mut balances = locked(&self.0.balances);
        let balance = balances.entry(account).or_default();
        match balance.checked_add(amount) {
            Some(sum) if sum >= 0 => {
                *balance = sum;
                Ok(sum)
            }
            _ => Err(a::Overdrawn { balance: *balance }.into()),
        }
    }
}

/// Servant of the bank, which looks up its object adapters from the root POA.
#[derive(Debug)]
pub(super) struct Bank {
    pub(super) root: Poa,
    pub(super) ledger: Arc<Ledger>,
}

impl Bank {
    /// Returns the adapter with the given name; adapter activators make the persistent ones on
    /// demand.
    fn adapter(&self, name: &str) -> Result<Poa, SystemException> {
        let found = match name {
            "branch" => self
                .root
                .find_poa("lasting", true)
                .and_then(|lasting| lasting.find_poa(name, true)),
            _ => self.root.find_poa(name, true),
        };
        found.map_err(internal)
    }
}

impl a::BankServant for Bank {
    fn open(&self, adapter: &str, id: &str) -> Result<Option<a::Account>, SystemException> {
        let adapter = self.adapter(adapter)?;
        let account = adapter.create_reference_with_id(&ObjectId::from(id));
        account.map(Some).map_err(internal)
    }
    fn close(&self, adapter: &str, id: &str) -> Result<(), SystemException> {
        let adapter = self.adapter(adapter)?;
        adapter
            .deactivate_object(&ObjectId::from(id))
            .map_err(internal)
    }
    fn events(&self) -> Result<a::Strings, SystemException> {
        Ok(std::mem::take(&mut *locked(&self.ledger.events)))
    }
}
