//! Claims of the papers, each with the way to find what becomes of it here.

mod arulanthu_2000;
mod gokhale_1998;
mod oryan_2001;
mod schmidt_2000;
mod schmidt_2001;

use super::claim::Claim;

/// Returns all claims, by paper.
pub(super) fn all() -> impl Iterator<Item = &'static Claim> {
    let papers = [
        schmidt_2001::CLAIMS,
        gokhale_1998::CLAIMS,
        arulanthu_2000::CLAIMS,
        schmidt_2000::CLAIMS,
        oryan_2001::CLAIMS,
    ];
    papers.into_iter().flatten()
}
