//! The wire protocols, pure: bytes in, values out, in both directions.
//!
//! No I/O, no clock, no policy: a proxy or a log reader can use it alone.

pub mod api;
pub mod request;
pub mod scenario;

pub use api::{Api, Decoder, Delivery};
