//! HTTP to model services, and which services there are.

pub mod scripted;

pub use scripted::Scripted;
