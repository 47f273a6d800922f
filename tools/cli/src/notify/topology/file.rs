//! Form of the file.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// Whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) channel: BTreeMap<String, Channel>,
}

/// Properties by name.
pub(super) type Properties = BTreeMap<String, Spanned<toml::Value>>;

/// Table `[channel.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Channel {
    #[serde(default)]
    pub(super) quality: Properties,
    #[serde(default)]
    pub(super) administration: Properties,
    #[serde(default)]
    pub(super) consumers: BTreeMap<Spanned<String>, Admin>,
    #[serde(default)]
    pub(super) suppliers: BTreeMap<Spanned<String>, Admin>,
}

/// Table `[channel.NAME.consumers.NAME]` or `[channel.NAME.suppliers.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Admin {
    pub(super) operator: Option<Spanned<Operator>>,
    #[serde(default)]
    pub(super) quality: Properties,
    /// Without it, all types.
    pub(super) types: Option<Vec<Type>>,
    #[serde(default)]
    pub(super) filters: Vec<Filter>,
    #[serde(default)]
    pub(super) proxies: Vec<Proxy>,
}

/// Value of the key `operator`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Operator {
    And,
    Or,
}

/// Table of the key `proxies`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Proxy {
    pub(super) kind: Spanned<String>,
    pub(super) client: Spanned<String>,
    #[serde(default)]
    pub(super) quality: Properties,
    pub(super) types: Option<Vec<Type>>,
    #[serde(default)]
    pub(super) filters: Vec<Filter>,
}

/// Type of events.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Type {
    pub(super) domain: String,
    #[serde(rename = "type")]
    pub(super) name: String,
}

/// Table of the key `filters`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Filter {
    pub(super) grammar: Spanned<String>,
    #[serde(default)]
    pub(super) constraints: Vec<Constraint>,
}

/// Constraint of a filter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Constraint {
    #[serde(default)]
    pub(super) types: Vec<Type>,
    pub(super) text: Spanned<String>,
}

/// What clients state at an administrator or a proxy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stated<'f> {
    pub(super) quality: &'f Properties,
    pub(super) types: Option<&'f [Type]>,
    pub(super) filters: &'f [Filter],
}

impl Admin {
    pub(super) fn stated(&self) -> Stated<'_> {
        Stated {
            quality: &self.quality,
            types: self.types.as_deref(),
            filters: &self.filters,
        }
    }
}

impl Proxy {
    pub(super) fn stated(&self) -> Stated<'_> {
        Stated {
            quality: &self.quality,
            types: self.types.as_deref(),
            filters: &self.filters,
        }
    }
}

impl Channel {
    /// Returns the administrators of a side, by name.
    pub(super) fn admins(&self, side: super::Side) -> &BTreeMap<Spanned<String>, Admin> {
        match side {
            super::Side::Consumers => &self.consumers,
            super::Side::Suppliers => &self.suppliers,
        }
    }
}
