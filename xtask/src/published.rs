//! Check, as part of `cargo xtask layers`, that crates can be published: they have the data that a
//! registry shows, and depend only on such crates.

use crate::run::{Result, packages};
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Clone, Deserialize)]
struct Package {
    name: String,
    /// Registries to which the crate may be published; an empty list for `publish = false`.
    publish: Option<Vec<String>>,
    description: Option<String>,
    license: Option<String>,
    readme: Option<String>,
    repository: Option<String>,
    rust_version: Option<String>,
    keywords: Vec<String>,
    categories: Vec<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Clone, Deserialize)]
struct Dependency {
    name: String,
    req: String,
    kind: Option<String>,
    path: Option<String>,
}

impl Package {
    fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|to| !to.is_empty())
    }
}

impl Dependency {
    /// Returns whether the dependency is part of the published crate: cargo leaves out dependencies
    /// within the workspace that only tests need.
    fn travels(&self) -> bool {
        self.path.is_some() && (self.kind.as_deref() != Some("dev") || self.req != "*")
    }
}

/// Returns the names of the crates that are published.
pub(crate) fn names() -> Result<Vec<String>> {
    let packages: Vec<Package> = packages()?;
    let published = packages.into_iter().filter(Package::is_published);
    Ok(published.map(|package| package.name).collect())
}

pub(crate) fn check() -> Result<()> {
    let packages: Vec<Package> = packages()?;
    let mistakes = mistakes(&packages);
    if !mistakes.is_empty() {
        return Err(format!(
            "crates are not fit for being published:\n  {}",
            mistakes.join("\n  ")
        ));
    }
    let published = packages.iter().filter(|one| one.is_published());
    println!(
        "layers: {} crates are fit for being published",
        published.count()
    );
    Ok(())
}

fn mistakes(packages: &[Package]) -> Vec<String> {
    let (published, kept): (Vec<&Package>, Vec<&Package>) =
        packages.iter().partition(|one| one.is_published());
    let kept: BTreeSet<&str> = kept.iter().map(|one| one.name.as_str()).collect();
    let mut mistakes = Vec::new();
    for package in &published {
        let name = &package.name;
        mistakes.extend(missing(package).map(|what| format!("`{name}` has no {what}")));
        if package.repository.is_some() != published[0].repository.is_some() {
            mistakes.push(format!("`{name}`: all crates name the repository, or none"));
        }
        for dependency in package.dependencies.iter().filter(|one| one.travels()) {
            let other = &dependency.name;
            if kept.contains(other.as_str()) {
                mistakes.push(format!(
                    "`{name}` depends on `{other}`, which is not published"
                ));
            } else if dependency.req == "*" {
                mistakes.push(format!("`{name}` depends on no version of `{other}`"));
            }
        }
    }
    mistakes.extend(without_order(&published));
    mistakes
}

/// Returns the names of the fields in a crate's manifest that a registry shows and that are
/// missing.
fn missing(package: &Package) -> impl Iterator<Item = &'static str> {
    let has_text = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    [
        ("description", has_text(&package.description)),
        ("licence", has_text(&package.license)),
        ("readme", has_text(&package.readme)),
        ("rust-version", has_text(&package.rust_version)),
        // The maximum of crates.io.
        (
            "keywords (1 to 5)",
            (1..=5).contains(&package.keywords.len()),
        ),
        (
            "categories (1 to 5)",
            (1..=5).contains(&package.categories.len()),
        ),
    ]
    .into_iter()
    .filter_map(|(what, is_there)| (!is_there).then_some(what))
}

/// Returns the crates that cannot be published after all their dependencies, since they are on a
/// dependency cycle or depend on one.
fn without_order(published: &[&Package]) -> Vec<String> {
    let mut left = published.to_vec();
    loop {
        let waiting: BTreeSet<&str> = left.iter().map(|one| one.name.as_str()).collect();
        let can_go = |package: &&Package| {
            let mut travelling = package.dependencies.iter().filter(|one| one.travels());
            !travelling.any(|one| waiting.contains(one.name.as_str()))
        };
        let (gone, stays): (Vec<&Package>, Vec<&Package>) = left.iter().copied().partition(can_go);
        if gone.is_empty() {
            let name = |package: &&Package| {
                format!(
                    "`{}` cannot be published before what it depends on",
                    package.name
                )
            };
            return stays.iter().map(name).collect();
        }
        left = stays;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, &str, Option<&str>)]) -> Package {
        let some = || Some("something".to_owned());
        let dependency = |(name, req, kind): &(&str, &str, Option<&str>)| Dependency {
            name: (*name).to_owned(),
            req: (*req).to_owned(),
            kind: kind.map(str::to_owned),
            path: some(),
        };
        Package {
            name: name.to_owned(),
            publish: None,
            description: some(),
            license: some(),
            readme: some(),
            repository: None,
            rust_version: some(),
            keywords: vec!["corba".to_owned()],
            categories: vec!["network-programming".to_owned()],
            dependencies: dependencies.iter().map(dependency).collect(),
        }
    }

    #[test]
    fn what_a_registry_shows_is_named_where_it_is_missing() {
        let mut bare = package("a", &[]);
        bare.description = Some(String::new());
        bare.keywords.clear();
        assert_eq!(
            mistakes(&[bare.clone()]),
            ["`a` has no description", "`a` has no keywords (1 to 5)"]
        );
        bare.publish = Some(Vec::new());
        assert!(mistakes(&[bare]).is_empty());
    }

    #[test]
    fn a_published_crate_depends_on_versions_of_published_ones() {
        let mut kept = package("kept", &[]);
        kept.publish = Some(Vec::new());
        let all = [
            package("a", &[("kept", "*", None), ("b", "*", Some("build"))]),
            package("b", &[("kept", "*", Some("dev"))]),
            kept,
        ];
        assert_eq!(
            mistakes(&all),
            [
                "`a` depends on `kept`, which is not published",
                "`a` depends on no version of `b`"
            ]
        );
    }

    #[test]
    fn cycles_by_tests_with_versions_are_refused() {
        let all = [
            package("a", &[("b", "^1", None)]),
            package("b", &[("a", "^1", Some("dev"))]),
            package("c", &[]),
        ];
        assert_eq!(mistakes(&all).len(), 2);
        let mended = [
            package("a", &[("b", "^1", None)]),
            package("b", &[("a", "*", Some("dev"))]),
        ];
        assert!(mistakes(&mended).is_empty());
    }
}
