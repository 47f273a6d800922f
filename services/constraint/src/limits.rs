//! Limits on what a constraint may cost.

/// Limits on constraints, whose texts come from peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest text, in bytes. Default 65,536. Compiling takes time and memory in proportion to the text.
    pub length: usize,
    /// Deepest nesting of parentheses, `not` and signs. Default 100.
    pub depth: usize,
    /// Most steps of one evaluation. Default 1,000,000. A step is an instruction, a member or element that is passed,
    /// 64 bytes of an encoded value that are passed or compared, or 16 of an encoded type that is read. An evaluation with
    /// more of them is false.
    pub steps: u32,
}

impl Limits {
    /// Default limits.
    pub const DEFAULT: Self = Self {
        length: 65_536,
        depth: 100,
        steps: 1_000_000,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
