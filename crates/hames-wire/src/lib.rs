//! The wire protocols, pure: bytes in, values out, in both directions.
//!
//! No I/O, no clock, no policy: a proxy or a log reader can use it alone.

pub mod api;

pub use api::{Api, Decoder, Delivery};
