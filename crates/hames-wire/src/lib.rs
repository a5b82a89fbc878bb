//! The wire protocols, pure: bytes in, values out, in both directions.
//!
//! No I/O, no clock, no policy: a proxy or a log reader can use it alone.

pub mod api;
pub mod apis;
mod arguments;
mod body;
mod errors;
mod lenient;
pub mod ndjson;
mod pieces;
pub mod protocol;
pub mod request;
pub mod scenario;
pub mod served;
pub mod sse;
mod written;

pub use api::{Api, Decoder, Delivery, api};
