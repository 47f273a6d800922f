//! Path of an interface's reference, which depends on whether the interface is abstract.

use proc_macro2::TokenStream;
use punctual_idl::model::{DeclKind, Declaration, InterfaceFlavour};

use crate::names::Companion;
use crate::scope::Scope;

/// Generates the path of an interface's reference.
pub(super) fn reference_path(scope: &Scope<'_>, interface: &Declaration) -> TokenStream {
    match is_abstract(interface) {
        true => scope.companion(interface, Companion::Object),
        false => scope.path(interface),
    }
}

/// Returns whether the interface is abstract, so that its name may stand for a value, too.
pub(super) fn is_abstract(interface: &Declaration) -> bool {
    matches!(&interface.kind,
        DeclKind::Interface(i) if i.flavour == InterfaceFlavour::Abstract)
}
