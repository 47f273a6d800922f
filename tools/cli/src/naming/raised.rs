//! User exceptions of naming contexts: as an error with a next step, and as JSON in the form of `punctual call`.

use super::names::{ON_NAMES, text};
use crate::call::Problem;
use punctual::OperationError;
use punctual_naming::cos_naming::naming_context::{CannotProceed, NotFound, NotFoundReason};
use punctual_naming::cos_naming::{self, NameComponent};
use punctual_naming::extension;
use serde_json::{Value, json};

/// Error of an operation of naming contexts.
pub(in crate::naming) trait Raised: OperationError {
    /// Returns the user exception; `None` if it is a system exception.
    fn user(&self) -> Option<UserException<'_>>;
}

/// User exception of a naming context.
pub(in crate::naming) enum UserException<'e> {
    NotFound(&'e NotFound),
    CannotProceed(&'e CannotProceed),
    /// Exception without members.
    Plain(Plain),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::naming) enum Plain {
    InvalidName,
    AlreadyBound,
    NotEmpty,
}

macro_rules! raised {
    ($($error:path: $($exception:ident)*;)*) => {
        $(
            impl Raised for $error {
                fn user(&self) -> Option<UserException<'_>> {
                    match self {
                        $(Self::$exception(raised!(@pattern it $exception)) => Some(raised!(@made it $exception)),)*
                        Self::System(_) => None,
                    }
                }
            }
        )*
    };
    (@pattern $it:ident NotFound) => { $it };
    (@made $it:ident NotFound) => { UserException::NotFound($it) };
    (@pattern $it:ident CannotProceed) => { $it };
    (@made $it:ident CannotProceed) => { UserException::CannotProceed($it) };
    (@pattern $it:ident $other:ident) => { _ };
    (@made $it:ident $other:ident) => { UserException::Plain(Plain::$other) };
}

raised! {
    cos_naming::NamingContextBindError: NotFound CannotProceed InvalidName AlreadyBound;
    cos_naming::NamingContextRebindError: NotFound CannotProceed InvalidName;
    cos_naming::NamingContextBindContextError: NotFound CannotProceed InvalidName AlreadyBound;
    cos_naming::NamingContextRebindContextError: NotFound CannotProceed InvalidName;
    cos_naming::NamingContextResolveError: NotFound CannotProceed InvalidName;
    cos_naming::NamingContextUnbindError: NotFound CannotProceed InvalidName;
    cos_naming::NamingContextBindNewContextError: NotFound CannotProceed InvalidName AlreadyBound;
    cos_naming::NamingContextDestroyError: NotEmpty;
    extension::ExtendedContextBindForError: NotFound CannotProceed InvalidName AlreadyBound;
    extension::ExtendedContextAboutError: NotFound CannotProceed InvalidName;
    extension::ExtendedContextBindGroupError: NotFound CannotProceed InvalidName AlreadyBound;
    extension::ExtendedContextJoinError: NotFound CannotProceed InvalidName;
    extension::ExtendedContextLeaveError: NotFound CannotProceed InvalidName;
    extension::ExtendedContextReportError: NotFound CannotProceed InvalidName;
    extension::ExtendedContextMembersError: NotFound CannotProceed InvalidName;
}

impl UserException<'_> {
    /// Returns the problem of an operation on a name that raised this.
    pub(in crate::naming) fn problem(&self, name: &str) -> Problem {
        let (message, help) = self.explained(name);
        Problem::Raised {
            message: format!("`{name}`: {message}"),
            help,
            json: self.json().to_string(),
        }
    }

    /// Returns what is wrong, and the next step.
    fn explained(&self, name: &str) -> (String, String) {
        match self {
            Self::NotFound(it) => {
                let rest = text(&it.rest_of_name);
                let (why, what) = reason(it.why);
                let list = list_command(&context_before(name, &rest));
                let message = format!("NotFound ({why}): {what} `{rest}`");
                (message, format!("`{list}` shows what is bound there"))
            }
            Self::CannotProceed(it) => (
                format!(
                    "CannotProceed: the server does not go on from `{}`",
                    text(&it.rest_of_name)
                ),
                "the name leads to a context of another server: name that context with --service"
                    .to_owned(),
            ),
            Self::Plain(Plain::InvalidName) => (
                "InvalidName: the server does not take such a name".to_owned(),
                format!("{ON_NAMES}; a server may limit the length and the number of components"),
            ),
            Self::Plain(Plain::AlreadyBound) => {
                let parent = name.rsplit_once('/').map_or("", |(parent, _)| parent);
                let list = list_command(parent);
                (
                    "AlreadyBound: something has this name already".to_owned(),
                    format!(
                        "`{list}` shows it; `punctual naming rebind` replaces the binding of an object, `unbind` removes any"
                    ),
                )
            }
            Self::Plain(Plain::NotEmpty) => (
                "NotEmpty: the context has bindings".to_owned(),
                format!("`{}` shows them: unbind these first", list_command(name)),
            ),
        }
    }

    /// Returns the exception as `punctual call` shows it.
    fn json(&self) -> Value {
        let (exception, members) = match self {
            Self::NotFound(it) => {
                let (why, _) = reason(it.why);
                let rest = components(&it.rest_of_name);
                ("NotFound", json!({ "why": why, "rest_of_name": rest }))
            }
            Self::CannotProceed(it) => (
                "CannotProceed",
                json!({ "rest_of_name": components(&it.rest_of_name) }),
            ),
            Self::Plain(Plain::InvalidName) => ("InvalidName", json!({})),
            Self::Plain(Plain::AlreadyBound) => ("AlreadyBound", json!({})),
            Self::Plain(Plain::NotEmpty) => ("NotEmpty", json!({})),
        };
        json!({
            "exception": format!("CosNaming::NamingContext::{exception}"),
            "id": format!("IDL:omg.org/CosNaming/NamingContext/{exception}:1.0"),
            "members": members,
        })
    }
}

/// Returns the name of a reason in IDL, and its meaning.
fn reason(why: NotFoundReason) -> (&'static str, &'static str) {
    match why {
        NotFoundReason::MissingNode => ("missing_node", "nothing has the name"),
        NotFoundReason::NotContext => ("not_context", "no context is at"),
        NotFoundReason::NotObject => ("not_object", "a context is at"),
    }
}

fn components(name: &[NameComponent]) -> Value {
    let components = name.iter();
    components
        .map(|one| json!({ "id": one.id, "kind": one.kind }))
        .collect()
}

/// Returns the part of a name before its end `rest`; the whole name if it does not end so.
fn context_before(name: &str, rest: &str) -> String {
    let before = name.strip_suffix(rest).unwrap_or(name);
    before.trim_end_matches('/').to_owned()
}

fn list_command(context: &str) -> String {
    match context {
        "" => "punctual naming list".to_owned(),
        context => format!("punctual naming list {context}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_before_the_rest_is_listed() {
        assert_eq!(context_before("plants/x/y", "x/y"), "plants");
        assert_eq!(context_before("x", "x"), "");
        assert_eq!(list_command(""), "punctual naming list");
        assert_eq!(list_command("plants"), "punctual naming list plants");
    }
}
