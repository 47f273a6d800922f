//! `custom` valuetypes, whose state is written and read by user code (CORBA 3.3 part 1, §9.6).

use super::{Formal, ValueRef, ValueType};
use crate::character::Char;
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::value::{Marshal, Unmarshal};

/// Encoding of a custom valuetype's state: implemented for the generated state.
///
/// `unmarshal` has to read the output of `marshal`; unread data is skipped.
pub trait CustomMarshal {
    /// Writes the state.
    ///
    /// # Errors
    /// Those of the stream.
    fn marshal(&self, os: &mut DataOutputStream<'_, '_>) -> Result<(), CdrError>;

    /// Reads the state into that of a new value.
    ///
    /// # Errors
    /// Those of the stream.
    fn unmarshal(&mut self, is: &mut DataInputStream<'_, '_>) -> Result<(), CdrError>;
}

/// `CORBA::DataOutputStream`: stream to which user code marshals the state of a custom valuetype.
#[derive(Debug)]
pub struct DataOutputStream<'s, 'e> {
    out: &'s mut Encoder<'e>,
}

/// `CORBA::DataInputStream`: stream from which user code unmarshals the state of a custom
/// valuetype.
#[derive(Debug)]
pub struct DataInputStream<'s, 'd> {
    input: &'s mut Decoder<'d>,
}

impl<'s, 'e> DataOutputStream<'s, 'e> {
    /// Makes a stream that writes to the encoder.
    pub fn new(out: &'s mut Encoder<'e>) -> Self {
        Self { out }
    }

    /// Writes a value of an IDL type: structs, unions, enums, sequences, references, Anys,
    /// TypeCodes.
    ///
    /// # Errors
    /// Those of the value.
    pub fn write<T: Marshal + ?Sized>(&mut self, value: &T) -> Result<(), CdrError> {
        value.marshal(self.out)
    }

    /// Writes a string.
    ///
    /// # Errors
    /// Those of [`Encoder::put_string`].
    pub fn write_string(&mut self, value: &str) -> Result<(), CdrError> {
        self.out.put_string(value)
    }

    /// Writes a wide string.
    ///
    /// # Errors
    /// Those of [`Encoder::put_wstring`].
    pub fn write_wstring(&mut self, value: &str) -> Result<(), CdrError> {
        self.out.put_wstring(value)
    }

    /// Writes a value or null.
    ///
    /// # Errors
    /// Those of [`Encoder::put_value`].
    pub fn write_value<T: ValueType>(&mut self, value: Option<&T>) -> Result<(), CdrError> {
        self.out.put_value(value.map(T::as_value))
    }

    /// Writes the elements of an array, without their number.
    ///
    /// # Errors
    /// Those of the elements.
    pub fn write_array<T: Marshal>(&mut self, values: &[T]) -> Result<(), CdrError> {
        T::marshal_slice(values, self.out)
    }
}

impl<'s, 'd> DataInputStream<'s, 'd> {
    /// Makes a stream that reads from the decoder.
    pub fn new(input: &'s mut Decoder<'d>) -> Self {
        Self { input }
    }

    /// Reads a value of an IDL type: structs, unions, enums, sequences, references, Anys,
    /// TypeCodes.
    ///
    /// # Errors
    /// Those of the value.
    pub fn read<T: Unmarshal>(&mut self) -> Result<T, CdrError> {
        T::unmarshal(self.input)
    }

    /// Reads a string.
    ///
    /// # Errors
    /// Those of [`Decoder::get_string`].
    pub fn read_string(&mut self) -> Result<String, CdrError> {
        self.input.get_string().map(Into::into)
    }

    /// Reads a wide string.
    ///
    /// # Errors
    /// Those of [`Decoder::get_wstring`].
    pub fn read_wstring(&mut self) -> Result<String, CdrError> {
        self.input.get_wstring()
    }

    /// Reads a value or null.
    ///
    /// # Errors
    /// Those of [`Decoder::get_value`].
    pub fn read_value<T: ValueType>(&mut self) -> Result<Option<T>, CdrError> {
        let value: Option<ValueRef> = self.input.get_value(&Formal::<T>::new())?;
        Ok(value.map(T::from_value))
    }

    /// Reads the elements of an array into `values`.
    ///
    /// # Errors
    /// Those of the elements.
    pub fn read_array<T: Unmarshal>(&mut self, values: &mut [T]) -> Result<(), CdrError> {
        values
            .iter_mut()
            .try_for_each(|value| value.unmarshal_into(self.input))
    }
}

macro_rules! primitives {
    ($($write:ident $read:ident $ty:ty, $idl:literal;)*) => {
        impl DataOutputStream<'_, '_> {$(
            #[doc = concat!("Writes a `", $idl, "`.")]
            ///
            /// # Errors
            /// Those of the value.
            pub fn $write(&mut self, value: $ty) -> Result<(), CdrError> {
                value.marshal(self.out)
            }
        )*}

        impl DataInputStream<'_, '_> {$(
            #[doc = concat!("Reads a `", $idl, "`.")]
            ///
            /// # Errors
            /// Those of the value.
            pub fn $read(&mut self) -> Result<$ty, CdrError> {
                <$ty>::unmarshal(self.input)
            }
        )*}
    };
}

primitives! {
    write_boolean read_boolean bool, "boolean";
    write_char read_char Char, "char";
    write_wchar read_wchar char, "wchar";
    write_octet read_octet u8, "octet";
    write_short read_short i16, "short";
    write_ushort read_ushort u16, "unsigned short";
    write_long read_long i32, "long";
    write_ulong read_ulong u32, "unsigned long";
    write_longlong read_longlong i64, "long long";
    write_ulonglong read_ulonglong u64, "unsigned long long";
    write_float read_float f32, "float";
    write_double read_double f64, "double";
}
