//! The way to a server: proxies, certificate authorities, time limits, and the HTTP client itself.
//!
//! Values come in plain; the binary reads them from the environment. No root store is loaded for `http://`.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use reqwest::{Client, NoProxy, Proxy, redirect};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};

/// Servers on this machine are never looked for behind a proxy, whatever `NO_PROXY` says.
const LOOPBACK: &str = "localhost,127.0.0.0/8,::1";

/// How long each phase of a call may take; there is no limit on the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Name look-up, TCP, proxy and TLS together.
    pub connect: Duration,
    /// From the request's last byte that was taken to the answer's first.
    pub first_byte: Duration,
    /// Between two bytes of the answer, comments and pings included.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(60),
        }
    }
}

/// What stands between us and the servers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Network {
    /// URL of the proxy for `https://`, as `HTTPS_PROXY` has it.
    pub https_proxy: Option<String>,
    /// URL of the proxy for `http://`, as `HTTP_PROXY` has it.
    pub http_proxy: Option<String>,
    /// For what has no proxy of its own; `socks5://` and `socks5h://` too.
    pub all_proxy: Option<String>,
    /// Hosts, domains and networks that are reached directly, as `NO_PROXY` lists them.
    pub no_proxy: Option<String>,
    /// A PEM file that takes the place of the system's authorities, as `SSL_CERT_FILE` does.
    pub ca_file: Option<PathBuf>,
    /// A PEM file of further authorities, as `NODE_EXTRA_CA_CERTS` names one.
    pub extra_ca_file: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    #[error("the proxy URL `{url}` is not usable; write it as http://HOST:PORT")]
    Proxy { url: String },
    #[error("no certificate could be read from {}: {reason}", file.display())]
    Certificates { file: PathBuf, reason: String },
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    #[error("the HTTP client cannot be built: {0}")]
    Client(#[from] reqwest::Error),
}

impl Network {
    /// Reads the usual variables; the lower-case spelling wins, as it does for curl.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let either = |name: &str| set(&name.to_ascii_lowercase()).or_else(|| set(name));
        Self {
            https_proxy: either("HTTPS_PROXY"),
            http_proxy: either("HTTP_PROXY"),
            all_proxy: either("ALL_PROXY"),
            no_proxy: either("NO_PROXY"),
            ca_file: set("SSL_CERT_FILE").map(PathBuf::from),
            extra_ca_file: set("NODE_EXTRA_CA_CERTS").map(PathBuf::from),
        }
    }

    /// A client for servers under `base`. It follows no redirect, since that would carry the key
    /// to wherever the answer says, and it retries nothing: that is the Error Handler's alone.
    pub(crate) fn client(&self, base: &str, connect: Duration) -> Result<Client, NetworkError> {
        let mut builder = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .user_agent(concat!("hames/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(connect)
            .tls_backend_preconfigured(self.tls(base)?);
        for proxy in self.proxies()? {
            builder = builder.proxy(proxy);
        }
        Ok(builder.build()?)
    }

    fn proxies(&self) -> Result<Vec<Proxy>, NetworkError> {
        let no_proxy = self.no_proxy.as_deref().unwrap_or_default();
        if no_proxy.split(',').any(|host| host.trim() == "*") {
            return Ok(Vec::new());
        }
        let direct = NoProxy::from_string(&format!("{no_proxy},{LOOPBACK}"));
        let https = self.https_proxy.as_ref().or(self.all_proxy.as_ref());
        let http = self.http_proxy.as_ref().or(self.all_proxy.as_ref());
        let https = https.map(|url| (url, Proxy::https(with_scheme(url))));
        let http = http.map(|url| (url, Proxy::http(with_scheme(url))));
        let made = [https, http].into_iter().flatten().map(|(url, proxy)| {
            let unusable = |_| NetworkError::Proxy {
                url: without_password(url),
            };
            Ok(proxy.map_err(unusable)?.no_proxy(direct.clone()))
        });
        made.collect()
    }

    fn tls(&self, base: &str) -> Result<ClientConfig, NetworkError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()?;
        let extra = || match &self.extra_ca_file {
            Some(file) => certificates(file),
            None => Ok(Vec::new()),
        };
        let builder = if !self.needs_roots(base) {
            builder.with_root_certificates(RootCertStore::empty())
        } else if let Some(file) = &self.ca_file {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(certificates(file)?);
            roots.add_parsable_certificates(extra()?);
            builder.with_root_certificates(roots)
        } else {
            let system =
                rustls_platform_verifier::Verifier::new_with_extra_roots(extra()?, provider)?;
            let builder = builder.dangerous();
            builder.with_custom_certificate_verifier(Arc::new(system))
        };
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    fn needs_roots(&self, base: &str) -> bool {
        let proxies = [&self.https_proxy, &self.http_proxy, &self.all_proxy];
        let mut urls = proxies.into_iter().flatten().map(String::as_str);
        !base.starts_with("http://") || urls.any(|url| url.starts_with("https://"))
    }
}

/// A proxy's URL may hold a password.
impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |url: &Option<String>| url.as_deref().map(without_password);
        f.debug_struct("Network")
            .field("https_proxy", &shown(&self.https_proxy))
            .field("http_proxy", &shown(&self.http_proxy))
            .field("all_proxy", &shown(&self.all_proxy))
            .field("no_proxy", &self.no_proxy)
            .field("ca_file", &self.ca_file)
            .field("extra_ca_file", &self.extra_ca_file)
            .finish()
    }
}

fn with_scheme(url: &str) -> String {
    if url.contains("://") {
        return url.to_owned();
    }
    format!("http://{url}")
}

fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}://{host}")
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, NetworkError> {
    let unreadable = |reason: String| NetworkError::Certificates {
        file: file.to_owned(),
        reason,
    };
    let found =
        CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = found.map_err(|error| unreadable(error.to_string()))?;
    if found.is_empty() {
        return Err(unreadable("it holds none".into()));
    }
    Ok(found)
}
