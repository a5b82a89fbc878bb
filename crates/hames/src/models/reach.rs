//! Whether a vendor can be used now: a key that is set, or a server that takes connections.
//!
//! A key's value is never looked at beyond its being there; nothing is asked of who answers.

use std::{
    fmt,
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use hames_providers::Vendor;

use crate::environment::Environment;

/// A server on this machine answers at once, or is not there.
const GLANCE: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The variable that holds the key.
    Key(String),
    NoKey(Vec<String>),
    /// Where it answers.
    Answers(String),
    Silent(String),
}

impl Reach {
    pub fn is_ready(&self) -> bool {
        matches!(self, Self::Key(_) | Self::Answers(_))
    }

    pub fn in_a_word(&self) -> &'static str {
        match self {
            Self::Key(_) => "key set",
            Self::Answers(_) => "answers",
            Self::NoKey(_) => "no key",
            Self::Silent(_) => "not running",
        }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(variable) => write!(f, "{variable} is set"),
            Self::NoKey(variables) => write!(f, "no key: set {}", variables.join(" or ")),
            Self::Answers(at) => write!(f, "a server answers at {at}"),
            Self::Silent(at) => write!(f, "nothing answers at {at}"),
        }
    }
}

pub(crate) fn reach(vendor: &Vendor, environment: &Environment) -> Reach {
    let variables = || vendor.keys.iter().map(|key| key.variable.clone());
    if let Some(set) = variables().find(|variable| environment.var(variable).is_some()) {
        return Reach::Key(set);
    }
    if !vendor.local {
        return Reach::NoKey(variables().collect());
    }
    let own = vendor.base_url_variables.iter();
    let own = own.filter_map(|variable| environment.var(variable)).next();
    let place = place(own.unwrap_or(&vendor.base_url), &vendor.base_url);
    match answers(&place) {
        true => Reach::Answers(place),
        false => Reach::Silent(place),
    }
}

/// `HOST:PORT` of a URL, or of what a user wrote for one; the port of `otherwise` where there is none.
fn place(url: &str, otherwise: &str) -> String {
    let authority = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.split('/').next().unwrap_or_default().to_owned()
    };
    let own = authority(url);
    let default = authority(otherwise);
    let port = default.rsplit_once(':').map_or("80", |(_, port)| port);
    match own.rsplit_once(':') {
        Some(("" | "0.0.0.0" | "[::]", port)) => format!("127.0.0.1:{port}"),
        Some((_, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => own,
        Some(_) | None => format!("{own}:{port}"),
    }
}

fn answers(place: &str) -> bool {
    let Ok(addresses) = place.to_socket_addrs() else {
        return false;
    };
    let mut addresses = addresses.take(2);
    addresses.any(|address| TcpStream::connect_timeout(&address, GLANCE).is_ok())
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_place_is_a_host_and_a_port() {
        let default = "http://127.0.0.1:11434";
        let table = [
            ("http://127.0.0.1:8080/v1", "127.0.0.1:8080"),
            (":9000", "127.0.0.1:9000"),
            ("0.0.0.0:11434", "127.0.0.1:11434"),
            ("box", "box:11434"),
            ("http://box/v1", "box:11434"),
        ];
        for (url, expected) in table {
            assert_eq!(place(url, default), expected, "{url}");
        }
    }
}
