//! Events from every kind of supplier to every kind of consumer.

use punctual::Any;
use punctual_cosevent::cos_event_comm::PushConsumer;

use crate::support::{Program, Served, event, number, until};

#[test]
fn events_that_are_pushed_reach_consumers_of_both_kinds_in_their_order() {
    let (served, program) = (Served::new(), Program::new());
    let (_, sink) = program.sink(&served.channel);
    let pulls = program.pulls_from(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    for number in 0..20 {
        pushes.push(&event(number)).unwrap();
    }
    let all: Vec<i32> = (0..20).collect();
    assert_eq!(sink.wait_for(20), all);
    let pulled: Vec<i32> = (0..20).map(|_| number(&pulls.pull().unwrap())).collect();
    assert_eq!(pulled, all);
    assert!(!pulls.try_pull().unwrap().1);
    assert_eq!(served.metric("received_total"), 20);
    // Counted once the reply has come, or has been sent.
    until(|| served.metric("pushed_total") == 20);
    until(|| served.metric("pulled_total") == 20);
    assert_eq!(served.metric("discarded_total"), 0);
}

#[test]
fn events_that_are_pulled_from_a_supplier_reach_consumers_of_both_kinds() {
    let (served, program) = (Served::new(), Program::new());
    let (_, sink) = program.sink(&served.channel);
    let pulls = program.pulls_from(&served.channel);
    let (_, source) = program.source(&served.channel);
    for number in 0..20 {
        source.supply(event(number));
    }
    let all: Vec<i32> = (0..20).collect();
    assert_eq!(sink.wait_for(20), all);
    let pulled: Vec<i32> = (0..20).map(|_| number(&pulls.pull().unwrap())).collect();
    assert_eq!(pulled, all);
}

#[test]
fn events_of_any_type_arrive_as_they_were_sent() {
    let (served, program) = (Served::new(), Program::new());
    let (_, sink) = program.sink(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    let object: PushConsumer = program.object(sink.clone());
    let sent = [
        Any::new("a text").unwrap(),
        Any::new(&vec![1.5_f64, 2.5]).unwrap(),
        Any::new(&event(7)).unwrap(),
        Any::new(&Some(object)).unwrap(),
        Any::default(),
    ];
    for any in &sent {
        pushes.push(any).unwrap();
    }
    sink_holds(&sink, &sent);
}

fn sink_holds(sink: &crate::peers::Sink, sent: &[Any]) {
    until(|| sink.received().len() == sent.len());
    for (received, sent) in sink.received().iter().zip(sent) {
        assert_eq!(received.type_code(), sent.type_code());
        assert_eq!(received.to_string(), sent.to_string());
    }
}

#[test]
fn each_consumer_receives_what_is_sent_after_it_has_connected() {
    let (served, program) = (Served::new(), Program::new());
    let pushes = program.pushes_to(&served.channel);
    pushes.push(&event(1)).unwrap();
    let first = program.pulls_from(&served.channel);
    pushes.push(&event(2)).unwrap();
    let second = program.pulls_from(&served.channel);
    pushes.push(&event(3)).unwrap();
    assert_eq!(number(&first.pull().unwrap()), 2);
    assert_eq!(number(&first.pull().unwrap()), 3);
    assert_eq!(number(&second.pull().unwrap()), 3);
}

#[test]
fn channels_are_apart() {
    let (served, program) = (Served::new(), Program::new());
    let other = program
        .see(&served.factory)
        .create_channel("other")
        .unwrap();
    let other =
        punctual::Interface::from_object(punctual::Interface::as_object(&other.unwrap()).clone());
    let (here, there) = (
        program.pulls_from(&served.channel),
        program.pulls_from(&other),
    );
    program.pushes_to(&other).push(&event(1)).unwrap();
    assert!(!here.try_pull().unwrap().1);
    assert_eq!(number(&there.pull().unwrap()), 1);
}

#[test]
fn a_channel_can_feed_another() {
    let (served, program) = (Served::new(), Program::new());
    let second = Served::new();
    // The proxy of one channel is the consumer of the other.
    let entrance = program.pushes_to(&second.channel);
    let exit = crate::support::push_supplier(&program.see(&served.channel));
    let consumer =
        punctual::Interface::from_object(punctual::Interface::as_object(&entrance).clone());
    exit.connect_push_consumer(Some(&consumer)).unwrap();
    let pulls = program.pulls_from(&second.channel);
    program.pushes_to(&served.channel).push(&event(5)).unwrap();
    assert_eq!(number(&pulls.pull().unwrap()), 5);
}
