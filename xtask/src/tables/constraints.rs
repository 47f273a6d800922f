//! Required rows of the table of the constraint languages.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/constraints.md",
    interfaces: &[],
    others: &[OPERATORS, LITERALS, COMPONENTS, VARIABLES],
};

/// Operators of the extended Trader Constraint Language (Notification Service 1.1, §2.4.3).
const OPERATORS: &[&str] = &[
    "or", "and", "not", "==", "!=", "<", "<=", ">", ">=", "in", "~", "+", "-", "*", "/", "unary +",
    "unary -", "exist", "default", "( )",
];

const LITERALS: &[&str] = &["12", "1.5e3", "'text'", "TRUE", "FALSE"];

/// Begins of components, and steps from a value to a part of it.
const COMPONENTS: &[&str] = &[
    "$",
    "$name",
    "name",
    ".name",
    ".1",
    "[1]",
    "(name)",
    ".(1)",
    ".('label')",
    ".()",
    "._length",
    "._d",
    "._type_id",
    "._repos_id",
    "\\name",
];

const VARIABLES: &[&str] = &["$curtime", "$domain_name", "$type_name", "$event_name"];
