//! Page of a group service.

use std::time::Duration;

use super::group_service::Served;

const LONG: Duration = Duration::from_hours(1);

/// Returns a section of the page.
fn section<'p>(page: &'p str, name: &str) -> &'p str {
    let begin = format!("aria-label=\"{name}\"");
    let section = page.split(&*begin).nth(1).unwrap();
    section.split("</section>").next().unwrap()
}

#[test]
fn groups_their_members_and_the_primary_are_shown() {
    let served = Served::new();
    assert!(served.page("").contains("The service has no group"));
    let first = served.group("warm-passive");
    served.group("stateless");
    assert!(served.page("?group=1").contains("It has no member"));
    served.join(&first, "north", LONG);
    served.page_with("?group=1", "primary <b>north</b>");
    served.join(&first, "<b>south</b>", LONG);
    let page = served.page("?group=1");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let groups = section(&page, "Groups");
    assert!(
        groups.contains("warm-passive") && groups.contains("2 of 2"),
        "{groups}"
    );
    assert!(
        groups.contains("stateless") && groups.contains("0 of 0"),
        "{groups}"
    );
    let members = section(&page, "Members");
    assert!(members.contains("iiop://127.0.0.1:"), "{members}");
    assert!(members.contains("3600000 ms"), "{members}");
    // What a location contains is text.
    assert!(!page.contains("<b>south"), "{page}");
    // The second group has been chosen by its number, and there is no third one.
    assert!(served.page("?group=2").contains("group 2: <b>0</b>"));
    let none = served.page("?group=3");
    assert!(none.starts_with("HTTP/1.1 200") && !none.contains("aria-label=\"Members\""));
}

#[test]
fn a_failover_is_in_the_time_line_and_among_the_changes() {
    let served = Served::new();
    let group = served.group("cold-passive");
    served.join_primary_to_die(&group, "north");
    served.join(&group, "south", LONG);
    let page = served.page_with("", "primary <b>south</b>");
    let changes = section(&page, "Changes");
    for change in ["joined", "became primary", "died", "is no member any more"] {
        assert!(changes.contains(change), "{change}: {changes}");
    }
    let line = section(&page, "Time line");
    assert!(
        line.contains("north died") && line.contains("south: primary since"),
        "{line}"
    );
    assert!(!section(&page, "Members").contains("north"));
}
