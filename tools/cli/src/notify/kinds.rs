//! Kinds of proxies, and their names.

use punctual_notification::cos_notify_channel_admin::ProxyType;

/// Form in which a client has events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Any,
    Structured,
    Sequence,
}

/// Kind of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) form: Form,
    pub(super) is_push: bool,
    pub(super) proxy_type: ProxyType,
}

/// Kinds that are not typed.
const ALL: [Kind; 6] = [
    of(Form::Any, true, ProxyType::PushAny),
    of(Form::Any, false, ProxyType::PullAny),
    of(Form::Structured, true, ProxyType::PushStructured),
    of(Form::Structured, false, ProxyType::PullStructured),
    of(Form::Sequence, true, ProxyType::PushSequence),
    of(Form::Sequence, false, ProxyType::PullSequence),
];

const fn of(form: Form, is_push: bool, proxy_type: ProxyType) -> Kind {
    Kind {
        form,
        is_push,
        proxy_type,
    }
}

/// Returns the name of a type of proxies.
pub(super) const fn name(kind: ProxyType) -> &'static str {
    match kind {
        ProxyType::PushAny => "push any",
        ProxyType::PullAny => "pull any",
        ProxyType::PushStructured => "push structured",
        ProxyType::PullStructured => "pull structured",
        ProxyType::PushSequence => "push sequence",
        ProxyType::PullSequence => "pull sequence",
        ProxyType::PushTyped => "push typed",
        ProxyType::PullTyped => "pull typed",
    }
}

/// Returns the kind with a name.
pub(super) fn named(text: &str) -> Option<Kind> {
    ALL.into_iter().find(|kind| name(kind.proxy_type) == text)
}

/// Returns the names of all kinds, with commas between.
pub(super) fn names() -> String {
    ALL.map(|kind| name(kind.proxy_type)).join(", ")
}
