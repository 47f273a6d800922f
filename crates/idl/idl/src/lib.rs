//! OMG IDL: preprocessor, lexer, parser, names and scopes, diagnostics
