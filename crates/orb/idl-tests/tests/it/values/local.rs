//! Valuetypes within one process: created, copied, and their operations called.

use punctual::policy::Collocation;
use punctual::value::ValueFactory;
use punctual::{SystemExceptionKind as Kind, ValueRef, ValueType};

use crate::values::generated::values::{
    Account, AccountDepositError, AccountFactory, AccountOpenError, AccountState, Counts, Node,
    NodeState, Savings, SavingsFactory, SavingsState,
};
use crate::values::keeper::{Bank, orb, register};

#[test]
fn an_initializer_makes_a_value_or_raises() {
    let accounts = AccountFactory::new(Bank);
    let account = accounts.open("Ada", 100).unwrap();
    assert_eq!((account.balance(), account.owner().as_str()), (100, "Ada"));
    let refused = accounts.open("Bob", -1).unwrap_err();
    assert!(matches!(&refused, AccountOpenError::Refused(e) if e.why == "Bob owes"));
    assert_eq!(accounts.empty().unwrap().owner(), "");
    let error = AccountFactory::default().empty().unwrap_err();
    assert_eq!(error.kind(), Kind::NoImplement);
}

#[test]
fn an_operation_changes_the_value_or_raises() {
    let account = AccountFactory::new(Bank).open("Ada", 100).unwrap();
    let mut note = "salary".to_owned();
    assert_eq!(account.deposit(50, &mut note).unwrap(), 150);
    assert_eq!(note, "salary, done");
    let error = account.deposit(-1, &mut note).unwrap_err();
    assert!(matches!(&error, AccountDepositError::Refused(e) if e.why == "salary, done"));
    assert_eq!(account.total().unwrap(), 150);
    assert_eq!(account.greet("Bob").unwrap(), "Ada greets Bob");
}

#[test]
fn operations_of_bases_reach_what_implements_the_derived_type() {
    let savings = SavingsFactory::new(Bank).create(SavingsState {
        base: AccountState {
            balance: 1000,
            owner: "Eve".to_owned(),
        },
        rate: 5,
    });
    savings.accrue().unwrap();
    let account = Account::from(savings.clone());
    assert_eq!(account.total().unwrap(), 1050);
    let counts = Counts::from(account);
    assert_eq!(counts.count().unwrap(), 10);
    let again: Savings = counts.as_value().downcast().unwrap();
    assert_eq!(again, savings);
    assert_eq!(again.state().base.owner, "Eve");
}

#[test]
fn a_value_without_operations_has_its_state_and_says_so() {
    let account = AccountFactory::default().create(AccountState::default());
    account.set_owner("nobody");
    assert_eq!(account.owner(), "nobody");
    let error = account.total().unwrap_err();
    assert_eq!(error.kind(), Kind::NoImplement);
}

#[test]
fn a_copy_is_another_value_with_all_that_it_leads_to() {
    let orb = orb(Collocation::None);
    register(&orb);
    let first = Node::new(NodeState::default());
    let second = Node::new_beside(&first, NodeState::default());
    first.set_next(Some(second.clone()));
    second.set_next(Some(first.clone()));
    let copy = orb.copy_value(&first).unwrap();
    assert_ne!(copy, first);
    assert_eq!(copy.next().unwrap().next(), Some(copy.clone()));
    copy.set_number(3);
    assert_eq!(first.number(), 0);
    orb.shutdown(true).unwrap();
}

#[test]
fn all_of_a_state_is_seen_at_once() {
    let node = Node::new(NodeState {
        number: 4,
        ..NodeState::default()
    });
    node.set_next(Some(node.clone()));
    let state = node.state();
    assert_eq!((state.number, state.next), (4, Some(node)));
}

#[test]
fn a_ring_that_was_made_here_is_freed_with_its_last_handle() {
    let first = Node::new(NodeState::default());
    let weak = {
        let second = Node::new_beside(&first, NodeState::default());
        second.set_next(Some(first.clone()));
        first.set_next(Some(second.clone()));
        second
    };
    drop(first);
    // The second holds the first.
    assert_eq!(weak.next().unwrap().next(), Some(weak.clone()));
}

#[test]
fn a_factory_tells_of_its_type() {
    let factory = SavingsFactory::default();
    assert_eq!(factory.repository_id(), Savings::REPOSITORY_ID);
    assert_eq!(factory.truncatable_to(0), None);
    assert_eq!(format!("{factory:?}"), "SavingsFactory");
    let made = ValueRef::new(
        std::sync::Arc::new(factory.clone()),
        ValueFactory::create(&factory),
    );
    assert!(made.downcast::<Counts>().is_some());
}
