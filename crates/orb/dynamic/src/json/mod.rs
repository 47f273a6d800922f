//! Values as JSON, by their TypeCodes.
//!
//! | IDL | JSON |
//! |---|---|
//! | integers, `octet`, `float`, `double`, `long double` | number; `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | `boolean`, `char`, `wchar`, `string`, `wstring` | boolean; text |
//! | `fixed` | text, `"12.50"`; a number is read, too |
//! | enum | the enumerator's name; its number is read, too |
//! | struct, exception | object by members, all of them |
//! | union | `{"member": …}`; with `"$discriminator"` where the member does not imply it, or there is none |
//! | sequence, array | array |
//! | sequence or array of octets | `"base64:…"`; `"hex:…"` and an array of numbers are read, too |
//! | map | object, if the keys are text, numbers or enumerators; else an array of `{"key": …, "value": …}` |
//! | `@optional` member | the value, or `null`, which may be left out |
//! | `any` | `{"type": "…", "value": …}`; other JSON is read as the type that it looks like |
//! | `TypeCode` | the type's name |
//! | object reference | `"IOR:…"`; `corbaloc:` and other forms that the ORB knows are read, too; `null` for nil |
//! | valuetype | object by members with `"$type"`, which may be left out where it is the declared type; `null` |
//! | valuetype that occurred before | `{"$ref": "…"}` with its path: `""` is the outermost, `".next[2]"` |
//! | boxed value | as its contents |
//!
//! Errors in JSON name the path and the expected value.

mod error;
pub(crate) mod kinds;
mod known;
mod mentions;
mod names;
mod near;
mod octets;
mod read;
mod type_name;
mod write;

pub use error::JsonError;
pub use names::{Names, NoNames};
pub use near::nearest;
pub use octets::OctetForm;
pub use read::{any_from_json, any_from_json_text, from_json, from_json_text, members_of_json};
pub use type_name::parse_type;
pub use write::{AnyJson, Json};
