//! Data streams of custom valuetypes, as the marshaling code of a program reads and writes them.

use punctual_cdr::{
    Block, CdrError, DataInputStream, DataOutputStream, Decoder, Encoder, Marshal, Unmarshal,
};

/// Reads a value of each type that data streams support, and checks that the values are unchanged
/// after writing and reading.
pub(super) fn streams(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let read = Custom::unmarshal(input)?;
    let mut out = Encoder::new(Block::default(), input.order(), *input.coding());
    match read.marshal(&mut out) {
        Ok(()) => {
            let block = out.into_block();
            let mut again = Decoder::new(&block, input.order(), *input.coding());
            let again = Custom::unmarshal(&mut again).expect("what was written is read");
            // NaNs are not equal to themselves, but look the same.
            assert_eq!(format!("{again:?}"), format!("{read:?}"));
            Ok(())
        }
        Err(CdrError::CharacterNotInCodeSet | CdrError::InnerNul) => Ok(()),
        Err(error) => panic!("what was read is not written: {error}"),
    }
}

macro_rules! custom {
    ($($name:ident $ty:ty, $read:ident $write:ident;)*) => {
        /// Custom valuetype with a member for each type that data streams support.
        #[derive(Debug, Default)]
        pub(super) struct Custom {
            $($name: $ty,)*
            text: String,
            wide: Option<String>,
            longs: [i32; 3],
            words: Vec<u16>,
        }

        impl Marshal for Custom {
            fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
                let mut stream = DataOutputStream::new(out);
                $(stream.$write(self.$name)?;)*
                stream.write_string(&self.text)?;
                stream.write_boolean(self.wide.is_some())?;
                if let Some(wide) = &self.wide {
                    stream.write_wstring(wide)?;
                }
                stream.write_array(&self.longs)?;
                stream.write(&self.words)
            }
        }

        impl Unmarshal for Custom {
            const MIN_SIZE: usize = 40;

            fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
                let mut stream = DataInputStream::new(input);
                let mut this = Self::default();
                $(this.$name = stream.$read()?;)*
                this.text = stream.read_string()?;
                this.wide = match stream.read_boolean()? {
                    true => Some(stream.read_wstring()?),
                    false => None,
                };
                stream.read_array(&mut this.longs)?;
                this.words = stream.read()?;
                Ok(this)
            }
        }
    };
}

custom! {
    flag bool, read_boolean write_boolean;
    letter punctual_cdr::Char, read_char write_char;
    octet u8, read_octet write_octet;
    short i16, read_short write_short;
    ushort u16, read_ushort write_ushort;
    long i32, read_long write_long;
    ulong u32, read_ulong write_ulong;
    longlong i64, read_longlong write_longlong;
    ulonglong u64, read_ulonglong write_ulonglong;
    float f32, read_float write_float;
    double f64, read_double write_double;
}

/// Reads a wide character, which only some GIOP versions support.
pub(super) fn wide(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let read = DataInputStream::new(input).read_wchar()?;
    let mut out = Encoder::new(Block::default(), input.order(), *input.coding());
    let written = DataOutputStream::new(&mut out).write_wchar(read);
    if written.is_ok() {
        let block = out.into_block();
        let mut again = Decoder::new(&block, input.order(), *input.coding());
        assert_eq!(DataInputStream::new(&mut again).read_wchar(), Ok(read));
    }
    Ok(())
}
