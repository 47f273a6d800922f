//! Required rows of the table of multicast groups.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/miop.md",
    interfaces: &[(
        "GOA",
        &[
            "create_id_for_reference",
            "reference_to_ids",
            "associate_reference_with_id",
            "disassociate_reference_with_id",
        ],
    )],
    others: &[&["NotAGroupObject"]],
};
