//! Servant that calls a function before each operation. The function either takes a time stamp when
//! the upcall begins (without arguments, the only mark between the search for the operation and the
//! servant) or consumes processor time.

use punctual::SystemException;
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::{
    BinStruct, Cube, CubitCubeLongError, CubitCubeStructError, CubitServant,
};

/// Wraps a [`CubitImpl`] and the function that is called before each of its operations.
#[derive(Debug)]
pub(crate) struct Ahead<F>(pub(crate) CubitImpl, pub(crate) F);

macro_rules! ahead {
    ($(fn $name:ident(&self $(, $argument:ident: $type:ty)*) -> Result<$result:ty, $error:ty>;)+) => {
        impl<F: Fn() + Send + Sync + 'static> CubitServant for Ahead<F> {
            $(fn $name(&self $(, $argument: $type)*) -> Result<$result, $error> {
                (self.1)();
                self.0.$name($($argument),*)
            })+
        }
    };
}

ahead! {
    fn cube_void(&self) -> Result<(), SystemException>;
    fn cube_octet(&self, o: u8) -> Result<u8, SystemException>;
    fn cube_short(&self, s: i16) -> Result<i16, SystemException>;
    fn cube_long(&self, l: i32) -> Result<i32, CubitCubeLongError>;
    fn cube_struct(&self, values: &Cube) -> Result<Cube, CubitCubeStructError>;
    fn echo_octets(&self, values: &[u8]) -> Result<Vec<u8>, SystemException>;
    fn echo_shorts(&self, values: &[i16]) -> Result<Vec<i16>, SystemException>;
    fn echo_longs(&self, values: &[i32]) -> Result<Vec<i32>, SystemException>;
    fn echo_cubes(&self, values: &[Cube]) -> Result<Vec<Cube>, SystemException>;
    fn echo_bin_structs(&self, values: &[BinStruct]) -> Result<Vec<BinStruct>, SystemException>;
    fn echo_64(&self, value: u64) -> Result<u64, SystemException>;
    fn take_octets(&self, values: &[u8]) -> Result<(), SystemException>;
    fn take_longs(&self, values: &[i32]) -> Result<(), SystemException>;
    fn take_bin_structs(&self, values: &[BinStruct]) -> Result<(), SystemException>;
    fn ping(&self) -> Result<(), SystemException>;
    fn throw_octets(&self, values: &[u8]) -> Result<(), SystemException>;
    fn throw_bin_structs(&self, values: &[BinStruct]) -> Result<(), SystemException>;
    fn pings(&self) -> Result<u64, SystemException>;
    fn shutdown(&self) -> Result<(), SystemException>;
}
