//! Changes requested by forms. The service checks permissions by the peer's address.

use std::net::IpAddr;
use std::sync::Arc;

use askama::Template;
use axum::extract::rejection::FormRejection;
use axum::extract::{Extension, Form, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use punctual_ior::{Corbaloc, Ior};
use punctual_naming::cos_naming::Name;
use punctual_naming::{Directory, Refusal};
use serde::Deserialize;

use super::names::{Selection, component_of, name_of, status_of};
use super::state::NamingPage;
use super::view::{self, PageState};
use crate::ends::ConnectionAddresses;
use crate::layout;

/// Fields of the forms by which a browser requests changes of names.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Fields {
    token: String,
    /// Name of the context that the page with the form shows.
    #[serde(rename = "in")]
    context: String,
    /// Name to be changed, relative to the context that the page shows.
    name: String,
    reference: String,
    /// Present if an existing binding is to be replaced.
    replaces: Option<String>,
    /// Present if the context that the name is bound to is to be destroyed, too.
    destroy: Option<String>,
}

impl Fields {
    /// Returns the name to be changed, starting from the root context.
    fn whole_name(&self) -> Result<Name, Refusal> {
        let mut name = name_of(&self.context)?;
        name.extend(name_of(self.name.trim())?);
        Ok(name)
    }
}

type Filled = Result<Form<Fields>, FormRejection>;

/// Reason why a requested change of names was not made.
enum Wrong {
    Refused(Refusal),
    Reference(String),
}

impl From<Refusal> for Wrong {
    fn from(refusal: Refusal) -> Self {
        Wrong::Refused(refusal)
    }
}

pub(super) async fn bind(
    State(page): State<Arc<NamingPage>>,
    Extension(ends): Extension<ConnectionAddresses>,
    filled: Filled,
) -> Response {
    changed(page, ends, filled, |directory, fields, by| {
        let name = fields.whole_name()?;
        let object = object_of(fields.reference.trim()).map_err(Wrong::Reference)?;
        directory.bind(name, &object, fields.replaces.is_some(), by)?;
        Ok("bound")
    })
    .await
}

pub(super) async fn new_context(
    State(page): State<Arc<NamingPage>>,
    Extension(ends): Extension<ConnectionAddresses>,
    filled: Filled,
) -> Response {
    changed(page, ends, filled, |directory, fields, by| {
        let name = fields.whole_name()?;
        directory.bind_new_context(name, by)?;
        Ok("made")
    })
    .await
}

pub(super) async fn unbind(
    State(page): State<Arc<NamingPage>>,
    Extension(ends): Extension<ConnectionAddresses>,
    filled: Filled,
) -> Response {
    changed(page, ends, filled, |directory, fields, by| {
        let mut name = name_of(&fields.context)?;
        name.push(component_of(&fields.name)?);
        let destroys = fields.destroy.is_some();
        if destroys {
            directory.destroy(&name, by)?;
        }
        directory.unbind(name, by)?;
        Ok(if destroys { "destroyed" } else { "unbound" })
    })
    .await
}

/// Performs a form's change, on a thread for blocking work, and redirects to the page.
async fn changed(
    page: Arc<NamingPage>,
    ends: ConnectionAddresses,
    filled: Filled,
    change: impl FnOnce(&Directory, &Fields, IpAddr) -> Result<&'static str, Wrong> + Send + 'static,
) -> Response {
    let fields = match filled {
        Ok(Form(fields)) => fields,
        Err(rejection) => {
            return page
                .shell
                .problem(rejection.status(), &rejection.body_text());
        }
    };
    if !page.shell.guard.is_token(&fields.token) {
        let why = "The form is not from this server, or the server was restarted since. Go back, and load the page again.";
        return page.shell.problem(StatusCode::FORBIDDEN, why);
    }
    let Ok(place) = page.shell.changes.clone().acquire_owned().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (directory, by) = (page.directory.clone(), ends.peer.ip());
    let work = tokio::task::spawn_blocking(move || {
        let done = change(&directory, &fields, by);
        drop(place);
        (done, fields)
    });
    let Ok((done, fields)) = work.await else {
        return page.shell.problem(
            StatusCode::INTERNAL_SERVER_ERROR,
            "It failed; the log says why.",
        );
    };
    let wrong = match done {
        Ok(what) => {
            tracing::info!("{by} has {what} `{}` in `{}`", fields.name, fields.context);
            return back(&fields.context, what);
        }
        Err(wrong) => wrong,
    };
    let (status, why) = match wrong {
        Wrong::Refused(refusal @ Refusal::NotPermitted) => (
            status_of(&refusal),
            format!("{by} may not change this context."),
        ),
        Wrong::Refused(refusal) => (status_of(&refusal), sentence(&refusal.to_string())),
        Wrong::Reference(why) => (StatusCode::BAD_REQUEST, sentence(&why)),
    };
    let is_bind = !fields.reference.is_empty();
    let place = Selection {
        context: fields.context,
        ..Selection::default()
    };
    let form = view::Form {
        bind: if is_bind {
            fields.name.clone()
        } else {
            String::new()
        },
        context: if is_bind { String::new() } else { fields.name },
        reference: fields.reference,
    };
    let look = PageState::at(&page, &place, by).refused(status, why, form);
    layout::page(status, &look.page(&page))
}

#[derive(Template)]
#[template(
    source = "/naming?in={{ context|urlencode_strict }}&done={{ what }}",
    ext = "txt"
)]
struct Back<'b> {
    context: &'b str,
    what: &'b str,
}

fn back(context: &str, what: &str) -> Response {
    match (Back { context, what }).render() {
        Ok(location) => Redirect::to(&location).into_response(),
        Err(_) => Redirect::to("/naming").into_response(),
    }
}

/// Returns the object that a text denotes. The text must be the reference itself: files and names
/// are not read on behalf of a peer.
fn object_of(text: &str) -> Result<Ior, String> {
    if text == "nil" {
        return Ok(Ior::nil());
    }
    let has_scheme = |scheme: &str| {
        text.get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    if has_scheme("ior:") {
        return text
            .parse::<Ior>()
            .map_err(|error| format!("the reference: {error}"));
    }
    if has_scheme("corbaloc:") {
        let at = text.parse::<Corbaloc>();
        let at = at.map_err(|error| format!("the reference: {error}"))?;
        let ior = at
            .to_ior()
            .map_err(|error| format!("the reference: {error}"))?;
        return ior.ok_or_else(|| {
            "an initial reference (`rir`) is another one in each process".to_owned()
        });
    }
    Err("a reference begins with `IOR:` or `corbaloc:`, or is `nil`".to_owned())
}

/// Returns the text with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
