//! Keys of the configuration file: their names from the tables that read it, their meaning from the
//! fields of the configuration.

use super::source::{Field, fields};
use crate::run::Result;
use std::fmt::Write as _;

const TABLES: &str = "crates/orb/orb/src/config/file/tables.rs";
const CONFIG: &str = "crates/orb/orb/src/config";

/// Table of the file: its heading, the file and the struct that read it, and the structs that
/// document its keys.
struct Table {
    heading: &'static str,
    file: &'static str,
    keys: &'static str,
    meanings: &'static [(&'static str, &'static str)],
}

const FILE: [Table; 8] = [
    Table {
        heading: "",
        file: TABLES,
        keys: "File",
        meanings: &[("crates/orb/orb/src/config/orb_config.rs", "OrbConfig")],
    },
    Table {
        heading: "[timeouts]",
        file: TABLES,
        keys: "TimeoutTable",
        meanings: &[("crates/orb/orb/src/config/timeouts.rs", "Timeouts")],
    },
    Table {
        heading: "[limits]",
        file: TABLES,
        keys: "LimitTable",
        meanings: &[
            ("crates/wire/cdr/src/limits.rs", "Limits"),
            ("crates/orb/orb/src/config/budgets.rs", "Budgets"),
        ],
    },
    Table {
        heading: "[concurrency]",
        file: TABLES,
        keys: "ConcurrencyTable",
        meanings: &[("crates/orb/orb/src/config/concurrency.rs", "PoolSize")],
    },
    Table {
        heading: "[one_way_buffering]",
        file: TABLES,
        keys: "BufferingTable",
        meanings: &[
            ("crates/orb/orb/src/policy/buffering.rs", "Buffering"),
            ("crates/orb/orb/src/policy/buffering.rs", "BufferCapacity"),
        ],
    },
    Table {
        heading: "[tcp]",
        file: TABLES,
        keys: "TcpTable",
        meanings: &[
            ("crates/run/sys/src/tcp.rs", "TcpOptions"),
            ("crates/run/sys/src/tcp.rs", "KeepAlive"),
        ],
    },
    Table {
        heading: "[tls]",
        file: "crates/orb/orb/src/config/tls.rs",
        keys: "TlsTable",
        meanings: &[("crates/link/tls/src/options.rs", "TlsOptions")],
    },
    Table {
        heading: "[[library]]",
        file: TABLES,
        keys: "LibraryTable",
        meanings: &[("crates/orb/orb/src/config/orb_config.rs", "OrbConfig")],
    },
];

/// Keys whose fields have other names.
const RENAMED: [(&str, &str); 10] = [
    ("link", "link_properties"),
    ("max_threads", "most"),
    ("most_octets", "octets"),
    ("keep_alive_idle_s", "idle"),
    ("keep_alive_interval_s", "interval"),
    ("keep_alive_probes", "probes"),
    ("minimum_version", "minimum"),
    ("path", "libraries"),
    ("one_way_gather_us", "one_way_gather"),
    ("user_timeout_ms", "user_timeout"),
];

pub(super) fn tables() -> Result<String> {
    let mut out = String::new();
    for table in &FILE {
        if !table.heading.is_empty() {
            let _ = write!(out, "\n`{}`\n\n", table.heading);
        }
        out.push_str("| key | value | meaning | field |\n|---|---|---|---|\n");
        let mut meanings = Vec::new();
        for (file, name) in table.meanings {
            meanings.push(fields(file, name)?);
        }
        for key in fields(table.file, table.keys)? {
            // Nested tables are documented separately.
            if key.ty.contains("Table") {
                continue;
            }
            let (field, docs) = meaning(&key.name, table, &meanings)?;
            let field = if field == key.name {
                String::new()
            } else {
                format!("`{field}`")
            };
            let _ = writeln!(
                out,
                "| `{}` | {} | {docs} | {field} |",
                key.name,
                value(&key)
            );
        }
    }
    Ok(out)
}

/// Returns the field that a key sets, and its documentation.
fn meaning(key: &str, table: &Table, meanings: &[Vec<Field>]) -> Result<(String, String)> {
    if (table.keys, key) == ("ConcurrencyTable", "strategy") {
        let config = fields(&format!("{CONFIG}/orb_config.rs"), "OrbConfig")?;
        let found = config.into_iter().find(|field| field.name == "concurrency");
        let docs = found.map(|field| field.docs).unwrap_or_default();
        return Ok(("concurrency".to_owned(), docs));
    }
    let renamed = RENAMED
        .iter()
        .find(|(from, _)| *from == key)
        .map(|(_, to)| *to);
    let name = renamed.unwrap_or_else(|| key.strip_suffix("_ms").unwrap_or(key));
    // A key of two structs is the last one's: `most_octets` of the capacity.
    let fields = meanings.iter().flatten().filter(|field| field.name == name);
    let field = if renamed.is_some() {
        fields.into_iter().next_back()
    } else {
        fields.into_iter().next()
    };
    let field = field.ok_or_else(|| format!("`{} {key}`: no field `{name}`", table.heading))?;
    match field.docs.is_empty() {
        false => Ok((name.to_owned(), field.docs.clone())),
        true => Err(format!("`{name}` has no doc comment")),
    }
}

/// Returns the form of a key's value.
fn value(key: &Field) -> String {
    let unit = match key.name.rsplit_once('_').map(|(_, unit)| unit) {
        Some("ms") => ", milliseconds; 0 for none",
        Some("us") => ", microseconds",
        Some("s") => ", seconds",
        _ => "",
    };
    let ty = key.ty.trim_start_matches("Option<").trim_end_matches('>');
    let kind = match ty {
        "usize" | "u64" | "u32" | "u16" => "number",
        "bool" => "`true` or `false`",
        "String" => "text",
        "PathBuf" => "path",
        _ if ty.starts_with("Vec<") => "list of texts",
        _ => "table",
    };
    format!("{kind}{unit}")
}
