//! The pages of names and of groups in a browser. Its pictures are kept in `target/screenshots`.
//! Skipped with a printed reason if Chromium is not installed, unless `PUNCTUAL_REQUIRE_BROWSER` is
//! set.
#![allow(clippy::unwrap_used, missing_docs)]

mod chromium;
#[path = "../it/console/group_service.rs"]
mod group_service;
#[path = "../it/console/support.rs"]
mod support;

use chromium::Chromium;
use serde_json::json;
use std::time::Duration;
use support::{Shown, name};

/// Serves the names of a plant: contexts, and objects, some of which answer.
fn furnished() -> Shown {
    let shown = Shown::new();
    let contexts = [
        "plants",
        "plants/north",
        "plants/south",
        "plants/north/line 1",
        "plants/north/line 2",
        "offices",
        "services",
    ];
    for context in contexts {
        shown.context(context);
    }
    let telemetry = |kind: &str, port: u16| {
        let ior = punctual_ior::IiopProfile {
            version: punctual_ior::IiopVersion { major: 1, minor: 2 },
            host: "127.0.0.1".to_owned(),
            port,
            object_key: format!("plant/{kind}").into_bytes(),
            components: Vec::new(),
        };
        let profile = ior.to_tagged(punctual::stub::ByteOrder::Big).unwrap();
        let ior = punctual_ior::Ior {
            type_id: format!("IDL:plant.example/Plant/{kind}:1.0"),
            profiles: vec![profile],
        };
        shown.object(&ior.to_string())
    };
    shown.bind("plants/north/historian", &shown.alive());
    shown.bind("plants/north/gateway", &shown.alive());
    for (pump, kind) in [
        ("pump\\.1.inlet", "Pump"),
        ("pump\\.2.inlet", "Pump"),
        ("valve.outlet", "Valve"),
    ] {
        shown.bind(&format!("plants/north/{pump}"), &telemetry(kind, 1));
    }
    // Its server answers that the object does not exist.
    let own = shown.orb.endpoints()[0]
        .place
        .rsplit(':')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    shown.bind("plants/north/old sensor", &telemetry("Sensor", own));
    shown
}

const ROW: &str = "document.querySelector('tr[data-key=\"NAME\"]')";

fn row(name: &str) -> String {
    ROW.replace("NAME", name)
}

#[test]
fn the_page_looks_as_it_should_wide_and_narrow_in_the_light_and_in_the_dark() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let shown = furnished();
    let url = format!(
        "http://{}/naming?in=plants%2Fnorth&show=historian",
        shown.address()
    );
    browser.looks(1440, 900, false);
    browser.open(&url);
    browser.until(
        "document.querySelectorAll('.bindings .mark.waits').length === 0 && \
         document.querySelectorAll('.bindings .mark.away').length === 3",
    );
    let states =
        "[...document.querySelectorAll('.bindings tbody .mark')].map((one) => one.textContent)";
    assert_eq!(
        browser.evaluate(states),
        json!([
            "answers",
            "answers",
            "",
            "",
            "does not exist",
            "unreachable",
            "unreachable",
            "unreachable"
        ])
    );
    // The animations of new elements have ended by now.
    browser.evaluate("Promise.all(document.getAnimations().map((one) => one.finished.catch(() => 0))).then(() => 0)");
    for (width, height, size) in [
        (1440, 900, "wide"),
        (1000, 900, "medium"),
        (390, 844, "narrow"),
    ] {
        for (dark, scheme) in [(false, "light"), (true, "dark")] {
            browser.looks(width, height, dark);
            // Nothing is wider than the window.
            let overflow = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
            assert!(overflow.as_i64().unwrap() <= 0, "{size}: {overflow}");
            let picture = browser.screenshot(&format!("naming-{size}-{scheme}"));
            println!("{}", picture.display());
        }
    }
    browser.looks(1440, 900, false);
    browser.open(&format!("http://{}/naming", shown.address()));
    browser.screenshot("naming-root-light");
    browser.open(&format!("http://{}/naming?in=nowhere", shown.address()));
    browser.screenshot("naming-missing-light");
    let problems = browser.evaluate("document.querySelector('.empty').textContent");
    assert!(
        problems
            .as_str()
            .unwrap()
            .contains("`nowhere` is not bound")
    );
}

#[test]
fn what_clients_change_is_on_the_page_without_reloading_and_what_the_reader_does_stays() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let shown = furnished();
    browser.looks(1440, 900, false);
    browser.open(&format!(
        "http://{}/naming?in=plants%2Fnorth",
        shown.address()
    ));
    browser.until("document.getElementById('liveness').textContent === 'Live'");
    browser.evaluate(&format!(
        "window.same = true; {0}.querySelector('details').open = true; \
         document.getElementById('bind-name').value = 'half typed'; \
         {0}.querySelector('summary').focus()",
        row("gateway")
    ));
    shown.bind("plants/north/compressor", &shown.away());
    browser.until(&format!("{} !== null", row("compressor")));
    browser.screenshot("naming-changed-light");
    shown.root.unbind(&name("plants/north/historian")).unwrap();
    browser.until(&format!("{} === null", row("historian")));
    shown.context("plants/east");
    browser.until("document.querySelector('#tree a[data-key=\"plants/east\"]') !== null");
    let kept = browser.evaluate(&format!(
        "[window.same, {0}.querySelector('details').open, document.getElementById('bind-name').value, \
         document.activeElement === {0}.querySelector('summary')]",
        row("gateway")
    ));
    assert_eq!(kept, json!([true, true, "half typed", true]));
}

#[test]
fn names_are_bound_and_unbound_by_the_forms_of_a_browser() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let shown = furnished();
    let reference = shown.orb.object_to_string(&shown.alive()).unwrap();
    browser.open(&format!("http://{}/naming?in=offices", shown.address()));
    browser.go(&format!(
        "document.getElementById('bind-name').value = 'clock'; \
         document.getElementById('reference').value = '{reference}'; \
         document.querySelector('form[action=\"/naming/bind\"] button').click()"
    ));
    assert!(shown.resolves("offices/clock"));
    let notice = "document.querySelector('.notice').textContent";
    assert_eq!(browser.evaluate(notice), json!("The name is bound."));
    browser.go(&format!(
        "const details = {}.querySelector('details'); details.open = true; details.querySelector('button').click()",
        row("clock")
    ));
    assert!(!shown.resolves("offices/clock"));
    shown.grant(&[("offices", "10.0.0.0/8")]);
    browser.go("document.getElementById('context-name').value = 'mine'; \
         document.querySelector('form[action=\"/naming/context\"] button').click()");
    assert_eq!(
        browser.evaluate(notice),
        json!("127.0.0.1 may not change this context.")
    );
    browser.screenshot("naming-refused-light");
    assert!(!shown.resolves("offices/mine"));
}

#[test]
fn without_script_the_page_shows_the_same_and_its_links_and_forms_work() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let shown = furnished();
    browser.looks(1440, 900, false);
    browser.call(
        "Emulation.setScriptExecutionDisabled",
        json!({ "value": true }),
    );
    browser.open(&format!(
        "http://{}/naming?in=plants%2Fnorth&show=historian#detail",
        shown.address()
    ));
    let html = |browser: &mut Chromium| {
        let document = browser.call("DOM.getDocument", json!({}));
        let root = document["root"]["nodeId"].clone();
        let html = browser.call("DOM.getOuterHTML", json!({ "nodeId": root }));
        html["outerHTML"].as_str().unwrap().to_owned()
    };
    let page = html(&mut browser);
    for part in [
        "historian",
        "valve.outlet",
        "Profile 0: IIOP",
        "Reload the page to see changes.",
    ] {
        assert!(page.contains(part), "{part}");
    }
    browser.screenshot("naming-without-script-light");
}

#[test]
fn a_page_of_another_site_can_neither_show_this_one_nor_send_its_forms_nor_read_it() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let (shown, other) = (furnished(), furnished());
    // The other console is another site to the browser; its page attacks this one. The policy of
    // that page would stop the attack before this one must.
    browser.call("Page.setBypassCSP", json!({ "enabled": true }));
    let (at, token) = (shown.address(), shown.token());
    browser.open(&format!(
        "http://localhost:{}/naming",
        other.address().port()
    ));
    let read =
        format!("fetch('http://{at}/naming').then((reply) => reply.text(), () => 'refused')");
    assert_eq!(browser.evaluate(&read), json!("refused"));
    let blind = format!(
        "fetch('http://{at}/naming/context', {{ method: 'POST', mode: 'no-cors', \
         body: new URLSearchParams({{ token: '{token}', in: '', name: 'made' }}) }}).then(() => 'sent', () => 'refused')"
    );
    browser.evaluate(&blind);
    browser.go(&format!(
        "const form = document.createElement('form'); form.method = 'post'; form.action = 'http://{at}/naming/context'; \
         for (const [name, value] of [['token', '{token}'], ['in', ''], ['name', 'made']]) {{ \
             const field = document.createElement('input'); field.name = name; field.value = value; form.append(field); }} \
         document.body.append(form); form.submit()"
    ));
    let said = browser.evaluate("document.querySelector('main').textContent");
    assert!(
        said.as_str()
            .unwrap()
            .contains("The request comes from another site."),
        "{said}"
    );
    assert!(!shown.resolves("made"));
}

#[test]
fn a_failover_of_a_group_is_drawn_in_every_size_and_in_the_dark() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let served = group_service::Served::new();
    let group = served.group("warm-passive");
    served.group("stateless");
    let long = Duration::from_hours(1);
    served.join_primary_to_die(&group, "plant-1/process-1");
    served.join(&group, "plant-2/process-1", long);
    served.page_with("", "primary <b>plant-2");
    served.join(&group, "plant-1/process-1", long);
    served.join(&group, "plant-1/process-1", long);
    browser.open(&format!(
        "http://{}/groups?group=1",
        served.console.address()
    ));
    browser.until("document.getElementById('liveness').textContent === 'Live'");
    // More often than that where the first lease ended before the election.
    for (class, least) in [("primary", 2), ("death", 1), ("restart", 1)] {
        let count = format!("document.querySelectorAll('#timeline .{class}').length");
        let count = browser.evaluate(&count).as_u64().unwrap();
        assert!(count >= least, "{class}: {count}");
    }
    // Each lane has the height of its name.
    let heights = "[...document.querySelectorAll('.lanes ul, .lanes svg')].map((one) => one.getBoundingClientRect().height)";
    for (width, height, size) in [(1440, 900, "wide"), (390, 844, "narrow")] {
        for (dark, scheme) in [(false, "light"), (true, "dark")] {
            browser.looks(width, height, dark);
            let overflow = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
            assert!(overflow.as_i64().unwrap() <= 0, "{size}: {overflow}");
            assert_eq!(browser.evaluate(heights), json!([52, 52]));
            let picture = browser.screenshot(&format!("groups-{size}-{scheme}"));
            println!("{}", picture.display());
        }
    }
}
