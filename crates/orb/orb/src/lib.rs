//! The object request broker: references, invocation, dispatch, configuration
