//! Build script: makes a test of each block of Rust in the guide, and compiles the IDL that its
//! pages show.
//!
//! A page's IDL is one file, with blocks `idl,stubs` that the page's commands read as files, too; the generated code is in
//! scope of all Rust of the page. A block
//! `rust,items` is placed in the page's module, any other in a function of its own: a test named
//! after its line.

#[path = "src/page.rs"]
#[allow(dead_code, unreachable_pub)]
mod page;

use page::{Block, Page};
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const GUIDE: &str = "../../docs/guide";

/// Guide pages whose snippets are compiled and run by other tests.
const ELSEWHERE: [&str; 2] = ["asynchrony", "interceptors"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={GUIDE}");
    println!("cargo:rerun-if-changed=src/page.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut text = String::new();
    for page in page::all(Path::new(GUIDE))? {
        if !ELSEWHERE.contains(&page.name.as_str()) {
            write_page(&page, &out, &mut text)?;
        }
    }
    write_if_changed(&out.join("snippets.rs"), &text)?;
    Ok(())
}

fn write_page(page: &Page, out: &Path, text: &mut String) -> Result<(), Box<dyn Error>> {
    let here =
        |block: &&Block| (block.file.is_none() || block.has("stubs")) && block.not_run.is_none();
    let of = |language: &str| {
        let blocks = page.blocks.iter().filter(here);
        blocks
            .filter(move |block| block.language == language)
            .collect::<Vec<_>>()
    };
    let (rust, configurations) = (of("rust"), of("toml"));
    if rust.is_empty() && configurations.is_empty() {
        return Ok(());
    }
    let module = page.name.replace('-', "_");
    writeln!(
        text,
        "mod {module} {{\n#[allow(unused_imports)]\nuse super::support::*;"
    )?;
    let idl: String = of("idl").iter().map(|block| block.text.as_str()).collect();
    if !idl.is_empty() {
        compile(&module, &idl, out)?;
        writeln!(
            text,
            "#[allow(clippy::all)]\npub(super) mod idl {{ include!(concat!(env!(\"OUT_DIR\"), \"/{module}_guide.rs\")); }}\n\
             #[allow(unused_imports)]\nuse idl::*;"
        )?;
    }
    for block in &rust {
        write_rust(block, text)?;
    }
    for block in &configurations {
        writeln!(
            text,
            "#[test]\nfn line_{}() -> Done {{\nconfiguration({:?})\n}}",
            block.line, block.text
        )?;
    }
    writeln!(text, "}}")?;
    Ok(())
}

fn write_rust(block: &Block, text: &mut String) -> std::fmt::Result {
    let Block {
        line,
        setup,
        text: code,
        ..
    } = block;
    if block.has("items") {
        return writeln!(text, "// Line {line}.\n{code}");
    }
    if block.has("async") {
        return writeln!(
            text,
            "#[test]\nfn line_{line}() -> Done {{\n{setup}\nlet done: Done = smol::block_on(async {{\n{code}\nOk(())\n}});\ndone\n}}"
        );
    }
    let attribute = match block.has("no_run") {
        true => "#[allow(dead_code)]",
        false => "#[test]",
    };
    writeln!(
        text,
        "{attribute}\nfn line_{line}() -> Done {{\n{setup}\n{code}\nOk(())\n}}"
    )
}

fn compile(module: &str, idl: &str, out: &Path) -> Result<(), Box<dyn Error>> {
    let file = out.join(format!("{module}_guide.idl"));
    write_if_changed(&file, idl)?;
    let builder = punctual_build::Builder::new().asynchronous(true).amh(true);
    builder.async_servants(true).compile(&[file])?;
    Ok(())
}

/// Writes a file unless it is unchanged, so that nothing is built again.
fn write_if_changed(path: &Path, text: &str) -> std::io::Result<()> {
    match std::fs::read_to_string(path) {
        Ok(old) if old == text => Ok(()),
        _ => std::fs::write(path, text),
    }
}
