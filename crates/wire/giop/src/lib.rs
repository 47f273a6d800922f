//! General Inter-ORB Protocol: frames, fragments, messages
