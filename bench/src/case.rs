//! Measured cases: an operation of the papers' IDL with an amount of data, and the lengths of its
//! messages.

use std::fmt;
use std::str::FromStr;

/// Length of the longest sequence that Gokhale and Schmidt 1998 sends (§3.3): sizes are powers of
/// two up to this.
const LARGEST_SWEPT: u32 = 1024;
/// Number of octets that Schmidt et al. 2001's figure 19 goes beyond.
const LARGE: u32 = 16_384;
/// Upper bound of the length of a case's sequence.
const MAX_UNITS: u32 = 1 << 20;

/// Operation of the benchmark interface in `cubit.idl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Operation without arguments or result.
    CubeVoid,
    /// Operation with a `long` as argument and result.
    CubeLong,
    /// Operation with a small structure as argument and result.
    CubeStruct,
    /// Operation with a sequence of octets as argument.
    TakeOctets,
    /// Operation with a sequence of four-octet numbers as argument.
    TakeLongs,
    /// Operation with a sequence of structures as argument, whose members have five types.
    TakeBinStructs,
    /// Operation with a sequence of octets as argument and result.
    EchoOctets,
    /// Octets as argument and result, into a buffer of the caller's.
    EchoOctetsInto,
    /// Operation with a sequence of structures as argument and result.
    EchoBinStructs,
    /// Structures as argument and result, into a buffer of the caller's.
    EchoBinStructsInto,
    /// One-way operation without arguments.
    Ping,
    /// One-way operation with a sequence of octets as argument.
    ThrowOctets,
    /// One-way operation with a sequence of structures as argument.
    ThrowBinStructs,
}

/// Operation, and the number of units of data that it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Case {
    /// Operation that the benchmark case calls.
    pub operation: Operation,
    /// Number of elements of its sequence; 0 for operations without one.
    pub units: u32,
}

/// Lengths of the GIOP messages of a benchmark case, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Length of the request message, in bytes.
    pub request: usize,
    /// Length of the reply message, in bytes; 0 for a one-way operation.
    pub reply: usize,
}

impl Operation {
    /// All operations, in the order in which tables list them.
    pub const ALL: [Self; 13] = [
        Self::CubeVoid,
        Self::CubeLong,
        Self::CubeStruct,
        Self::TakeOctets,
        Self::TakeLongs,
        Self::TakeBinStructs,
        Self::EchoOctets,
        Self::EchoOctetsInto,
        Self::EchoBinStructs,
        Self::EchoBinStructsInto,
        Self::Ping,
        Self::ThrowOctets,
        Self::ThrowBinStructs,
    ];

    /// Returns the name of the operation's method in the generated stub.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CubeVoid => "cube_void",
            Self::CubeLong => "cube_long",
            Self::CubeStruct => "cube_struct",
            Self::TakeOctets => "take_octets",
            Self::TakeLongs => "take_longs",
            Self::TakeBinStructs => "take_bin_structs",
            Self::EchoOctets => "echo_octets",
            Self::EchoOctetsInto => "echo_octets_into",
            Self::EchoBinStructs => "echo_bin_structs",
            Self::EchoBinStructsInto => "echo_bin_structs_into",
            Self::Ping => "ping",
            Self::ThrowOctets => "throw_octets",
            Self::ThrowBinStructs => "throw_bin_structs",
        }
    }

    /// Returns the name in the IDL and on the wire.
    #[must_use]
    pub const fn wire_name(self) -> &'static str {
        match self {
            Self::EchoOctetsInto => Self::EchoOctets.name(),
            Self::EchoBinStructsInto => Self::EchoBinStructs.name(),
            other => other.name(),
        }
    }

    /// Returns whether the operation has a reply.
    #[must_use]
    pub const fn is_two_way(self) -> bool {
        !matches!(self, Self::Ping | Self::ThrowOctets | Self::ThrowBinStructs)
    }

    /// Returns whether the operation carries a sequence, so that a case must give its length.
    #[must_use]
    pub const fn has_units(self) -> bool {
        !matches!(
            self,
            Self::CubeVoid | Self::CubeLong | Self::CubeStruct | Self::Ping
        )
    }

    const fn returns_its_argument(self) -> bool {
        matches!(
            self,
            Self::CubeLong
                | Self::CubeStruct
                | Self::EchoOctets
                | Self::EchoOctetsInto
                | Self::EchoBinStructs
                | Self::EchoBinStructsInto
        )
    }
}

impl Case {
    /// Returns the case of an operation without a sequence.
    #[must_use]
    pub const fn plain(operation: Operation) -> Self {
        Self {
            operation,
            units: 0,
        }
    }

    /// Returns the case of an operation with a sequence of `units` elements.
    #[must_use]
    pub const fn sized(operation: Operation, units: u32) -> Self {
        Self { operation, units }
    }

    /// Returns the lengths of the case's GIOP messages as Punctual sends them in GIOP 1.2 on a
    /// connection whose code sets are negotiated. The raw socket sends messages of these lengths,
    /// to be comparable.
    #[must_use]
    pub fn lengths(self) -> Lengths {
        let name = self.operation.wire_name().len() + 1;
        // Header, request id, flags, disposition, key, name, no service contexts (CORBA 3.3 part 2,
        // §9.4.2.2).
        let head = aligned(HEADER + 4 + 4 + 4 + 4 + OBJECT_KEY + 4 + name, 4) + 4;
        let reply_head = HEADER + 4 + 4 + 4;
        let argument = self.argument_length();
        Lengths {
            request: with_body(head, argument),
            reply: match self.operation {
                operation if !operation.is_two_way() => 0,
                operation if operation.returns_its_argument() => with_body(reply_head, argument),
                _ => reply_head,
            },
        }
    }

    /// Returns the octets of the argument in CDR, beginning aligned to 8.
    fn argument_length(self) -> usize {
        let units = self.units as usize;
        match self.operation {
            Operation::CubeVoid | Operation::Ping => 0,
            Operation::CubeLong => 4,
            // octet, 3 of padding, long, short.
            Operation::CubeStruct => 10,
            Operation::TakeOctets
            | Operation::EchoOctets
            | Operation::EchoOctetsInto
            | Operation::ThrowOctets => 4 + units,
            Operation::TakeLongs => 4 + 4 * units,
            // The count; then short, char, 0 to 1, long, octet, padding to 8, double. The first
            // structure shares its first 8 octets with the count.
            _ => (24 * units).max(4),
        }
    }
}

/// Operations of Gokhale and Schmidt 1998's sweep of arguments (figures 11 to 26).
const SWEPT: [Operation; 4] = [
    Operation::TakeOctets,
    Operation::TakeBinStructs,
    Operation::ThrowOctets,
    Operation::ThrowBinStructs,
];

/// Returns the cases of `latency`: the small operations, and Gokhale and Schmidt 1998's sweep of
/// arguments, two-way and one-way; a larger one; echoes at three sizes.
#[must_use]
pub fn full() -> Vec<Case> {
    let sizes: Vec<u32> = (0..=LARGEST_SWEPT.ilog2())
        .map(|power| 1 << power)
        .collect();
    let mut cases = swept(&sizes);
    for operation in [Operation::EchoOctets, Operation::EchoBinStructs] {
        cases.extend([1, 32, LARGEST_SWEPT].map(|units| Case::sized(operation, units)));
    }
    cases
}

/// Returns the cases of `latency --quick`: a subset of [`full`].
#[must_use]
pub fn quick() -> Vec<Case> {
    swept(&[1, 256, LARGEST_SWEPT])
}

fn swept(sizes: &[u32]) -> Vec<Case> {
    let mut cases = small();
    for operation in SWEPT {
        cases.extend(sizes.iter().map(|&units| Case::sized(operation, units)));
    }
    cases.push(Case::sized(Operation::TakeOctets, LARGE));
    cases
}

/// Returns the cases of the goals: the small operations, and 4 KiB of octets and of numbers, and as
/// many structures.
#[must_use]
pub fn of_the_goals() -> Vec<Case> {
    let mut cases = small();
    cases.extend([
        Case::sized(Operation::TakeOctets, 4096),
        Case::sized(Operation::TakeLongs, 1024),
        Case::sized(Operation::TakeBinStructs, 1024),
    ]);
    cases
}

/// Returns the cases without arguments, with a `long`, and with a small structure.
#[must_use]
pub fn small() -> Vec<Case> {
    [
        Operation::CubeVoid,
        Operation::CubeLong,
        Operation::CubeStruct,
    ]
    .map(Case::plain)
    .to_vec()
}

/// Size of GIOP's message header, in bytes.
const HEADER: usize = 12;
/// Size of the key that Punctual's root POA gives an object, in bytes.
const OBJECT_KEY: usize = 28;

/// Returns the length of a message whose body, if there is one, begins aligned to 8 (§9.4.2.2).
fn with_body(head: usize, body: usize) -> usize {
    match body {
        0 => head,
        body => aligned(head, 8) + body,
    }
}

const fn aligned(length: usize, to: usize) -> usize {
    length.next_multiple_of(to)
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation.name())?;
        if self.operation.has_units() {
            write!(f, ":{}", self.units)?;
        }
        Ok(())
    }
}

/// Error for a text that is not the name of any benchmark case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchCase(String);

impl fmt::Display for NoSuchCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = Operation::ALL.iter().filter(|one| !one.has_units());
        let plain: Vec<_> = plain.map(|one| one.name()).collect();
        let sized = Operation::ALL.iter().filter(|one| one.has_units());
        let sized: Vec<_> = sized.map(|one| one.name()).collect();
        write!(
            f,
            "`{}` is no case: expected {}, or one of {} with `:` and 1 to {MAX_UNITS} units, e.g. take_octets:64",
            self.0,
            plain.join(", "),
            sized.join(", ")
        )
    }
}

impl std::error::Error for NoSuchCase {}

impl FromStr for Case {
    type Err = NoSuchCase;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refused = || NoSuchCase(text.to_owned());
        let (name, units) = match text.split_once(':') {
            Some((name, units)) => (name, Some(units)),
            None => (text, None),
        };
        let found = Operation::ALL.iter().find(|one| one.name() == name);
        let operation = *found.ok_or_else(refused)?;
        let units = match (operation.has_units(), units) {
            (false, None) => 0,
            (true, Some(units)) => units
                .parse()
                .ok()
                .filter(|units| (1..=MAX_UNITS).contains(units))
                .ok_or_else(refused)?,
            _ => return Err(refused()),
        };
        Ok(Self { operation, units })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_read_back_from_its_name() {
        let ping = Case::plain(Operation::Ping);
        for case in full().into_iter().chain(of_the_goals()).chain([ping]) {
            assert_eq!(case.to_string().parse(), Ok(case));
        }
    }

    #[test]
    fn a_case_without_its_size_or_with_one_too_many_is_refused() {
        for text in [
            "",
            "cube_void:1",
            "take_octets",
            "take_octets:0",
            "take_octets:-1",
            "take_octets:9999999999",
            "cube",
        ] {
            assert!(text.parse::<Case>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_sweep_has_eleven_sizes_of_each_kind() {
        let cases = full();
        let octets = cases
            .iter()
            .filter(|case| case.operation == Operation::TakeOctets);
        assert_eq!(octets.count(), 11 + 1);
        assert!(quick().iter().all(|case| cases.contains(case)));
    }

    #[test]
    fn lengths_follow_the_alignment_rules() {
        let void = Case::plain(Operation::CubeVoid).lengths();
        assert_eq!((void.request, void.reply), (76, 24));
        let long = Case::plain(Operation::CubeLong).lengths();
        assert_eq!((long.request, long.reply), (80 + 4, 24 + 4));
        let structs = Case::sized(Operation::ThrowBinStructs, 2).lengths();
        assert_eq!(structs.reply, 0);
        assert_eq!(structs.request % 8, 0);
    }
}
