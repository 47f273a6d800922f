//! Page of a Notification Service.

use crate::console::support::asked;
use punctual::policy::Collocation;
use punctual::{Any, Interface, ListenEndpoint, NotNil, Orb, RootPoa};
use punctual_console::{Channels, Console, ConsoleOptions};
use punctual_notification::NotificationService;
use punctual_notification::cos_notification::{Property, StructuredEvent};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, StructuredProxyPullSupplier, StructuredProxyPushConsumer,
};

/// Service with one channel, and its page.
struct Served {
    orb: Orb,
    service: NotificationService,
    channel: EventChannel,
    console: Console,
}

impl Served {
    fn new() -> Self {
        let service = NotificationService::in_memory();
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(|config| config.collocation = Collocation::None)
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        let factory = service.serve(&poa).unwrap();
        poa.manager().activate().unwrap();
        let options = ConsoleOptions {
            address: "127.0.0.1:0".to_owned(),
            ..ConsoleOptions::default()
        };
        let page = Channels {
            service: service.clone(),
        };
        let console = Console::listen(&options, vec![Box::new(page)]).unwrap();
        let channel = factory.create_channel(&[], &[]).unwrap().0;
        Self {
            orb,
            service,
            channel: channel.not_nil().unwrap(),
            console,
        }
    }

    fn page(&self, query: &str) -> String {
        let path = format!("/channels{query}");
        asked(&self.console, &path, &self.console.address().to_string())
    }

    fn pulls(&self) -> StructuredProxyPullSupplier {
        let admin = self.channel.default_consumer_admin().unwrap();
        let admin = admin.not_nil().unwrap();
        let obtained = admin.obtain_notification_pull_supplier(ClientType::StructuredEvent);
        let proxy = obtained.unwrap().0.not_nil().unwrap();
        let proxy = StructuredProxyPullSupplier::narrow(proxy.as_object().clone()).unwrap();
        proxy.connect_structured_pull_consumer(None).unwrap();
        proxy
    }

    fn push(&self, severities: &[i32]) {
        let admin = self.channel.default_supplier_admin().unwrap();
        let admin = admin.not_nil().unwrap();
        let obtained = admin.obtain_notification_push_consumer(ClientType::StructuredEvent);
        let proxy = obtained.unwrap().0.not_nil().unwrap();
        let proxy = StructuredProxyPushConsumer::narrow(proxy.as_object().clone()).unwrap();
        proxy.connect_structured_push_supplier(None).unwrap();
        for severity in severities {
            let mut event = StructuredEvent::default();
            event.header.fixed_header.event_name = format!("<b>alarm {severity}</b>");
            event.filterable_data = vec![Property {
                name: "severity".to_owned(),
                value: Any::new(severity).unwrap(),
            }];
            proxy.push_structured_event(&event).unwrap();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

#[test]
fn channels_proxies_and_what_waits_in_their_queues_are_shown() {
    let served = Served::new();
    let empty = served.page("");
    assert!(empty.starts_with("HTTP/1.1 200"), "{empty}");
    assert!(empty.contains("No consumer has a proxy"), "{empty}");
    let _proxy = served.pulls();
    served.push(&[1, 2]);
    let page = served.page("?channel=0");
    assert!(page.contains("<b>2</b> received"), "{page}");
    assert!(page.contains("0/0 pull structured"), "{page}");
    let row = page.split("aria-label=\"Consumers\"").nth(1).unwrap();
    let row = row.split("</tbody>").next().unwrap();
    assert!(
        row.contains("connected") && row.contains("<td>2</td>"),
        "{row}"
    );
    assert!(
        !served
            .page("?channel=7")
            .contains("aria-label=\"Consumers\"")
    );
}

#[test]
fn events_that_meet_a_constraint_are_shown_from_the_first_look_on() {
    let served = Served::new();
    served.push(&[9]);
    let query = "?channel=0&filter=%24severity+%3E+3";
    assert!(served.page(query).contains("<b>0</b> events"));
    served.push(&[1, 5, 7]);
    let page = served.page(query);
    assert!(page.contains("<b>2</b> events have met"), "{page}");
    let (five, seven) = (page.find("alarm 5").unwrap(), page.find("alarm 7").unwrap());
    assert!(seven < five && !page.contains("alarm 1") && !page.contains("alarm 9"));
    // What events contain is text.
    assert!(!page.contains("<b>alarm"), "{page}");
    // It is no consumer, and holds no event.
    let counts = &served.service.channels(9)[0].counts;
    assert_eq!((counts.consumer_count, counts.held), (0, 0));
}

#[test]
fn mistakes_in_a_constraint_are_shown_and_tails_are_bounded() {
    let served = Served::new();
    let page = served.page("?channel=0&filter=%24severity+%3E+%3E");
    assert!(page.contains("expected a value"), "{page}");
    for number in 0..8 {
        let page = served.page(&format!("?channel=0&filter=%24a+%3D%3D+{number}"));
        assert!(page.contains("events have met"), "{page}");
    }
    let page = served.page("?channel=0&filter=%24a+%3D%3D+9");
    assert!(page.contains("Too many tails"), "{page}");
    // Those that are there are shown on.
    let page = served.page("?channel=0&filter=%24a+%3D%3D+7");
    assert!(page.contains("events have met"), "{page}");
}
