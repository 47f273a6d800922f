//! Contents of the page for its template.

use std::time::{Duration, Instant};

use askama::Template;
use punctual::ObjectRef;
use punctual::protocol::endpoints_of;
use punctual_groups_client::punctual_groups::{Group, Member};
use punctual_groups_service::{Change, ChangeKind};

use super::timeline::{self, TimeLine};
use crate::layout::Link;
use crate::shell::Shell;

/// URL path of the page.
pub(super) const PATH: &str = "/groups";

/// Maximum number of changes that are listed.
const MOST_CHANGES: usize = 20;

/// Width of a mark in the time line.
const MARK: u32 = 4;

/// Height of a location in the time line.
const LANE: u32 = 26;

/// Template of the page, with the data to be shown.
#[derive(Debug, Template)]
#[template(path = "groups.html")]
pub(super) struct GroupsPage<'p> {
    pages: &'p [Link],
    here: &'static str,
    groups: Vec<GroupRow<'p>>,
    chosen: Option<GroupRow<'p>>,
    members: Vec<MemberRow<'p>>,
    line: TimeLine,
    lane_height: u32,
    line_width: u32,
    line_height: u32,
    mark_width: u32,
    since: String,
    changes: Vec<ChangeRow>,
}

/// Group among all.
#[derive(Debug)]
struct GroupRow<'p> {
    of: &'p Group,
    kind: String,
    alive: usize,
    /// Location of the primary, or what there is instead.
    primary: String,
    is_vacant: bool,
    is_chosen: bool,
}

/// Member of the group that is looked at.
#[derive(Debug)]
struct MemberRow<'p> {
    of: &'p Member,
    location: String,
    at: String,
    class: &'static str,
    state: &'static str,
    lease: String,
    load: String,
}

/// Change of a member.
#[derive(Debug)]
struct ChangeRow {
    ago: String,
    location: String,
    what: &'static str,
}

impl<'p> GroupsPage<'p> {
    pub(super) fn new(
        shell: &'p Shell,
        groups: &'p [Group],
        chosen: Option<&'p Group>,
        (history, now): (&[Change], Instant),
    ) -> Self {
        let is_chosen = |one: &Group| chosen.is_some_and(|chosen| chosen.id == one.id);
        let members = chosen.map_or(&[][..], |one| &one.the_members);
        let members: Vec<MemberRow<'_>> = members.iter().map(member).collect();
        let present = members
            .iter()
            .map(|one| (&*one.location, one.of.is_primary));
        let line = TimeLine::new(present, history, now);
        let lanes = u32::try_from(line.lanes.len()).unwrap_or_default();
        let changes = history.iter().take(MOST_CHANGES).map(|one| ChangeRow {
            ago: ago(now.duration_since(one.at)),
            location: one.location.to_string(),
            what: what(one.kind),
        });
        Self {
            pages: &shell.pages,
            here: PATH,
            groups: groups
                .iter()
                .map(|one| group(one, is_chosen(one)))
                .collect(),
            chosen: chosen.map(|one| group(one, true)),
            changes: changes.collect(),
            since: ago(line.length),
            lane_height: LANE,
            // Marks of what is just happening are seen, too.
            line_width: timeline::WIDTH + MARK,
            line_height: lanes * LANE,
            mark_width: MARK,
            line,
            members,
        }
    }
}

fn group(of: &Group, is_chosen: bool) -> GroupRow<'_> {
    let is_passive = of.style.ends_with("passive");
    let primary = of.the_members.iter().find(|one| one.is_primary);
    GroupRow {
        of,
        kind: match of.strategy.is_empty() {
            true => of.style.clone(),
            false => format!("{}, {}", of.style, of.strategy),
        },
        alive: of.the_members.iter().filter(|one| one.is_alive).count(),
        primary: match primary {
            Some(primary) => location(primary),
            None if is_passive => "none".to_owned(),
            None => String::new(),
        },
        is_vacant: is_passive && !primary.is_some_and(|one| one.is_alive),
        is_chosen,
    }
}

fn member(of: &Member) -> MemberRow<'_> {
    let (class, state) = match of {
        Member {
            is_alive: false, ..
        } => ("dead", "does not answer"),
        Member {
            is_draining: true, ..
        } => ("away", "draining"),
        Member {
            is_alerted: true, ..
        } => ("away", "sheds load"),
        Member {
            is_primary: true, ..
        } => ("alive", "primary"),
        Member { .. } => ("alive", "member"),
    };
    let first = |object: &ObjectRef| {
        let first = endpoints_of(object.orb(), object.ior()).into_iter().next();
        first.map(|one| format!("{}://{}", one.protocol, one.address.place()))
    };
    MemberRow {
        of,
        location: location(of),
        at: of.reference.as_ref().and_then(first).unwrap_or_default(),
        class,
        state,
        lease: match of.lease_ms {
            0 => "none".to_owned(),
            millis => format!("{millis} ms"),
        },
        load: match of.is_loaded {
            true => format!("{:.2}", of.load),
            false => String::new(),
        },
    }
}

fn location(member: &Member) -> String {
    let components = member.the_location.iter();
    punctual_ior::name_to_text(components.map(|one| (one.id.as_str(), one.kind.as_str())))
}

const fn what(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Joined => "joined",
        ChangeKind::JoinedAgain => "joined again",
        ChangeKind::Left => "is no member any more",
        ChangeKind::Died => "died",
        ChangeKind::BecamePrimary => "became primary",
        ChangeKind::WasPrimary => "is not primary any more",
        _ => "changed",
    }
}

/// Formats a time before now.
fn ago(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
