//! Settings of the service.

use punctual_host::settings::{Values, markdown};
use punctual_rtevent_service::{EventClock, ServiceOptions, open, settings};

fn values(text: &str) -> Values {
    let text = format!("listen = \"iiop://:0\"\n{text}");
    Values::from_toml(&settings(), "events.toml", &text).unwrap()
}

#[test]
fn without_a_setting_limits_are_those_of_the_documentation() {
    let service = open(&values("")).unwrap();
    let (options, defaults) = (service.options(), ServiceOptions::default());
    assert_eq!(options.form, defaults.form);
    assert_eq!(options.convention, defaults.convention);
    assert_eq!(options.queue, defaults.queue);
    assert_eq!(options.push_timeout, defaults.push_timeout);
    assert_eq!(options.unconnected, defaults.unconnected);
    assert!(options.can_reconnect && !options.can_destroy);
}

#[test]
fn each_word_of_a_setting_opens_a_service() {
    let words = [
        ("dispatching", &["threads", "pool", "reactive"][..]),
        ("clock", &["realtime", "auto"]),
        ("filtering", &["either", "prefix", "basic"]),
        ("push", &["none", "transport", "server", "target"]),
        (
            "when_full",
            &[
                "drop-oldest",
                "drop-newest",
                "latest",
                "block",
                "disconnect",
            ],
        ),
    ];
    for (key, words) in words {
        for word in words {
            open(&values(&format!("{key} = \"{word}\""))).unwrap();
        }
    }
}

#[test]
fn the_clock_of_tai_is_taken_where_it_holds_and_refused_where_it_does_not() {
    let clock = |text| open(&values(text)).map(|service| service.options().form.clock);
    assert_eq!(clock("").unwrap(), EventClock::TimeOfDay);
    assert_eq!(clock("clock = \"auto\"").unwrap(), EventClock::detected());
    match (clock("clock = \"tai\""), EventClock::detected()) {
        (Ok(clock), EventClock::Tai) => assert_eq!(clock, EventClock::Tai),
        (Err(problem), EventClock::TimeOfDay) => {
            let text = problem.to_string();
            assert!(text.contains("not synchronised to TAI"), "{text}");
        }
        (opened, detected) => panic!("{opened:?} where {detected:?} holds"),
    }
}

#[test]
fn a_field_and_a_link_that_do_not_exist_stop_the_start() {
    for (text, named) in [
        ("without = [\"eid\"]", "timestamps"),
        ("send = [\"tcp://10.0.0.1:5\"]", "udp://"),
        ("receive = [\"udp://239.1.1.1:5?tll=1\"]", "tll"),
        ("receive = [\"udp://239.1.1.1:5?ttl=256\"]", "255"),
    ] {
        let text = format!("listen = \"iiop://:0\"\n{text}");
        let error = Values::from_toml(&settings(), "events.toml", &text).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[test]
fn the_page_of_settings_is_what_the_table_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/settings.md");
    let text = format!(
        "# Settings of the event service\n\n{}",
        markdown(&settings())
    );
    if std::env::var_os("PUNCTUAL_WRITE_PAGES").is_some() {
        std::fs::write(page, &text).unwrap();
    }
    let written = std::fs::read_to_string(page).unwrap_or_default();
    assert_eq!(written, text, "PUNCTUAL_WRITE_PAGES=1 writes it anew");
}
