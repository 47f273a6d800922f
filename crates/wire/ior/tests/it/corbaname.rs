//! Tests of names as text, and of valid and invalid `corbaname:` URLs.

#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;
use punctual_ior::{
    CorbalocPart, Corbaname, NameComponent, StringifiedNameError, name_from_text, name_to_text,
};

/// List of the id and kind of each component of an expected name.
type Parts<'t> = &'t [(&'t str, &'t str)];

fn name(parts: Parts<'_>) -> Vec<NameComponent> {
    let component = |&(id, kind): &(&str, &str)| NameComponent {
        id: id.to_owned(),
        kind: kind.to_owned(),
    };
    parts.iter().map(component).collect()
}

fn text(name: &[NameComponent]) -> String {
    name_to_text(name.iter().map(|one| (one.id.as_str(), one.kind.as_str())))
}

#[test]
fn names_have_the_text_that_the_standard_gives_them() {
    let cases: [(&str, Parts<'_>); 8] = [
        ("a", &[("a", "")]),
        ("a/b.c", &[("a", ""), ("b", "c")]),
        (".kind", &[("", "kind")]),
        (".", &[("", "")]),
        ("a/./c.d/.e", &[("a", ""), ("", ""), ("c", "d"), ("", "e")]),
        (r"a\.b.c\/d\\", &[("a.b", r"c/d\")]),
        ("a b/ü", &[("a b", ""), ("ü", "")]),
        (r"\.", &[(".", "")]),
    ];
    for (written, parts) in cases {
        assert_eq!(name_from_text(written).unwrap(), name(parts), "{written}");
        assert_eq!(text(&name(parts)), written);
    }
}

#[test]
fn text_that_is_no_name_is_refused_with_the_place() {
    use StringifiedNameError::{BadEscape, Empty, EmptyComponent, EmptyKind, SecondDot};
    let cases = [
        ("", Empty),
        ("/a", EmptyComponent(0)),
        ("a/", EmptyComponent(2)),
        ("a//b", EmptyComponent(2)),
        ("a/b.", EmptyKind(2)),
        ("a/b.c.d", SecondDot(2)),
        ("..", SecondDot(0)),
        (r"a\b", BadEscape(1)),
        (r"a\", BadEscape(1)),
    ];
    for (written, error) in cases {
        assert_eq!(name_from_text(written), Err(error), "{written}");
    }
}

#[test]
fn urls_mean_a_context_and_a_name_in_it() {
    let cases: [(&str, &str, Parts<'_>); 8] = [
        (
            "corbaname::h#a/b.c",
            "corbaloc::1.0@h:2809/NameService",
            &[("a", ""), ("b", "c")],
        ),
        ("CorbaName::h:9", "corbaloc::1.0@h:9/NameService", &[]),
        ("corbaname::h/#", "corbaloc::1.0@h:2809/NameService", &[]),
        (
            "corbaname::h/My/Key#x",
            "corbaloc::1.0@h:2809/My/Key",
            &[("x", "")],
        ),
        (
            "corbaname:rir:#a",
            "corbaloc:rir:/NameService",
            &[("a", "")],
        ),
        (
            "corbaname:rir:/Other#a",
            "corbaloc:rir:/Other",
            &[("a", "")],
        ),
        (
            "corbaname:uiop:/run/x#a",
            "corbaloc:uiop:/run/x|NameService",
            &[("a", "")],
        ),
        (
            "corbaname::1.2@[::1]:7,:g#a%5c.b%20c/%c3%bc",
            "corbaloc::1.2@[::1]:7,:g/NameService",
            &[("a.b c", ""), ("ü", "")],
        ),
    ];
    for (url, context, parts) in cases {
        let parsed: Corbaname = url.parse().unwrap();
        assert_eq!(parsed.context, context.parse().unwrap(), "{url}");
        assert_eq!(parsed.name, name(parts), "{url}");
        assert_eq!(parsed.to_string().parse(), Ok(parsed), "{url}");
    }
}

#[test]
fn bad_urls_tell_which_part_is_at_fault() {
    use CorbalocPart::{Address, Scheme, SchemeSpecific};
    let cases = [
        ("", Scheme),
        ("corbaloc::h#a", Scheme),
        ("corbaname", Scheme),
        ("corbaname:", Address),
        ("corbaname:#a", Address),
        ("corbaname:h#a", Address),
        ("corbaname::h:0#a", Address),
        ("corbaname::h/%zz#a", SchemeSpecific),
        ("corbaname::h#a//b", SchemeSpecific),
        ("corbaname::h#a#b.", SchemeSpecific),
        ("corbaname::h#%", SchemeSpecific),
        ("corbaname::h#%f", SchemeSpecific),
        ("corbaname::h#%ff", SchemeSpecific),
    ];
    for (url, part) in cases {
        let parsed = url.parse::<Corbaname>();
        assert_eq!(parsed.map_err(|error| error.part()), Err(part), "{url}");
    }
}

proptest! {
    #[test]
    fn every_name_is_read_back_from_its_text_and_its_url(parts in vec((".{0,6}", ".{0,6}"), 1..5)) {
        let parts: Vec<(&str, &str)> = parts.iter().map(|(id, kind)| (&**id, &**kind)).collect();
        let name = name(&parts);
        prop_assert_eq!(name_from_text(&text(&name)).unwrap(), name.clone());
        let context = "corbaloc:iiop:1.2@h:1/k".parse().unwrap();
        let url = Corbaname { context, name };
        prop_assert!(url.to_string().is_ascii());
        prop_assert_eq!(url.to_string().parse(), Ok(url));
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in ".{0,40}") {
        let _ = name_from_text(&text);
        let _ = format!("corbaname::h#{text}").parse::<Corbaname>();
        let _ = format!("corbaname:{text}").parse::<Corbaname>();
    }
}
