//! The page of names: contexts as a tree, the bindings of one of them, what their references say and whether they answer.
//!
//! | path | |
//! |---|---|
//! | `GET /naming?in=NAME&from=COMPONENT&show=COMPONENT` | the context of that name, its bindings from a component on, and what one of them leads to |
//! | `GET /naming/live?in=NAME&from=COMPONENT` | `changed`, each time that some of that has changed |
//! | `POST /naming/bind`, `/naming/context`, `/naming/unbind` | changes, where the peer may |

mod change;
mod stream;
mod tree;
mod view;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use punctual::Orb;
use punctual_naming::cos_naming::{Name, NameComponent};
use punctual_naming::{Directory, Observer, Refusal};
use serde::Deserialize;

use crate::answers::Answers;
use crate::app::{App, Ends};
use crate::layout;
use crate::live::Live;

use view::Look;

/// A naming service as the console shows it.
#[derive(Clone, Debug)]
pub struct Naming {
    /// Its names.
    pub directory: Directory,
    /// The ORB that objects are asked by.
    pub orb: Orb,
    /// Whether objects are asked if they answer. That has this process connect wherever references say that are bound.
    pub asks: bool,
}

/// What the page's handlers share.
#[derive(Debug)]
pub(crate) struct NamingPage {
    directory: Directory,
    orb: Orb,
    answers: Arc<Answers>,
    live: Arc<Live>,
}

/// Which part of the names is shown.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Place {
    /// The context's name, as text.
    #[serde(rename = "in")]
    context: String,
    /// The component that the first binding has, or is before it.
    from: Option<String>,
    /// The component of the binding that is shown in full.
    show: Option<String>,
    /// What has been done by the request before.
    done: Option<String>,
}

impl NamingPage {
    pub(crate) fn new(
        directory: Directory,
        orb: Orb,
        answers: Arc<Answers>,
        live: Arc<Live>,
    ) -> Self {
        let observer: Arc<dyn Observer> = live.clone();
        directory.observe(&observer);
        Self {
            directory,
            orb,
            answers,
            live,
        }
    }
}

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/naming", get(show))
        .route("/naming/live", get(stream::live))
        .route("/naming/bind", post(change::bind))
        .route("/naming/context", post(change::new_context))
        .route("/naming/unbind", post(change::unbind))
}

async fn show(
    State(app): State<Arc<App>>,
    Extension(ends): Extension<Ends>,
    Query(place): Query<Place>,
) -> Response {
    let look = Look::at(&app, &place, ends.peer.ip());
    layout::page(look.status(), &look.page(&app))
}

/// The status that tells a refusal.
fn status_of(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::NotPermitted | Refusal::Root => StatusCode::FORBIDDEN,
        Refusal::NotFound { .. } | Refusal::NoSuchContext | Refusal::Elsewhere { .. } => {
            StatusCode::NOT_FOUND
        }
        Refusal::InvalidName(_) | Refusal::NilContext => StatusCode::BAD_REQUEST,
        Refusal::AlreadyBound | Refusal::NotEmpty => StatusCode::CONFLICT,
        Refusal::LimitExceeded(_) => StatusCode::INSUFFICIENT_STORAGE,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The name that a text stands for; the empty text is the root.
fn name_of(text: &str) -> Result<Name, Refusal> {
    if text.is_empty() {
        return Ok(Name::new());
    }
    let name = punctual_ior::name_from_text(text);
    let name = name
        .map_err(|_| Refusal::InvalidName("id.kind components with slashes between are wanted"))?;
    let component = |one: punctual_ior::NameComponent| NameComponent {
        id: one.id,
        kind: one.kind,
    };
    Ok(name.into_iter().map(component).collect())
}

/// A name as text.
fn text_of(name: &[NameComponent]) -> String {
    punctual_ior::name_to_text(name.iter().map(|one| (one.id.as_str(), one.kind.as_str())))
}

/// The component that a text stands for.
fn component_of(text: &str) -> Result<NameComponent, Refusal> {
    let mut name = name_of(text)?;
    match (name.pop(), name.is_empty()) {
        (Some(one), true) => Ok(one),
        _ => Err(Refusal::InvalidName("one component is wanted")),
    }
}
