//! Pages of services: each page that is passed to the console is in its navigation, and protected
//! by its guard.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use punctual_console::{Console, ConsoleOptions, Mounted, Naming, Page, Shell};

use crate::console::support::{Shown, asked};

/// Test page of the console that does not belong to the naming service.
#[derive(Debug)]
struct Clock;

impl Page for Clock {
    fn name(&self) -> &'static str {
        "Clock"
    }

    fn path(&self) -> &'static str {
        "/clock"
    }

    fn mount(self: Box<Self>, shell: Arc<Shell>) -> Mounted {
        let stopped = async move || shell.problem(StatusCode::GONE, "The clock has stopped.");
        Mounted {
            routes: Router::new().route("/clock", get(stopped)),
            tasks: Vec::new(),
        }
    }
}

#[test]
fn the_pages_of_all_services_are_linked_in_their_order_and_guarded_alike() {
    let shown = Shown::new();
    let naming = Naming {
        directory: shown.service.directory(),
        orb: shown.orb.clone(),
        asks: false,
    };
    let options = ConsoleOptions {
        address: "127.0.0.1:0".to_owned(),
        ..ConsoleOptions::default()
    };
    let pages: Vec<Box<dyn Page>> = vec![Box::new(Clock), Box::new(naming)];
    let console = Console::listen(&options, pages).unwrap();
    let host = console.address().to_string();
    let first = asked(&console, "/", &host);
    assert!(first.to_lowercase().contains("location: /clock"), "{first}");
    let clock = asked(&console, "/clock", &host);
    assert!(clock.starts_with("HTTP/1.1 410"), "{clock}");
    assert!(clock.contains("The clock has stopped."), "{clock}");
    for path in ["/clock", "/naming"] {
        let page = asked(&console, path, &host);
        let links: Vec<_> = ["\"/clock\"", "\"/naming\""]
            .map(|link| page.find(&format!("<a href={link}")))
            .into();
        assert!(links[0].is_some() && links[0] < links[1], "{page}");
        assert!(page.contains("x-frame-options: DENY"), "{page}");
        let elsewhere = asked(&console, path, "attacker.example");
        assert!(elsewhere.starts_with("HTTP/1.1 421"), "{elsewhere}");
    }
    let alone = Console::listen(&options, Vec::new()).unwrap();
    let nothing = asked(&alone, "/", &alone.address().to_string());
    assert!(nothing.starts_with("HTTP/1.1 404"), "{nothing}");
}
