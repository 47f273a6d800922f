//! disconnects
