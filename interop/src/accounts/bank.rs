//! The servants: accounts that ask `Current` which they are, and the bank that makes references to them.

use crate::adapters as a;
use punctual::poa::{Current, NoContext};
use punctual::{CompletionStatus, ObjectId, Poa, SystemException, SystemExceptionKind};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What outlives servants: the balances, and what servant managers were asked for.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    balances: Mutex<BTreeMap<(String, String), i32>>,
    events: Mutex<Vec<String>>,
}

impl Ledger {
    /// Writes down what happened.
    pub(super) fn note(&self, event: String) {
        locked(&self.events).push(event);
    }
}

/// What a panic of another thread left is as good as ever: each change is one step.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An account, or all of them: it knows none of them itself.
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

/// The bank, which knows its adapters by the root.
#[derive(Debug)]
pub(super) struct Bank {
    pub(super) root: Poa,
    pub(super) ledger: Arc<Ledger>,
}

impl Bank {
    /// The adapter of that name; a persistent one is made if need be.
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
