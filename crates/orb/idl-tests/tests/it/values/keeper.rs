//! Servant whose operations take and return valuetypes, and the implementations of the valuetypes'
//! operations.

use std::sync::Mutex;

use punctual::policy::Collocation;
use punctual::value::{CdrError, CustomMarshal, DataInputStream, DataOutputStream};
use punctual::{Any, Interface, ListenEndpoint, Orb, Poa, RootPoa, SystemException, ValueRef};

use crate::values::generated::values::{
    Account, AccountDepositError, AccountFactory, AccountInitializers, AccountOpenError,
    AccountOperations, AccountState, All, Counts, CountsCountError, CountsOperations, Describable,
    DescribableServant, DescribedServant, Keeper, KeeperLoseError, KeeperServant, Lost, Named,
    NamedFactory, Node, Refused, Savings, SavingsFactory, SavingsOperations, Stamp, StampState,
    StrangeFactory,
};

/// Marshals the state in an order that no compiler would generate: the time, the author, the subject.
impl CustomMarshal for StampState {
    fn marshal(&self, os: &mut DataOutputStream<'_, '_>) -> Result<(), CdrError> {
        os.write_octet(b'!')?;
        os.write_value(self.about.as_ref())?;
        os.write_string(&self.by)?;
        os.write_longlong(self.at)?;
        os.write_string("ignored")
    }

    fn unmarshal(&mut self, is: &mut DataInputStream<'_, '_>) -> Result<(), CdrError> {
        if is.read_octet()? != b'!' {
            return Err(CdrError::Invalid("no stamp"));
        }
        self.about = is.read_value()?;
        self.by = is.read_string()?;
        self.at = is.read_longlong()?;
        Ok(())
    }
}

/// Implementation of the operations of the valuetype `Counts`.
pub(crate) struct Bank;

impl CountsOperations for Bank {
    fn count(&self, this: &Counts) -> Result<i32, CountsCountError> {
        let account: Option<Account> = punctual::ValueType::as_value(this).downcast();
        let refused = || Refused {
            why: "no account".to_owned(),
        };
        Ok(account.ok_or_else(refused)?.balance() / 100)
    }
}

impl AccountOperations for Bank {
    fn greet(&self, this: &Account, whom: &str) -> Result<String, SystemException> {
        Ok(format!("{} greets {whom}", this.owner()))
    }

    fn describe(&self, this: &Account) -> Result<String, SystemException> {
        Ok(format!("{} has {}", this.owner(), this.balance()))
    }

    fn deposit(
        &self,
        this: &Account,
        amount: i32,
        note: &mut String,
    ) -> Result<i32, AccountDepositError> {
        if amount < 0 {
            return Err(Refused { why: note.clone() }.into());
        }
        this.set_balance(this.balance() + amount);
        note.push_str(", done");
        Ok(this.balance())
    }

    fn total(&self, this: &Account) -> Result<i32, SystemException> {
        Ok(this.balance())
    }
}

impl AccountInitializers for Bank {
    fn open(&self, owner: &str, balance: i32) -> Result<AccountState, AccountOpenError> {
        if balance < 0 {
            let why = format!("{owner} owes");
            return Err(Refused { why }.into());
        }
        Ok(AccountState {
            balance,
            owner: owner.to_owned(),
        })
    }

    fn empty(&self) -> Result<AccountState, SystemException> {
        Ok(AccountState::default())
    }
}

impl SavingsOperations for Bank {
    fn accrue(&self, this: &Savings) -> Result<(), SystemException> {
        let interest = this.balance() * i32::from(this.rate()) / 100;
        this.set_balance(this.balance() + interest);
        Ok(())
    }
}

/// Registers the value factories of all test valuetypes except `Strange`.
pub(crate) fn register(orb: &Orb) {
    assert!(orb.register_value_factory(NamedFactory).is_none());
    orb.register_value_factory(AccountFactory::new(Bank));
    orb.register_value_factory(SavingsFactory::new(Bank));
    orb.register_value_factory(crate::values::generated::values::NodeFactory);
    orb.register_value_factory(crate::values::generated::values::TextFactory);
}

pub(crate) fn register_strange(orb: &Orb) {
    orb.register_value_factory(StrangeFactory);
}

/// Servant that stores one valuetype value.
#[derive(Default)]
pub(crate) struct KeeperImpl {
    kept: Mutex<Option<Node>>,
}

impl KeeperServant for KeeperImpl {
    fn kept(&self) -> Result<Option<Node>, SystemException> {
        Ok(self.kept.lock().unwrap().clone())
    }

    fn set_kept(&self, value: Option<&Node>) -> Result<(), SystemException> {
        *self.kept.lock().unwrap() = value.cloned();
        Ok(())
    }

    fn same(&self, value: Option<&Node>) -> Result<Option<Node>, SystemException> {
        Ok(value.cloned())
    }

    fn cut(&self, value: Option<&Named>) -> Result<Option<Named>, SystemException> {
        Ok(value.cloned())
    }

    fn any_of(&self, value: Option<&ValueRef>) -> Result<Option<ValueRef>, SystemException> {
        Ok(value.cloned())
    }

    fn one(
        &self,
        first: Option<&Node>,
        second: Option<&Node>,
        turned: &mut Option<Node>,
    ) -> Result<(bool, Option<Node>), SystemException> {
        *turned = turned.as_ref().and_then(Node::next);
        Ok((first == second, first.cloned()))
    }

    fn whole(&self, value: &All) -> Result<All, SystemException> {
        Ok(value.clone())
    }

    fn boxed(&self, value: &Any) -> Result<Any, SystemException> {
        Ok(value.clone())
    }

    fn either(
        &self,
        what: Option<&Describable>,
    ) -> Result<(Option<Describable>, String), SystemException> {
        let text = what.map_or(Ok("nothing".to_owned()), Describable::describe)?;
        Ok((what.cloned(), text))
    }

    fn lose(&self, value: Option<&Node>) -> Result<(), KeeperLoseError> {
        let what = value.cloned();
        Err(Lost { what }.into())
    }

    fn change(&self, value: Option<&Node>) -> Result<i32, SystemException> {
        let Some(value) = value else {
            return Ok(0);
        };
        value.set_number(value.number() + 1);
        Ok(value.number())
    }

    fn spend(&self, from: Option<&Account>, amount: i32) -> Result<i32, SystemException> {
        let Some(from) = from else {
            return Ok(0);
        };
        let mut note = "spent".to_owned();
        let left = from.deposit(amount, &mut note);
        left.map_err(|error| match error {
            AccountDepositError::System(exception) => exception,
            AccountDepositError::Refused(_) => SystemException::new(
                punctual::SystemExceptionKind::BadParam,
                1,
                punctual::CompletionStatus::No,
            ),
        })
    }

    fn stamped(&self, value: Option<&Stamp>) -> Result<Option<Stamp>, SystemException> {
        Ok(value.cloned())
    }
}

/// Servant of the interface `Describable`.
pub(crate) struct Spot;

impl DescribableServant for Spot {
    fn describe(&self) -> Result<String, SystemException> {
        Ok("a spot".to_owned())
    }
}

impl DescribedServant for Spot {
    fn text(&self) -> Result<String, SystemException> {
        Ok("text".to_owned())
    }

    fn set_text(&self, _value: &str) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Server, client, and the client's reference to the server's keeper.
pub(crate) struct Pair {
    pub(crate) server: Orb,
    pub(crate) poa: Poa,
    pub(crate) client: Orb,
    pub(crate) keeper: Keeper,
}

/// Makes an ORB with the given collocation strategy, which decides whether its calls within the
/// process go over the wire.
pub(crate) fn orb(collocation: Collocation) -> Orb {
    let listening = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
    let configured = listening.configure(|config| config.collocation = collocation);
    configured.build().unwrap()
}

impl Pair {
    /// Makes a server and a client whose calls go over the wire.
    pub(crate) fn new() -> Self {
        Self::by(Collocation::None)
    }

    /// Makes two pairs of server and client: one whose calls go over the wire, and one whose calls
    /// stay within the process.
    pub(crate) fn both() -> [Self; 2] {
        [Collocation::None, Collocation::ThruPoa].map(Self::by)
    }

    fn by(way: Collocation) -> Self {
        let (server, client) = (orb(way), orb(way));
        register(&server);
        register(&client);
        let poa = server.root_poa().unwrap();
        let keeper: Keeper = poa.activate(KeeperImpl::default()).unwrap();
        poa.manager().activate().unwrap();
        let text = server.object_to_string(&keeper).unwrap();
        let keeper = Keeper::narrow(client.string_to_object(&text).unwrap()).unwrap();
        Self {
            server,
            poa,
            client,
            keeper,
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}
