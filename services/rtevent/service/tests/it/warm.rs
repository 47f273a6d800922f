//! Memory of events that come from other processes: warm ones allocate nothing, and what a consumer keeps stays as it is.

use crate::support::{Served, by_threads, event, eventually, header};
use parking_lot::Mutex;
use punctual_heap::allocations as allocated;
use punctual_rtevent::{Consumer, Filter, Pushed, Subscription};
use punctual_rtevent_service::{Data, Event, EventService, ServiceOptions};
use std::sync::Arc;
use std::thread::ThreadId;

/// Consumer of the channel's process that notes how much its thread has allocated when events come.
#[derive(Default)]
struct Allocations(Mutex<Vec<(ThreadId, u64)>>);

impl Consumer<Data> for Allocations {
    fn push(&self, _: &[Event]) -> Pushed {
        let now = (std::thread::current().id(), allocated());
        self.0.lock().push(now);
        Pushed::Done
    }
}

/// Consumer of the channel's process that keeps events.
#[derive(Default)]
struct Keeps(Mutex<Vec<Event>>);

impl Consumer<Data> for Keeps {
    fn push(&self, events: &[Event]) -> Pushed {
        self.0.lock().extend_from_slice(events);
        Pushed::Done
    }
}

fn connect(service: &EventService, consumer: Arc<dyn Consumer<Data>>) {
    let all = Subscription::new(Filter::event(0, 0));
    service.channel().connect_consumer(all, consumer).unwrap();
}

#[test]
fn a_warm_push_from_a_supplier_to_consumers_in_other_processes_allocates_nothing() {
    const PUSHES: usize = 200;
    let served = Served::new(ServiceOptions::default());
    let remote = [(); 3].map(|()| served.consumer(&[header(0, 0)]));
    let noted = Arc::new(Allocations::default());
    noted.0.lock().reserve(PUSHES);
    connect(&served.service, noted.clone());
    let supplier = served.supplier();
    let events = [event(16, 1, &[7; 64]), event(16, 1, b"")];
    for _ in 0..PUSHES {
        supplier.push(&events).unwrap();
    }
    for consumer in &remote {
        consumer.inbox.pushes(PUSHES);
    }
    let noted = noted.0.lock();
    assert_eq!(noted.len(), PUSHES);
    let warm = noted[PUSHES / 2..].windows(2);
    let of_one_thread: Vec<u64> = warm
        .filter(|pair| pair[0].0 == pair[1].0)
        .map(|pair| pair[1].1 - pair[0].1)
        .collect();
    assert!(!of_one_thread.is_empty());
    assert_eq!(of_one_thread.iter().sum::<u64>(), 0, "{of_one_thread:?}");
}

#[test]
fn events_that_a_consumer_keeps_do_not_change_with_later_pushes() {
    for options in [ServiceOptions::default(), by_threads()] {
        let served = Served::new(options);
        let keeps = Arc::new(Keeps::default());
        connect(&served.service, keeps.clone());
        let supplier = served.supplier();
        // Payloads of all lengths, and values between them.
        let sent: Vec<_> = (0..100_i32)
            .map(|number| {
                let payload = vec![number as u8; (100 - number) as usize % 37];
                let mut event = event(16, number, &payload);
                event.data.pad1 = number;
                if number % 3 == 0 {
                    event.data.any_value = punctual::Any::new(&number).unwrap();
                }
                event
            })
            .collect();
        for events in sent.chunks(3) {
            supplier.push(events).unwrap();
        }
        eventually("all events come", || keeps.0.lock().len() == sent.len());
        for (kept, sent) in keeps.0.lock().iter().zip(&sent) {
            assert_eq!(kept.header.source, sent.header.source);
            assert_eq!(kept.data.contents(), &sent.data);
        }
    }
}
