//! `cargo xtask complexity`: McCabe's cyclomatic complexity of the functions, by folder.
//!
//! A function has one path, and one more for each decision: `if`, `while`, `for`, each arm of a `match` but one, `&&`,
//! `||`, `let … else`, a guard, and `?`, which returns early. Closures belong to the function that they stand in. Tests do not count, where
//! `#[test]` or `#[cfg(test)]` says that they are; what stands in a macro is not seen.

use crate::machine::Machine;
use crate::run::Result;
use crate::sources;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block};

/// Options of `cargo xtask complexity`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Also print so many functions with the most paths.
    #[arg(long, default_value_t = 10, value_name = "NUMBER")]
    worst: usize,
}

/// Bound below which McCabe, and the papers' comparison, call a function simple.
const SIMPLE: usize = 10;

/// Function and its number of paths.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Function {
    paths: usize,
    name: String,
    file: String,
}

/// Distribution of the functions of a folder.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Distribution {
    folder: String,
    functions: usize,
    mean: f64,
    median: usize,
    /// 99th percentile.
    p99: usize,
    most: usize,
    /// Numbers of functions with 1 path, 2 to 5, 6 to 9, 10 to 20, and more.
    bands: [usize; 5],
    /// Percentage of functions with fewer than ten paths.
    simple_percent: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    machine: Machine,
    rows: Vec<Distribution>,
    worst: Vec<Function>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut folders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut all = Vec::new();
    for (path, text) in sources::of_the_product()? {
        if of_tests(&path) {
            continue;
        }
        let found = functions(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let folder = folder(&path);
        for (name, paths) in found {
            folders.entry(folder.clone()).or_default().push(paths);
            folders.entry("all".to_owned()).or_default().push(paths);
            all.push(Function {
                paths,
                name,
                file: path.display().to_string(),
            });
        }
    }
    all.sort_by(|one, other| (other.paths, &one.file).cmp(&(one.paths, &other.file)));
    all.truncate(options.worst);
    let rows = folders.into_iter();
    let report = Report {
        machine: Machine::this(),
        rows: rows
            .map(|(name, paths)| distribution(name, paths))
            .collect(),
        worst: all,
    };
    match options.json {
        true => {
            let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
            println!("{text}");
        }
        false => print(&report),
    }
    Ok(())
}

fn print(report: &Report) {
    println!(
        "{:24} {:>9} {:>5} {:>6} {:>4} {:>5}  {:>6} {:>6} {:>6} {:>6} {:>6}  < {SIMPLE}",
        "folder", "functions", "mean", "median", "p99", "most", "1", "2–5", "6–9", "10–20", "more"
    );
    for row in &report.rows {
        let [one, few, some, many, more] = row.bands;
        println!(
            "{:24} {:9} {:5.1} {:6} {:4} {:5}  {one:6} {few:6} {some:6} {many:6} {more:6}  {:.1} %",
            row.folder, row.functions, row.mean, row.median, row.p99, row.most, row.simple_percent
        );
    }
    println!();
    for one in &report.worst {
        println!("{:4} {} ({})", one.paths, one.name, one.file);
    }
}

fn of_tests(path: &Path) -> bool {
    path.iter()
        .any(|part| part == "tests" || part == "tests.rs")
}

/// Returns the folder in which a file is counted: `crates/orb/poa`, `services/naming`.
fn folder(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let depth = match parts.first().map(|first| &**first) {
        Some("crates") => 3,
        _ => 2,
    };
    parts[..depth.min(parts.len())].join("/")
}

#[allow(clippy::cast_precision_loss)]
fn distribution(folder: String, mut paths: Vec<usize>) -> Distribution {
    paths.sort_unstable();
    let count = |from: usize, below: usize| {
        let within = |paths: &&usize| (from..below).contains(*paths);
        paths.iter().filter(within).count()
    };
    let functions = paths.len();
    let at =
        |percent: usize| paths.get((functions * percent / 100).min(functions.saturating_sub(1)));
    let at = |percent| at(percent).copied().unwrap_or(0);
    let share = |part: usize| part as f64 / functions.max(1) as f64;
    Distribution {
        folder,
        functions,
        mean: share(paths.iter().sum()),
        median: at(50),
        p99: at(99),
        most: at(100),
        bands: [
            count(1, 2),
            count(2, 6),
            count(6, SIMPLE),
            count(SIMPLE, 21),
            count(21, usize::MAX),
        ],
        simple_percent: 100.0 * share(count(0, SIMPLE)),
    }
}

/// Returns the name and the number of paths of each function with a body.
fn functions(text: &str) -> syn::Result<Vec<(String, usize)>> {
    let mut found = Functions::default();
    found.visit_file(&syn::parse_file(text)?);
    Ok(found.0)
}

#[derive(Default)]
struct Functions(Vec<(String, usize)>);

impl Functions {
    fn add(&mut self, name: &syn::Ident, body: &Block) {
        let mut paths = Paths(1);
        paths.visit_block(body);
        self.0.push((name.to_string(), paths.0));
        // Functions that stand in this one.
        visit::visit_block(self, body);
    }
}

impl Visit<'_> for Functions {
    fn visit_item_mod(&mut self, module: &syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &syn::ItemFn) {
        if !is_test(&function.attrs) {
            self.add(&function.sig.ident, &function.block);
        }
    }

    fn visit_item_impl(&mut self, item: &syn::ItemImpl) {
        if !is_test(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            self.add(&function.sig.ident, &function.block);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig.ident, body);
        }
    }
}

/// Returns whether an item is compiled for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        path.is_ident("test")
            || path.is_ident("cfg")
                && matches!(attribute.parse_args::<syn::Ident>(), Ok(word) if word == "test")
    })
}

/// Number of paths of one function.
struct Paths(usize);

impl Visit<'_> for Paths {
    /// Leaves out functions, and others, that stand in the body.
    fn visit_item(&mut self, _: &syn::Item) {}

    fn visit_expr_if(&mut self, one: &syn::ExprIf) {
        self.0 += 1;
        visit::visit_expr_if(self, one);
    }

    fn visit_expr_while(&mut self, one: &syn::ExprWhile) {
        self.0 += 1;
        visit::visit_expr_while(self, one);
    }

    fn visit_expr_for_loop(&mut self, one: &syn::ExprForLoop) {
        self.0 += 1;
        visit::visit_expr_for_loop(self, one);
    }

    fn visit_expr_match(&mut self, one: &syn::ExprMatch) {
        self.0 += one.arms.len().saturating_sub(1);
        visit::visit_expr_match(self, one);
    }

    fn visit_pat_guard(&mut self, guard: &syn::PatGuard) {
        self.0 += 1;
        visit::visit_pat_guard(self, guard);
    }

    fn visit_local(&mut self, local: &syn::Local) {
        let diverges = local
            .init
            .as_ref()
            .is_some_and(|init| init.diverge.is_some());
        self.0 += usize::from(diverges);
        visit::visit_local(self, local);
    }

    fn visit_expr_binary(&mut self, one: &syn::ExprBinary) {
        self.0 += usize::from(matches!(one.op, BinOp::And(_) | BinOp::Or(_)));
        visit::visit_expr_binary(self, one);
    }

    fn visit_expr_try(&mut self, one: &syn::ExprTry) {
        self.0 += 1;
        visit::visit_expr_try(self, one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_decision_is_one_more_path() {
        let text = "
            fn plain() { call(); }
            fn chosen(a: u8) -> u8 { if a > 1 && a < 5 || a == 9 { 1 } else if a == 7 { 2 } else { 3 } }
            fn matched(a: Option<u8>) -> Result<u8> {
                let Some(b) = a else { return Ok(0) };
                match b { 0 => f()?, 1 if g() => 2, _ => 3 };
                for _ in 0..b { while h() {} }
                Ok(b)
            }
        ";
        let found = functions(text).unwrap();
        let paths: Vec<(&str, usize)> = found
            .iter()
            .map(|(name, paths)| (&**name, *paths))
            .collect();
        assert_eq!(paths, [("plain", 1), ("chosen", 5), ("matched", 8)]);
    }

    #[test]
    fn closures_belong_to_their_function_and_inner_functions_and_tests_do_not() {
        let text = "
            impl A {
                fn outer(&self) {
                    fn inner() { if a() {} }
                    b(|c| if c { 1 } else { 2 });
                }
            }
            trait T { fn declared(&self); fn given(&self) { loop {} } }
            #[cfg(test)]
            mod tests { fn helper() { if a() {} } }
            #[test]
            fn single() {}
        ";
        let found = functions(text).unwrap();
        let paths: Vec<(&str, usize)> = found
            .iter()
            .map(|(name, paths)| (&**name, *paths))
            .collect();
        assert_eq!(paths, [("outer", 2), ("inner", 2), ("given", 1)]);
    }

    #[test]
    fn a_distribution_has_every_function_in_one_band() {
        let of = distribution("x".to_owned(), vec![1, 12, 2, 9, 30]);
        assert_eq!(of.bands, [1, 1, 1, 1, 1]);
        assert_eq!((of.median, of.most), (9, 30));
        assert!((of.mean - 10.8).abs() < 1e-9 && (of.simple_percent - 60.0).abs() < 1e-9);
        assert_eq!(
            folder(Path::new("crates/orb/poa/src/lib.rs")),
            "crates/orb/poa"
        );
        assert_eq!(
            folder(Path::new("services/naming/src/lib.rs")),
            "services/naming"
        );
    }
}
