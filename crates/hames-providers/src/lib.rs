//! HTTP to model services, and which services there are.
//!
//! It decides nothing about a query, and reads no environment, home or settings: values come in plain.

mod answer;
mod ask;
mod auth;
mod body;
pub mod catalog;
mod choice;
mod curl;
mod discover;
mod failure;
mod http;
mod network;
mod retry_after;
pub mod scripted;
mod window;

pub use auth::{BadHeader, Key, Scheme};
pub use catalog::{Catalog, CatalogError, ModelInfo, Vendor};
pub use choice::{Choice, Found, Variables};
pub use discover::{FourWays, NoModel, Wanted, discover};
pub use http::{ConnectError, HttpProvider};
pub use network::{Network, NetworkError, Timeouts};
pub use scripted::Scripted;
pub use window::{LocalWindow, WindowSource, local_window};
