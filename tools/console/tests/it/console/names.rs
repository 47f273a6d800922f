//! Page of names: its contents, and its forms.

use punctual::Interface;
use punctual_console::{ConsoleLimits, ConsoleOptions};

use crate::console::support::{Shown, name};

#[test]
fn a_context_shows_its_bindings_with_where_they_lead_and_the_tree_the_way_to_it() {
    let shown = Shown::new();
    for context in ["plants", "plants/north.site", "plants/south", "offices"] {
        shown.context(context);
    }
    shown.bind("plants/north.site/pump", &shown.alive());
    let page = shown.get("/naming");
    assert_eq!(page.status, 200);
    assert!(page.row("plants").unwrap().contains("context, 2 bindings"));
    assert!(
        page.body.contains("<b>5</b> bindings in <b>5</b> contexts"),
        "{}",
        page.body
    );
    let page = shown.get("/naming?in=plants%2Fnorth.site");
    let row = page.row("pump").unwrap();
    assert!(row.contains("omg.org/CosNaming/NamingContextExt"), "{row}");
    assert!(row.contains("iiop://127.0.0.1:"), "{row}");
    // Neighbours of the contexts on the way are shown, too.
    for name in ["offices", "plants", "plants/south", "plants/north.site"] {
        assert!(
            page.body.contains(&format!("<a data-key=\"{name}\"")),
            "{name}"
        );
    }
    assert_eq!(shown.get("/").header("location"), Some("/naming"));
}

#[test]
fn a_reference_is_shown_decoded_and_as_text() {
    let shown = Shown::new();
    shown.bind("pump", &shown.alive());
    let page = shown.get("/naming?in=&show=pump").body;
    let detail = page.split("<aside").nth(1).unwrap();
    for part in [
        "IDL:omg.org/CosNaming/NamingContextExt:1.0",
        "Profile 0: IIOP",
        "<dt>object key</dt>",
        "CODE_SETS",
        &shown.orb.object_to_string(&shown.alive()).unwrap(),
    ] {
        assert!(detail.contains(part), "{part}\n{detail}");
    }
}

#[test]
fn whether_an_object_answers_is_told_once_it_was_asked() {
    let shown = Shown::new();
    shown.bind("away", &shown.away());
    shown.bind("here", &shown.alive());
    shown.context("gone");
    let gone = shown.root.resolve(&name("gone")).unwrap().unwrap();
    shown.bind("dead", &gone);
    shown.root.unbind(&name("gone")).unwrap();
    let context = punctual_naming::cos_naming::NamingContext::from_object(gone);
    context.destroy().unwrap();
    shown.root.bind(&name("nothing"), None).unwrap();
    let mut events = shown.events("/naming/live");
    let state =
        |component: &str, word: &str| shown.get("/naming").row(component).unwrap().contains(word);
    // Events arrive until all states are known.
    while !(state("here", "mark alive") && state("away", "mark away") && state("dead", "mark dead"))
    {
        assert!(events.next());
    }
    assert!(state("nothing", "not asked"));
}

#[test]
fn a_reference_to_a_place_within_this_machine_is_not_called_for_those_who_may_bind() {
    let shown = Shown::new();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    let local = shown.object(&format!("corbaloc:uiop:{}|key", socket.display()));
    shown.bind("local", &local);
    shown.bind("here", &shown.alive());
    let mut events = shown.events("/naming/live");
    while !shown
        .get("/naming")
        .row("here")
        .unwrap()
        .contains("mark alive")
    {
        assert!(events.next());
    }
    let row = shown.get("/naming").row("local").unwrap().to_owned();
    assert!(row.contains("not asked"), "{row}");
    assert!(listener.accept().is_err());
}

#[test]
fn a_name_is_bound_rebound_and_unbound_by_forms() {
    let shown = Shown::new();
    let one = shown.orb.object_to_string(&shown.alive()).unwrap();
    let made = shown.post("/naming/context", &[("in", ""), ("name", "plants")]);
    assert_eq!(
        (made.status, made.header("location")),
        (303, Some("/naming?in=&done=made"))
    );
    let bind = |name, reference, more: &[(&str, &str)]| {
        let mut fields = vec![("in", "plants"), ("name", name), ("reference", reference)];
        fields.extend(more);
        shown.post("/naming/bind", &fields)
    };
    let bound = bind("pump.a b\\/c", &one, &[]);
    assert_eq!(
        bound.header("location"),
        Some("/naming?in=plants&done=bound")
    );
    assert!(shown.resolves("plants/pump.a b\\/c"));
    let again = bind("pump.a b\\/c", "corbaloc::127.0.0.1:1/other", &[]);
    assert_eq!(again.status, 409);
    assert!(again.body.contains("The name is bound already."));
    // The typed text is still there.
    assert!(
        again
            .body
            .contains("corbaloc::127.0.0.1:1/other</textarea>")
    );
    let rebound = bind(
        "pump.a b\\/c",
        "corbaloc::127.0.0.1:1/other",
        &[("replaces", "yes")],
    );
    assert_eq!(rebound.status, 303);
    let unbound = shown.post(
        "/naming/unbind",
        &[("in", "plants"), ("name", "pump.a b\\/c")],
    );
    assert_eq!(
        unbound.header("location"),
        Some("/naming?in=plants&done=unbound")
    );
    assert!(!shown.resolves("plants/pump.a b\\/c"));
    let destroyed = [("in", ""), ("name", "plants"), ("destroy", "yes")];
    shown.context("plants/x");
    let refused = shown.post("/naming/unbind", &destroyed);
    assert_eq!(refused.status, 409);
    assert!(refused.body.contains("The context has bindings."));
    shown.post(
        "/naming/unbind",
        &[("in", "plants"), ("name", "x"), ("destroy", "yes")],
    );
    assert_eq!(shown.post("/naming/unbind", &destroyed).status, 303);
    let size = shown.service.size();
    assert_eq!((size.contexts, size.bindings), (1, 0));
}

#[test]
fn what_is_no_name_or_no_reference_is_refused_with_a_reason_and_no_file_is_read() {
    let shown = Shown::new();
    let reference = "corbaloc::127.0.0.1:1/object";
    for (name, reference, status, why) in [
        ("", reference, 400, "no component"),
        (
            "a\\b",
            reference,
            400,
            "components id.kind, separated by slashes",
        ),
        ("nowhere/a", reference, 404, "is not bound"),
        ("a", "", 400, "begins with"),
        ("a", "file:///etc/passwd", 400, "begins with"),
        ("a", "/etc/passwd", 400, "begins with"),
        ("a", "corbaname::127.0.0.1:1#x", 400, "begins with"),
        ("a", "corbaloc:rir:/NameService", 400, "rir"),
        ("a", "IOR:0", 400, "reference"),
        ("a", "IOR:00000000ffffffff", 400, "reference"),
    ] {
        let fields = [("in", ""), ("name", name), ("reference", reference)];
        let reply = shown.post("/naming/bind", &fields);
        assert_eq!(reply.status, status, "{name} {reference}");
        assert!(
            reply.body.contains(why),
            "{name} {reference}: {}",
            reply.body
        );
    }
    let missing = shown.get("/naming?in=nowhere%2Fa");
    assert_eq!(missing.status, 404);
    assert!(missing.body.contains("`nowhere` is not bound"));
    assert_eq!(shown.get("/elsewhere").status, 404);
    assert_eq!(shown.service.size().bindings, 0);
}

#[test]
fn a_peer_changes_what_was_granted_to_its_address_and_sees_forms_for_nothing_else() {
    let shown = Shown::new();
    for context in ["a", "b"] {
        shown.context(context);
    }
    shown.grant(&[
        ("a", "127.0.0.1"),
        ("b", "10.0.0.0/8"),
        ("b", "local"),
        ("b", "cert:crew"),
    ]);
    let token = {
        let page = shown.get("/naming?in=a").body;
        assert!(page.contains("Bind an object"));
        let begin = page.split("name=\"token\" value=\"").nth(1).unwrap();
        begin.split('"').next().unwrap().to_owned()
    };
    for context in ["", "b"] {
        let page = shown.get(&format!("/naming?in={context}")).body;
        assert!(!page.contains("Bind an object") && !page.contains("Unbind"));
        assert!(page.contains("You come from 127.0.0.1, which may look at this context"));
    }
    let host = shown.address().to_string();
    let post = |path: &str, fields: &[(&str, &str)]| {
        let mut all = vec![("token", &*token)];
        all.extend(fields);
        shown.post_as(path, &all, &host, "").status
    };
    let reference = "corbaloc::127.0.0.1:1/object";
    assert_eq!(
        post(
            "/naming/bind",
            &[("in", "a"), ("name", "o"), ("reference", reference)]
        ),
        303
    );
    assert_eq!(
        post(
            "/naming/bind",
            &[("in", "b"), ("name", "o"), ("reference", reference)]
        ),
        403
    );
    assert_eq!(post("/naming/context", &[("in", ""), ("name", "c")]), 403);
    assert_eq!(post("/naming/unbind", &[("in", ""), ("name", "a")]), 403);
    assert_eq!(
        post(
            "/naming/unbind",
            &[("in", ""), ("name", "b"), ("destroy", "yes")]
        ),
        403
    );
    assert_eq!(post("/naming/unbind", &[("in", "a"), ("name", "o")]), 303);
    assert_eq!(shown.service.size().bindings, 2);
}

#[test]
fn names_types_and_keys_are_shown_as_text_whatever_is_in_them() {
    let shown = Shown::new();
    let evil = "<script>alert(1)</script>\"'&";
    let text = "<img src=x onerror=alert(1)>\"'&";
    let context = punctual_naming::cos_naming::NameComponent {
        id: evil.to_owned(),
        kind: text.to_owned(),
    };
    shown
        .root
        .bind_new_context(std::slice::from_ref(&context))
        .unwrap();
    let ior = punctual_ior::Ior {
        type_id: format!("IDL:{evil}:1.0"),
        profiles: vec![punctual_ior::TaggedProfile {
            tag: 0x1234_5678,
            data: text.as_bytes().to_vec(),
        }],
    };
    let object = shown.object(&ior.to_string());
    let whole = [context.clone(), context.clone()];
    shown.root.bind(&whole, Some(&object)).unwrap();
    let written = punctual_ior::name_to_text([(evil, text)]);
    let escaped = crate::console::support::escaped(&written);
    let mut pages = vec![
        shown.get("/naming"),
        shown.get(&format!(
            "/naming?in={escaped}&from={escaped}&show={escaped}&done={escaped}"
        )),
        shown.get(&format!(
            "/naming?in=nowhere{escaped}&from={}",
            crate::console::support::escaped(evil)
        )),
    ];
    let fields = [("in", ""), ("name", evil), ("reference", evil)];
    pages.push(shown.post("/naming/bind", &fields));
    for page in pages {
        assert!(page.body.contains("&#60;"), "{}", page.body);
        for part in ["<script>alert", "<img src=x", "\"'&\""] {
            assert!(!page.body.contains(part), "{part}: {}", page.body);
        }
    }
}

#[test]
fn a_large_context_is_shown_in_portions_that_begin_anywhere() {
    let shown = Shown::with(ConsoleOptions {
        limits: ConsoleLimits {
            rows: 20,
            ..ConsoleLimits::default()
        },
        ..ConsoleOptions::default()
    });
    let object = shown.away();
    for number in 0..50 {
        shown.bind(&format!("o{number:02}"), &object);
    }
    let page = shown.get("/naming");
    assert_eq!(page.body.matches("<tr data-key").count(), 20);
    assert!(page.body.contains("50 bindings") && page.body.contains("Next: o20"));
    let page = shown.get("/naming?in=&from=o20");
    assert!(page.row("o19").is_none() && page.row("o20").is_some() && page.row("o40").is_none());
    let page = shown.get("/naming?in=&from=o4");
    assert_eq!(page.body.matches("<tr data-key").count(), 10);
    assert!(!page.body.contains("Next:"));
    let page = shown.get("/naming?in=&from=p");
    assert!(page.body.contains("Nothing is bound from here on."));
}
