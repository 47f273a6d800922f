//! Structure with which sequences are filled.

use punctual::Char;
use punctual_example_cubit::idl::bench::BinStruct;

pub(crate) const SAMPLE: BinStruct = BinStruct {
    s: 1234,
    c: Char(b'x'),
    l: 123_456_789,
    o: 0x5a,
    d: 2.5,
};
