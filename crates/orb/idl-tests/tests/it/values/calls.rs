//! Valuetypes as `in`, `inout` and `out` parameters and as results.

use std::time::Duration;

use punctual::any::TypeKind;
use punctual::{Any, Interface, SystemExceptionKind as Kind, Typed, ValueRef, ValueType};

use crate::support::watchdog;
use crate::values::generated::values::{
    Account, AccountFactory, All, Choice, Describable, Described, Greeter, KeeperLoseError, Named,
    NamedState, Node, NodeState, Pair as NodePair, Pairs, Stamp, StampState, Strange, StrangeState,
    Text,
};
use crate::values::keeper::{Bank, Pair, Spot, register_strange};

fn node(number: i32, next: Option<Node>) -> Node {
    Node::new(NodeState {
        number,
        next,
        more: Vec::new(),
    })
}

fn ring() -> Node {
    let first = node(1, None);
    let second = Node::new_beside(
        &first,
        NodeState {
            number: 2,
            next: Some(first.clone()),
            more: vec![Some(first.clone()), None],
        },
    );
    first.set_next(Some(second));
    first
}

#[test]
fn null_goes_there_and_back() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    assert_eq!(pair.keeper.same(None).unwrap(), None);
    assert_eq!(pair.keeper.kept().unwrap(), None);
}

#[test]
fn a_ring_comes_back_as_a_ring_of_other_values() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for pair in Pair::both() {
        let sent = ring();
        let back = pair.keeper.same(Some(&sent)).unwrap().unwrap();
        assert_ne!(back, sent);
        let second = back.next().unwrap();
        assert_eq!((back.number(), second.number()), (1, 2));
        assert_eq!(second.next(), Some(back.clone()));
        assert_eq!(second.more(), [Some(back), None]);
    }
}

#[test]
fn what_arguments_share_is_shared_at_the_servant_and_in_the_results() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for pair in Pair::both() {
        let shared = ring();
        let mut turned = Some(shared.clone());
        let (is_one, both) = pair
            .keeper
            .one(Some(&shared), Some(&shared), &mut turned)
            .unwrap();
        assert!(is_one);
        assert_eq!(turned, both.unwrap().next());
        let (is_one, _) = pair
            .keeper
            .one(Some(&shared), Some(&node(1, None)), &mut turned)
            .unwrap();
        assert!(!is_one);
    }
}

#[test]
fn a_servant_changes_its_own_copy() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for pair in Pair::both() {
        let sent = node(5, None);
        assert_eq!(pair.keeper.change(Some(&sent)).unwrap(), 6);
        assert_eq!(sent.number(), 5);
        pair.keeper.set_kept(Some(&sent)).unwrap();
        sent.set_number(9);
        let kept = pair.keeper.kept().unwrap().unwrap();
        assert_eq!(kept.number(), 5);
        kept.set_number(7);
        assert_eq!(pair.keeper.kept().unwrap().unwrap().number(), 5);
    }
}

#[test]
fn a_derived_value_stays_what_it_is() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    let named = Named::new(NamedState {
        base: NodeState {
            number: 3,
            ..NodeState::default()
        },
        name: "three".to_owned(),
        hidden: Some(node(4, None)),
    });
    let as_node = Node::from(named);
    let back = pair.keeper.same(Some(&as_node)).unwrap().unwrap();
    let back: Named = back.as_value().downcast().unwrap();
    assert_eq!((back.number(), back.name().as_str()), (3, "three"));
    assert_eq!(back.hidden().unwrap().number(), 4);
}

fn strange() -> Strange {
    Strange::new(StrangeState {
        base: NamedState {
            base: NodeState {
                number: 8,
                more: vec![Some(node(9, None))],
                ..NodeState::default()
            },
            name: "eight".to_owned(),
            hidden: None,
        },
        factor: 0.5,
        last: Some(ring()),
    })
}

#[test]
fn a_value_that_the_receiver_does_not_know_is_cut_to_a_base_that_it_does() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    let sent = Named::from(strange());
    let back = pair.keeper.cut(Some(&sent)).unwrap().unwrap();
    assert!(back.as_value().downcast::<Strange>().is_none());
    assert_eq!((back.number(), back.name().as_str()), (8, "eight"));
    assert_eq!(back.more()[0].as_ref().unwrap().number(), 9);

    register_strange(&pair.server);
    register_strange(&pair.client);
    let back = pair.keeper.cut(Some(&sent)).unwrap().unwrap();
    let back: Strange = back.as_value().downcast().unwrap();
    assert!((back.factor() - 0.5).abs() < f64::EPSILON);
    assert_eq!(back.last().unwrap().next().unwrap().number(), 2);
}

#[test]
fn without_a_factory_a_value_of_a_derived_type_raises_marshal() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    assert!(
        pair.server
            .unregister_value_factory(Account::REPOSITORY_ID)
            .is_some()
    );
    let account = AccountFactory::new(Bank).open("Ada", 700).unwrap();
    let error = pair.keeper.any_of(Some(account.as_value())).unwrap_err();
    assert_eq!(error.kind(), Kind::Marshal);
    assert_eq!(error.minor(), punctual::minor::omg(1));
    assert!(
        pair.server
            .lookup_value_factory(Account::REPOSITORY_ID)
            .is_none()
    );
}

#[test]
fn operations_of_a_value_are_done_where_it_is() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    let account = AccountFactory::new(Bank).open("Ada", 700).unwrap();
    assert_eq!(pair.keeper.spend(Some(&account), 50).unwrap(), 750);
    assert_eq!(account.total().unwrap(), 700);
}

#[test]
fn every_place_that_holds_values_passes_them() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for pair in Pair::both() {
        let shared = ring();
        let account = AccountFactory::new(Bank).open("Bob", 1).unwrap();
        let pairs = vec![NodePair {
            first: 1,
            second: Some(shared.clone()),
        }];
        let sent = All {
            first_node: Some(shared.clone()),
            words: Some(Text::new("boxed".to_owned())),
            chosen: Choice::Several(Some(Pairs::new(pairs))),
            accounts: vec![Some(account.clone()), Some(account), None],
            anything: Some(shared.into()),
            either: None,
            stamped: Some(stamp(None)),
        };
        let back = pair.keeper.whole(&sent).unwrap();
        let shared = back.first_node.clone().unwrap();
        assert_eq!(back.words.unwrap().value(), "boxed");
        let Choice::Several(Some(pairs)) = back.chosen else {
            panic!("another choice");
        };
        assert_eq!(pairs.value()[0].second.as_ref(), Some(&shared));
        assert_eq!(back.accounts[0], back.accounts[1]);
        assert_eq!(back.accounts[0].as_ref().unwrap().owner(), "Bob");
        assert_eq!(back.anything.as_ref(), Some(shared.as_value()));
        assert_eq!(back.stamped.unwrap().at(), 77);
    }
}

fn stamp(about: Option<Node>) -> Stamp {
    Stamp::new(StampState {
        at: 77,
        by: "clock".to_owned(),
        about,
    })
}

#[test]
fn a_custom_value_is_marshaled_by_its_own_code() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    let about = ring();
    let back = pair
        .keeper
        .stamped(Some(&stamp(Some(about))))
        .unwrap()
        .unwrap();
    assert_eq!((back.at(), back.by().as_str()), (77, "clock"));
    assert_eq!(back.about().unwrap().next().unwrap().number(), 2);
}

#[test]
fn an_exception_brings_a_value() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    let KeeperLoseError::Lost(lost) = pair.keeper.lose(Some(&ring())).unwrap_err() else {
        panic!("another exception");
    };
    let lost = lost.what.unwrap();
    assert_eq!(lost.next().unwrap().next(), Some(lost));
}

#[test]
fn an_abstract_interface_is_an_object_or_a_value() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for pair in Pair::both() {
        let (none, text) = pair.keeper.either(None).unwrap();
        assert_eq!((none, text.as_str()), (None, "nothing"));

        let account = AccountFactory::new(Bank).open("Eve", 5).unwrap();
        let (back, text) = pair.keeper.either(Some(&account.into())).unwrap();
        assert_eq!(text, "Eve has 5");
        assert!(matches!(back, Some(Describable::Value(_))));
        assert_eq!(back.unwrap().describe().unwrap(), "Eve has 5");

        let spot: Described = pair.poa.activate(Spot).unwrap();
        let (back, text) = pair.keeper.either(Some(&spot.into())).unwrap();
        assert_eq!(text, "a spot");
        let Some(Describable::Object(object)) = &back else {
            panic!("an object came back as a value");
        };
        assert_eq!(object.describe().unwrap(), "a spot");
        let described = Described::narrow(object.as_object().clone()).unwrap();
        assert_eq!(described.text().unwrap(), "text");
    }
}

#[test]
fn a_value_that_supports_an_interface_is_a_servant_of_it() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    let account = AccountFactory::new(Bank).open("Ada", 0).unwrap();
    let greeter: Greeter = pair.poa.activate(account.clone()).unwrap();
    let text = pair.server.object_to_string(&greeter).unwrap();
    let greeter = Greeter::narrow(pair.client.string_to_object(&text).unwrap()).unwrap();
    assert_eq!(greeter.greet("Bob").unwrap(), "Ada greets Bob");
    account.set_owner("Eve");
    assert_eq!(greeter.greet("Bob").unwrap(), "Eve greets Bob");
}

#[test]
fn an_any_holds_values() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let pair = Pair::new();
    let any = Any::new(&Some(ring())).unwrap();
    assert_eq!(any.type_code().kind(), TypeKind::Value);
    assert_eq!(any.type_code(), &Node::type_code());
    assert!(format!("{any:?}").contains("number: Long("), "{any:?}");
    let back = pair.keeper.boxed(&any).unwrap();
    let ring: Option<Node> = back.extract().unwrap();
    let ring = ring.unwrap();
    assert_eq!(ring.next().unwrap().next(), Some(ring));

    let any = Any::new(&Some(Text::new("in a box, in an any".to_owned()))).unwrap();
    let back: Option<Text> = pair.keeper.boxed(&any).unwrap().extract().unwrap();
    assert_eq!(back.unwrap().value(), "in a box, in an any");
}

#[test]
fn a_long_list_goes_there_and_back() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::new();
    let mut list = None;
    for number in 0..100_000 {
        list = Some(node(number, list));
    }
    let mut back = pair.keeper.same(list.as_ref()).unwrap();
    let mut count = 0;
    while let Some(node) = back {
        count += 1;
        back = node.next();
    }
    assert_eq!(count, 100_000);
    let _: Option<ValueRef> = list.map(ValueRef::from);
}
