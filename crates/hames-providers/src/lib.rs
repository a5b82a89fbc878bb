//! HTTP to model services, and which services there are.
//!
//! It decides nothing about a query, and reads no environment, home or settings: values come in plain.
//!
//! From nothing said to a provider:
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use hames_providers::{Catalog, Network, Wanted, discover, local_window};
//! use hames_wire::Delivery;
//!
//! let catalog = Catalog::built_in()?;
//! let network = Network::from_variables(|name| std::env::var(name).ok());
//! let variables = |name: &str| std::env::var(name).ok();
//! let choice = discover(&catalog, Wanted::default(), &variables, &network).await?;
//! eprintln!("{}, because {}", choice.spec(), choice.found);
//! let window = local_window(&choice, &network).await; // of a server of the user's own
//! let provider = choice.connect(network, choice.timeouts(), Delivery::Stream)?;
//! # let _ = (window, provider);
//! # Ok(())
//! # }
//! ```
//!
//! A provider knows no model: `Head` names it, so that one provider serves all models of its vendor.

mod answer;
mod ask;
mod auth;
mod body;
mod catalog;
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
pub use catalog::{Asked, Catalog, CatalogError, HeaderRow, KeyRow, Model, ModelRow, Vendor};
pub use choice::{Choice, Found, Variables};
pub use discover::{FourWays, NoModel, Wanted, discover};
pub use http::{ConnectError, HttpProvider};
pub use network::{Network, NetworkError, Timeouts};
pub use scripted::Scripted;
pub use window::{LocalWindow, WindowSource, local_window};
