//! Tests of what stays of a foreign filter.

use std::io::Read;
use std::net::TcpListener;
use std::sync::{Arc, Weak};

use punctual::{Any, Interface, Orb};

use super::{Foreign, Question, Questions, Target};
use crate::cos_notify_filter::Filter;
use crate::event::Event;
use crate::filter::registry::tests::common;
use crate::limits::Limits;

/// Asks a filter about an event; the question waits for itself, as that of a supplier that has left does.
fn ask(filter: &Arc<Foreign>) -> Weak<Question> {
    let event = Arc::new(Event::of_any(&Any::new(&1).unwrap()));
    let question = Questions::default().of(filter, &event);
    let own = question.clone();
    assert!(!question.ask(Box::new(move || drop(own))));
    Arc::downgrade(&question)
}

#[test]
fn at_the_end_nothing_stays_of_a_filter_that_has_not_answered() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let orb = Orb::builder().build().unwrap();
    let limits = Limits {
        foreign_filters: true,
        filter_timeout: std::time::Duration::from_secs(60),
        ..Limits::default()
    };
    let common = common(&orb, limits, None);
    let object = orb.string_to_object(&format!("corbaloc:iiop:127.0.0.1:{port}/filter"));
    let target = Target::Filter(Filter::from_object(object.unwrap()));
    let filter = Foreign::attach(&common, target).unwrap();
    let questions = [(); 3].map(|()| ask(&filter));
    let (mut connection, _) = silent.accept().unwrap();
    connection.read_exact(&mut [0]).unwrap();
    common.begin_ending();
    orb.shutdown(true).unwrap();
    common.stop();
    // The thread that reads replies may be about to drop the last ones.
    while questions.iter().any(|one| one.upgrade().is_some()) || Arc::strong_count(&filter) > 1 {
        std::thread::yield_now();
    }
}
