//! Contents of the page for its template.

use std::net::IpAddr;

use askama::Template;
use axum::http::StatusCode;
use punctual::protocol::endpoints_of;
use punctual_ior::Ior;
use punctual_naming::client::Answer;
use punctual_naming::cos_naming::{Name, NameComponent};
use punctual_naming::{Entry, Leads, Portion, Refusal, Size};
use punctual_reference::Facts;

use super::names::{Selection, component_of, name_of, status_of, text_of};
use super::state::NamingPage;
use super::tree::{Branch, below, one};
use crate::answers::State;
use crate::layout::Link;

/// URL path of the naming page.
pub(super) const PATH: &str = "/naming";

/// Displayed part of the names, as a peer may see it, at one moment.
pub(super) struct PageState {
    peer: IpAddr,
    place: Selection,
    name: Name,
    portion: Result<Portion, Refusal>,
    shown: Option<Entry>,
    wrong: Option<Wrong>,
    form: Form,
}

/// Requested change of names that was refused, with its HTTP status.
struct Wrong {
    status: StatusCode,
    why: String,
}

/// Initial contents of the forms on the naming page.
#[derive(Debug, Default)]
pub(super) struct Form {
    pub(super) bind: String,
    pub(super) reference: String,
    pub(super) context: String,
}

/// Template of the naming page, with the data to be shown.
#[derive(Debug, Template)]
#[template(path = "naming.html")]
pub(super) struct NamesPage<'p> {
    pages: &'p [Link],
    here: &'static str,
    token: &'p str,
    peer: IpAddr,
    context: &'p str,
    from: &'p str,
    has_from: bool,
    size: Size,
    trouble: Option<String>,
    wrong: Option<&'p str>,
    done: Option<&'static str>,
    missing: Option<String>,
    may_change: bool,
    bindings: usize,
    way: Vec<Crumb>,
    tree: Vec<Branch>,
    rows: Vec<Row>,
    next: Option<String>,
    detail: Option<Detail>,
    form: &'p Form,
}

/// A context on the path to the displayed one.
#[derive(Debug)]
struct Crumb {
    text: String,
    name: String,
}

/// Row of the naming page's table, which shows one binding.
#[derive(Debug)]
struct Row {
    component: String,
    name: String,
    is_context: bool,
    is_shown: bool,
    /// Type of the binding's target: context, group, or the interface of the object.
    what: String,
    /// First endpoint in the object's reference, with the number of further ones.
    at: String,
    answer: Mark,
}

/// Display of an object's liveness: a word, and a detail.
#[derive(Debug)]
struct Mark {
    class: &'static str,
    text: &'static str,
    why: String,
}

/// Section of the naming page that shows one binding in full.
#[derive(Debug)]
struct Detail {
    component: String,
    name: String,
    answer: Mark,
    facts: Option<Facts>,
    ior: String,
    endpoints: Vec<String>,
}

impl PageState {
    pub(super) fn at(page: &NamingPage, place: &Selection, peer: IpAddr) -> Self {
        let directory = &page.directory;
        let name = name_of(&place.context);
        let portion = name.clone().and_then(|name| {
            let from = begin(place);
            directory.portion(&name, from.as_ref(), page.shell.limits.rows, peer)
        });
        let name = name.unwrap_or_default();
        let shown = place.show.as_deref().and_then(|show| {
            let component = component_of(show).ok()?;
            directory.entry(&name, &component).ok()?
        });
        Self {
            peer,
            place: place.clone(),
            name,
            portion,
            shown,
            wrong: None,
            form: Form::default(),
        }
    }

    /// Adds a refused change and its form to the page.
    pub(super) fn refused(self, status: StatusCode, why: String, form: Form) -> Self {
        Self {
            wrong: Some(Wrong { status, why }),
            form,
            ..self
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        match (&self.wrong, &self.portion) {
            (Some(wrong), _) => wrong.status,
            (None, Ok(_)) => StatusCode::OK,
            (None, Err(refusal)) => status_of(refusal),
        }
    }

    pub(super) fn page<'p>(&'p self, naming: &'p NamingPage) -> NamesPage<'p> {
        let portion = self.portion.as_ref().ok();
        let entries = portion.map_or(&[][..], |portion| &portion.entries);
        let row = |entry: &Entry| Row::of(naming, &self.name, entry, self.place.show.as_deref());
        NamesPage {
            pages: &naming.shell.pages,
            here: PATH,
            token: naming.shell.guard.token(),
            peer: self.peer.to_canonical(),
            context: &self.place.context,
            from: self.place.from.as_deref().unwrap_or_default(),
            has_from: self
                .place
                .from
                .as_ref()
                .is_some_and(|from| !from.is_empty()),
            size: naming.directory.size(),
            trouble: naming
                .directory
                .check_ready()
                .err()
                .map(|why| why.to_string()),
            wrong: self.wrong.as_ref().map(|wrong| &*wrong.why),
            done: self.place.done.as_deref().and_then(done),
            missing: self.portion.as_ref().err().map(ToString::to_string),
            may_change: portion.is_some_and(|portion| portion.may_change),
            bindings: portion.map_or(0, |portion| portion.size),
            way: crumbs(&self.name),
            tree: Branch::tree(naming, &self.name),
            rows: entries.iter().map(row).collect(),
            next: portion.and_then(|portion| portion.next.as_ref().map(one)),
            detail: self
                .shown
                .as_ref()
                .map(|entry| Detail::of(naming, &self.name, entry)),
            form: &self.form,
        }
    }
}

/// Returns the component at which the displayed bindings begin: any text is permitted, even one
/// that is no component of a name.
pub(super) fn begin(place: &Selection) -> Option<NameComponent> {
    let text = place.from.as_deref().filter(|from| !from.is_empty())?;
    let as_id = |_| NameComponent {
        id: text.to_owned(),
        kind: String::new(),
    };
    Some(component_of(text).unwrap_or_else(as_id))
}

/// Returns the message for a completed change, which a query parameter names: only known values are
/// shown, as any site may link here.
fn done(what: &str) -> Option<&'static str> {
    match what {
        "bound" => Some("The name is bound."),
        "made" => Some("The context is made."),
        "unbound" => Some("The binding is removed."),
        "destroyed" => Some("The context is destroyed, and its binding removed."),
        _ => None,
    }
}

fn crumbs(name: &[NameComponent]) -> Vec<Crumb> {
    let ends = 1..=name.len();
    ends.filter_map(|end| {
        let name = name.get(..end)?;
        Some(Crumb {
            text: one(name.last()?),
            name: text_of(name),
        })
    })
    .collect()
}

impl Row {
    fn of(naming: &NamingPage, name: &[NameComponent], entry: &Entry, shown: Option<&str>) -> Self {
        let component = one(&entry.component);
        let (what, at) = match &entry.leads {
            Leads::Context(Some(1)) => ("context, 1 binding".to_owned(), String::new()),
            Leads::Context(Some(size)) => (format!("context, {size} bindings"), String::new()),
            Leads::Group(1) => ("group, 1 member".to_owned(), String::new()),
            Leads::Group(size) => (format!("group, {size} members"), String::new()),
            Leads::Context(None) => ("a context that was destroyed".to_owned(), String::new()),
            Leads::Object(ior) => (interface(ior), place(naming, ior)),
            Leads::Elsewhere(ior) => ("context of another server".to_owned(), place(naming, ior)),
            _ => ("not readable".to_owned(), String::new()),
        };
        Self {
            name: below(name, &entry.component),
            is_context: matches!(entry.leads, Leads::Context(Some(_))),
            is_shown: shown == Some(&component),
            component,
            what,
            at,
            answer: Mark::of(naming, &entry.leads),
        }
    }
}

/// Returns the interface name from a reference's type id, such as `acme.example/Plant/Pump`.
fn interface(ior: &Ior) -> String {
    if ior.is_nil() {
        return "nil".to_owned();
    }
    let id = ior.type_id.strip_prefix("IDL:").unwrap_or(&ior.type_id);
    let id = id.strip_suffix(":1.0").unwrap_or(id);
    match id {
        "" => "an object".to_owned(),
        id => id.to_owned(),
    }
}

fn endpoints(naming: &NamingPage, ior: &Ior) -> Vec<String> {
    let endpoints = endpoints_of(&naming.orb, ior);
    let text = |one: &punctual::protocol::ProfileEndpoint| {
        format!("{}://{}", one.protocol, one.address.place())
    };
    endpoints.iter().map(text).collect()
}

/// Returns the first of an object's endpoints, and the number of further ones.
fn place(naming: &NamingPage, ior: &Ior) -> String {
    let endpoints = endpoints(naming, ior);
    match (endpoints.first(), endpoints.len()) {
        (None, _) => String::new(),
        (Some(one), 1) => one.clone(),
        (Some(one), count) => format!("{one} and {} more", count - 1),
    }
}

impl Mark {
    fn of(naming: &NamingPage, leads: &Leads) -> Self {
        let ior = match leads {
            Leads::Object(ior) | Leads::Elsewhere(ior) => ior,
            Leads::Context(None) => return Self::new("dead", "does not exist", String::new()),
            _ => return Self::new("none", "", String::new()),
        };
        match naming.answers.of(ior) {
            State::Known(Answer::Alive) => Self::new("alive", "answers", String::new()),
            State::Known(Answer::Dead) => Self::new("dead", "does not exist", String::new()),
            State::Known(Answer::Unreachable(why)) => Self::new("away", "unreachable", why),
            State::Waits => Self::new("waits", "asking", String::new()),
            State::NotAsked(why) => Self::new("none", "not asked", why.to_owned()),
        }
    }

    fn new(class: &'static str, text: &'static str, why: String) -> Self {
        Self { class, text, why }
    }
}

impl Detail {
    fn of(naming: &NamingPage, name: &[NameComponent], entry: &Entry) -> Self {
        let ior = match &entry.leads {
            Leads::Object(ior) | Leads::Elsewhere(ior) => Some(ior),
            _ => None,
        };
        Self {
            component: one(&entry.component),
            name: below(name, &entry.component),
            answer: Mark::of(naming, &entry.leads),
            facts: ior.map(Facts::of_ior),
            ior: ior.map(ToString::to_string).unwrap_or_default(),
            endpoints: ior.map(|ior| endpoints(naming, ior)).unwrap_or_default(),
        }
    }
}
