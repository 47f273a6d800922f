//! Page of an event channel.

use crate::console::support::asked;
use punctual_console::{Console, ConsoleOptions, Events};
use punctual_rtevent::{Consumer, Filter, Header, Publications, Pushed, Subscription, Supplier};
use punctual_rtevent_service::{Data, Event, EventService, ServiceOptions};
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Silent;

impl Supplier for Silent {}

struct Ignores;

impl Consumer<Data> for Ignores {
    fn push(&self, _: &[Event]) -> Pushed {
        Pushed::Done
    }
}

fn page_of(console: &Console) -> String {
    asked(console, "/events", &console.address().to_string())
}

/// Asks for the page until it has a text.
fn page_with(console: &Console, text: &str) -> String {
    let since = Instant::now();
    loop {
        let page = page_of(console);
        if page.contains(text) {
            return page;
        }
        assert!(
            since.elapsed() < Duration::from_secs(60),
            "no {text}: {page}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn types_rates_and_queues_of_a_channel_are_shown() {
    let service = EventService::new(ServiceOptions::default()).unwrap();
    let options = ConsoleOptions {
        address: "127.0.0.1:0".to_owned(),
        ..ConsoleOptions::default()
    };
    let page = Events {
        service: service.clone(),
    };
    let console = Console::listen(&options, vec![Box::new(page)]).unwrap();
    let first = page_of(&console);
    assert!(first.starts_with("HTTP/1.1 200"), "{first}");
    assert!(first.contains("No event has passed"), "{first}");
    let wanted = Subscription::new(Filter::event(16, 0));
    let consumer = service
        .channel()
        .connect_consumer(wanted, Arc::new(Ignores))
        .unwrap();
    consumer.suspend().unwrap();
    let supplier = service
        .channel()
        .connect_supplier(Publications::default(), Arc::new(Silent));
    let supplier = supplier.unwrap();
    for _ in 0..3 {
        supplier
            .push(&[Event::new(Header::new(16, 5), Data::default())])
            .unwrap();
    }
    let row = page_with(&console, "<tr data-key=\"16/5\">");
    assert!(row.contains("<b>3</b> received"), "{row}");
    let counts = format!("<tr data-key=\"{}\">", consumer.id().number());
    let row = row
        .split(&counts)
        .nth(1)
        .unwrap()
        .split("</tr>")
        .next()
        .unwrap();
    assert!(
        row.contains("this process") && row.contains("suspended"),
        "{row}"
    );
    assert!(row.contains("<td>3</td>"), "{row}");
}
