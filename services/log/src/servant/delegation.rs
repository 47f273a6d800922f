//! Interfaces whose operations are those of another servant.

/// Implements an interface for a type by the servant that its method `operations()` returns.
macro_rules! delegate {
    ($interface:path, $servant:ty, {
        $(fn $operation:ident(&self $(, $argument:ident: $type:ty)* $(,)?) -> $result:ty;)*
    }) => {
        impl $interface for $servant {
            $(
                fn $operation(&self $(, $argument: $type)*) -> $result {
                    <_ as $interface>::$operation(self.operations() $(, $argument)*)
                }
            )*
        }
    };
}

pub(super) use delegate;
