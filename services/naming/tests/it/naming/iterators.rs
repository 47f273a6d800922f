//! `list` and `BindingIterator`: the bindings returned, the life of iterators, their number.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::{Served, name, object};
use punctual::{Interface, SystemException, SystemExceptionKind as Kind};
use punctual_naming::cos_naming::{Binding, BindingType, NamingContext};
use punctual_naming::{Limits, NamingService};

fn kind<T: std::fmt::Debug>(result: Result<T, SystemException>) -> Kind {
    result.unwrap_err().kind()
}

fn texts(bindings: &[Binding]) -> Vec<String> {
    let text = |binding: &Binding| {
        let [component] = binding.binding_name.as_slice() else {
            panic!("{binding:?} has not one component");
        };
        format!("{}.{}", component.id, component.kind)
    };
    bindings.iter().map(text).collect()
}

/// Binds the names `0` to `number - 1` to objects, except for the first, which is bound to a
/// context.
fn filled(limits: Limits, number: usize) -> Served {
    let service = NamingService::in_memory().unwrap();
    service.set_limits(limits);
    let served = Served::new(&service);
    served.root.bind_new_context(&name("0.k")).unwrap();
    for at in 1..number {
        let object = object(&served.orb, at);
        served
            .root
            .bind(&name(&at.to_string()), Some(&object))
            .unwrap();
    }
    served
}

#[test]
fn a_list_has_what_is_asked_for_and_an_iterator_over_the_others() {
    let served = filled(Limits::default(), 5);
    let (all, iterator) = served.root.list(5).unwrap();
    assert_eq!(texts(&all), ["0.k", "1.", "2.", "3.", "4."]);
    assert_eq!(iterator, None);
    assert_eq!(all[0].binding_type, BindingType::Ncontext);
    assert_eq!(all[1].binding_type, BindingType::Nobject);
    let (some, iterator) = served.root.list(2).unwrap();
    assert_eq!(texts(&some), ["0.k", "1."]);
    let iterator = iterator.unwrap();
    let (has_one, one) = iterator.next_one().unwrap();
    assert!(has_one);
    assert_eq!(texts(&[one]), ["2."]);
    let (has_some, some) = iterator.next_n(7).unwrap();
    assert!(has_some);
    assert_eq!(texts(&some), ["3.", "4."]);
    assert_eq!(iterator.next_n(7).unwrap(), (false, vec![]));
    assert!(!iterator.next_one().unwrap().0);
    assert_eq!(kind(iterator.next_n(0)), Kind::BadParam);
    iterator.destroy().unwrap();
    assert_eq!(kind(iterator.next_one()), Kind::ObjectNotExist);
    assert_eq!(kind(iterator.destroy()), Kind::ObjectNotExist);
    assert!(iterator.as_object().non_existent().unwrap());
    let (none, iterator) = served.root.list(0).unwrap();
    assert_eq!(
        (none.len(), iterator.unwrap().next_n(9).unwrap().1.len()),
        (0, 5)
    );
    let empty = Served::in_memory();
    assert_eq!(empty.root.list(0).unwrap(), (vec![], None));
}

#[test]
fn who_asks_for_all_at_once_gets_a_replys_worth_and_an_iterator() {
    let limits = Limits {
        listed: 10,
        ..Limits::default()
    };
    let served = filled(limits, 35);
    let (mut all, iterator) = served.root.list(u32::MAX).unwrap();
    assert_eq!(all.len(), 10);
    let iterator = iterator.unwrap();
    while let (true, mut some) = iterator.next_n(u32::MAX).unwrap() {
        assert!(some.len() <= 10);
        all.append(&mut some);
    }
    let names: BTreeSet<String> = texts(&all).into_iter().collect();
    assert_eq!((all.len(), names.len()), (35, 35));
}

#[test]
fn what_is_bound_throughout_is_told_once_whatever_happens_meanwhile() {
    let served = filled(Limits::default(), 20);
    let (first, iterator) = served.root.list(5).unwrap();
    let iterator = iterator.unwrap();
    for (at, told) in texts(&first).iter().enumerate() {
        // Bindings already returned are unbound, and more are bound before and after.
        served
            .root
            .unbind(&name(told.trim_end_matches('.')))
            .unwrap();
        let object = object(&served.orb, at);
        served
            .root
            .bind(&name(&format!("/{at}").replace('/', "-")), Some(&object))
            .unwrap();
        served
            .root
            .bind(&name(&format!("z{at}")), Some(&object))
            .unwrap();
    }
    let rest = texts(&iterator.next_n(100).unwrap().1);
    let rest: Vec<&str> = rest.iter().map(|text| text.trim_end_matches('.')).collect();
    let told: BTreeSet<&str> = rest.iter().copied().collect();
    assert_eq!(told.len(), rest.len());
    let throughout: Vec<String> = (1..20).map(|at| at.to_string()).collect();
    let first = texts(&first);
    for at in throughout {
        let in_first = first.contains(&format!("{at}."));
        assert!(in_first != told.contains(at.as_str()), "{at}");
    }
    assert!(told.contains("z0"));
}

#[test]
fn an_iterator_over_a_destroyed_context_comes_to_an_end() {
    let served = filled(Limits::default(), 1);
    let context = served.root.resolve(&name("0.k")).unwrap().unwrap();
    let context = NamingContext::narrow(context).unwrap();
    for at in ["a", "b"] {
        context
            .bind(&name(at), Some(&object(&served.orb, 1)))
            .unwrap();
    }
    let iterator = context.list(1).unwrap().1.unwrap();
    context.unbind(&name("a")).unwrap();
    context.unbind(&name("b")).unwrap();
    context.destroy().unwrap();
    assert_eq!(iterator.next_n(5).unwrap(), (false, vec![]));
}

#[test]
fn one_iterator_too_many_ends_the_one_that_was_not_used_for_longest() {
    let limits = Limits {
        iterators: 3,
        ..Limits::default()
    };
    let served = filled(limits, 10);
    let make = || served.root.list(1).unwrap().1.unwrap();
    let (first, second, third) = (make(), make(), make());
    first.next_one().unwrap();
    let fourth = make();
    assert_eq!(kind(second.next_one()), Kind::ObjectNotExist);
    for one in [first, third, fourth] {
        assert!(one.next_one().unwrap().0);
    }
    // Clients that never destroy theirs leave no more than the maximum.
    for _ in 0..100 {
        make();
    }
}

#[test]
fn an_iterator_that_nobody_uses_ends() {
    let limits = Limits {
        iterator_idle: Duration::ZERO,
        ..Limits::default()
    };
    let served = filled(Limits::default(), 10);
    let iterator = served.root.list(1).unwrap().1.unwrap();
    assert!(iterator.next_one().unwrap().0);
    served.service.set_limits(limits);
    assert_eq!(kind(iterator.next_one()), Kind::ObjectNotExist);
    served.service.set_limits(Limits::default());
    assert_eq!(kind(iterator.next_one()), Kind::ObjectNotExist);
}
