//! Names of contexts and bindings in requests.

use axum::http::StatusCode;
use punctual_naming::Refusal;
use punctual_naming::cos_naming::{Name, NameComponent};
use serde::Deserialize;

/// Query of a request: the part of the names that is displayed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Selection {
    /// Stringified name of the displayed naming context.
    #[serde(rename = "in")]
    pub(super) context: String,
    /// Component at which the displayed bindings begin; it need not exist.
    pub(super) from: Option<String>,
    /// Component of the binding that is shown in full.
    pub(super) show: Option<String>,
    /// Change that the previous request made, to be reported on the page.
    pub(super) done: Option<String>,
}

/// Returns the HTTP status for a refused naming operation.
pub(super) fn status_of(refusal: &Refusal) -> StatusCode {
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

/// Parses a text as a name; the empty text is the root.
pub(super) fn name_of(text: &str) -> Result<Name, Refusal> {
    if text.is_empty() {
        return Ok(Name::new());
    }
    let name = punctual_ior::name_from_text(text);
    let name = name
        .map_err(|_| Refusal::InvalidName("expected components id.kind, separated by slashes"))?;
    let component = |one: punctual_ior::NameComponent| NameComponent {
        id: one.id,
        kind: one.kind,
    };
    Ok(name.into_iter().map(component).collect())
}

/// Returns a name in its stringified form.
pub(super) fn text_of(name: &[NameComponent]) -> String {
    punctual_ior::name_to_text(name.iter().map(|one| (one.id.as_str(), one.kind.as_str())))
}

/// Parses the stringified form of a single name component.
pub(super) fn component_of(text: &str) -> Result<NameComponent, Refusal> {
    let mut name = name_of(text)?;
    match (name.pop(), name.is_empty()) {
        (Some(one), true) => Ok(one),
        _ => Err(Refusal::InvalidName("expected one component")),
    }
}
