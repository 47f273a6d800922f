//! Tests of graphs: shared values stay shared, cycles stay cycles, and all of it is freed.

use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

use punctual_cdr::{ByteOrder, Decoder, Nilable, ValueRef, ValueType};

use super::node::{Far, FarState, Node, NodeState};
use super::{coding, passed, written};

fn next(node: &Node) -> Option<Node> {
    node.0.read(|state: &NodeState| state.next.clone())
}

fn number(node: &Node) -> i32 {
    node.0.read(|state: &NodeState| state.number)
}

fn list(length: i32) -> Node {
    let mut node = Node::new(NodeState::default());
    for number in 1..length {
        node = Node::new(NodeState {
            number,
            next: Some(node),
            ..NodeState::default()
        });
    }
    node
}

fn ring(length: i32) -> Node {
    let first = Node::new(NodeState::default());
    let mut last = first.clone();
    for number in 1..length {
        let state = NodeState {
            number,
            ..NodeState::default()
        };
        let node = Node::beside(&first.0, state);
        last.0
            .replace(Some(node.clone()), |state: &mut NodeState| &mut state.next);
        last = node;
    }
    last.0
        .replace(Some(first.clone()), |state: &mut NodeState| &mut state.next);
    first
}

#[test]
fn a_value_that_two_hold_is_one_value_again() {
    let shared = Node::new(NodeState {
        number: 7,
        ..NodeState::default()
    });
    let holder = Node::new(NodeState {
        next: Some(shared.clone()),
        more: vec![Some(shared.clone()), None, Some(shared)],
        ..NodeState::default()
    });
    let read = passed(&holder);
    let one = next(&read).unwrap();
    let more = read.0.read(|state: &NodeState| state.more.clone());
    assert_eq!(more, [Some(one.clone()), None, Some(one.clone())]);
    assert_eq!(number(&one), 7);
}

#[test]
fn arguments_of_one_message_share_values() {
    let shared = list(1);
    let octets = written(|out| {
        Node::marshal_nilable(Some(&shared), out)?;
        Node::marshal_nilable(Some(&shared), out)
    });
    let mut input = Decoder::new(&octets, ByteOrder::Big, coding());
    let first = Node::unmarshal_nilable(&mut input).unwrap();
    let second = Node::unmarshal_nilable(&mut input).unwrap();
    assert_eq!(first, second);
    assert!(first.is_some());
}

#[test]
fn a_cycle_is_a_cycle_again() {
    let read = passed(&ring(3));
    let around = next(&next(&next(&read).unwrap()).unwrap()).unwrap();
    assert_eq!(around, read);
    assert_eq!(number(&next(&read).unwrap()), 1);
}

#[test]
fn a_handle_to_any_value_keeps_all_of_a_received_graph() {
    let second = next(&passed(&ring(2))).unwrap();
    let first = next(&second).unwrap();
    assert_eq!((number(&first), number(&second)), (0, 1));
}

#[test]
fn a_list_of_a_hundred_thousand_values_is_written_read_and_dropped() {
    let read = passed(&list(100_000));
    let mut count = 1;
    let mut node = read.clone();
    while let Some(after) = next(&node) {
        node = after;
        count += 1;
    }
    assert_eq!(count, 100_000);
}

#[test]
fn a_chunked_list_of_a_hundred_thousand_values_is_written_and_read() {
    let mut last = None;
    for _ in 0..100_000 {
        let base = NodeState {
            next: last.map(|far: Far| Node(far.0)),
            ..NodeState::default()
        };
        last = Some(Far::new(FarState {
            base,
            ..FarState::default()
        }));
    }
    let read = passed(&last.unwrap());
    assert!(next(&Node(read.0)).is_some());
}

#[test]
fn a_value_is_held_as_what_it_is_and_as_its_bases() {
    let far = Far::new(FarState {
        base: NodeState {
            number: 5,
            ..NodeState::default()
        },
        ..FarState::default()
    });
    let node: Node = far.0.downcast().unwrap();
    assert_eq!(number(&node), 5);
    assert_eq!(node.0.downcast::<Far>().unwrap(), far);
    assert!(list(1).0.downcast::<Far>().is_none());
    assert!(ValueRef::downcast::<ValueRef>(&far.0).is_some());
    assert_eq!(far.0.repository_id(), Far::REPOSITORY_ID);
}

#[test]
fn a_member_is_changed_for_all_who_hold_the_value() {
    let node = list(2);
    let same = node.clone();
    node.0.set(9, |state: &mut NodeState| &mut state.number);
    node.0
        .replace(None, |state: &mut NodeState| &mut state.next);
    assert_eq!((number(&same), next(&same)), (9, None));
}

/// Part of a value's state that counts the live instances.
struct Counted(Arc<AtomicIsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

mod counted {
    use super::*;
    use punctual_cdr::{
        CdrError, Decoder, Encoder, Formal, FormalValue, Graph, HoldsValues, ReadStep,
        ValueFactory, ValueState, WriteStep,
    };
    use std::any::{Any, TypeId};

    /// State of a value that leads to another one.
    pub(super) struct State {
        pub(super) next: Option<ValueRef>,
        pub(super) _counted: Counted,
    }

    pub(super) struct Factory(pub(super) Arc<AtomicIsize>);

    impl ValueFactory for Factory {
        fn repository_id(&self) -> &str {
            "IDL:Counted:1.0"
        }
        fn kinds(&self) -> &[TypeId] {
            &[]
        }
        fn create(&self) -> Box<dyn ValueState> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Box::new(State {
                next: None,
                _counted: Counted(Arc::clone(&self.0)),
            })
        }
    }

    impl ValueState for State {
        fn write_step(&self, step: usize, _out: &mut Encoder<'_>) -> Result<WriteStep, CdrError> {
            Ok(match step {
                0 => WriteStep::Value(self.next.clone()),
                _ => WriteStep::End,
            })
        }
        fn read_step(
            &mut self,
            step: usize,
            _input: &mut Decoder<'_>,
        ) -> Result<ReadStep, CdrError> {
            Ok(match step {
                0 => ReadStep::Value,
                _ => ReadStep::End,
            })
        }
        fn formal(&self, _step: usize) -> &dyn FormalValue {
            const { &Formal::<ValueRef>::new() }
        }
        fn link(&mut self, _step: usize, value: Option<ValueRef>) {
            self.next = value;
        }
        fn adopt(&mut self, graph: &Graph) {
            self.next.adopt(graph);
        }
        fn part(&self, _wanted: TypeId) -> Option<&dyn Any> {
            Some(self)
        }
        fn part_mut(&mut self, _wanted: TypeId) -> Option<&mut dyn Any> {
            Some(self)
        }
    }

    /// Environment that returns the test's value factory for each repository id.
    pub(super) struct Knows(pub(super) Arc<AtomicIsize>);

    impl punctual_cdr::Environment for Knows {
        fn share(&self) -> Arc<dyn punctual_cdr::Environment> {
            Arc::new(Knows(Arc::clone(&self.0)))
        }
        fn value_factory(&self, _id: &str) -> Option<Arc<dyn ValueFactory>> {
            Some(Arc::new(Factory(Arc::clone(&self.0))))
        }
    }
}

#[test]
fn nothing_is_left_of_a_hundred_thousand_cyclic_graphs() {
    use punctual_cdr::{Coding, ValueFactory};
    let living = Arc::new(AtomicIsize::new(0));
    let factory: Arc<dyn ValueFactory> = Arc::new(counted::Factory(Arc::clone(&living)));
    let first = ValueRef::new(Arc::clone(&factory), factory.create());
    let second = first.beside(Arc::clone(&factory), factory.create());
    let link = |from: &ValueRef, to: &ValueRef| {
        from.replace(Some(to.clone()), |state: &mut counted::State| {
            &mut state.next
        });
    };
    link(&first, &second);
    link(&second, &first);
    let octets = written(|out| out.put_value(Some(&first)));
    drop(second);
    assert_eq!(living.load(Ordering::Relaxed), 2);
    drop(first);
    assert_eq!(living.load(Ordering::Relaxed), 0);

    let environment = counted::Knows(Arc::clone(&living));
    let coding = Coding {
        environment: Some(&environment),
        ..Coding::default()
    };
    for _ in 0..100_000 {
        let mut input = Decoder::new(&octets, ByteOrder::Big, coding);
        let read = ValueRef::unmarshal_nilable(&mut input).unwrap().unwrap();
        drop(input);
        assert_eq!(living.load(Ordering::Relaxed), 2);
        drop(read);
        assert_eq!(living.load(Ordering::Relaxed), 0);
    }
}
