//! How many agents may ask one model service at a time: less once it says that it is too much.
//!
//! Agents are programs of their own, so what is governed is when one is started, not each of its
//! calls. One worker's refusal slows all who ask the same service.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use regex::Regex;
use tokio::{sync::Notify, time::Instant};

/// The longest pause that a service gets unasked.
const LONGEST: Duration = Duration::from_secs(300);
/// The first pause that it gets unasked, unless the limits are made with another one.
const FIRST: Duration = Duration::from_secs(5);
/// One that asks for more gets this: a run is not to stand still for a day.
const LONGEST_ASKED: Duration = Duration::from_secs(3600);
/// As many as there will ever be workers.
const MOST: f64 = 1024.0;

/// One limit a service; shared by the workers of a run.
#[derive(Debug, Clone)]
pub struct RateLimits {
    services: Arc<Mutex<HashMap<String, Arc<Service>>>>,
    first: Duration,
}

#[derive(Debug)]
struct Service {
    /// The first pause; each further one in a row is twice as long.
    first: Duration,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug)]
struct State {
    /// Raised by one over a whole round of successes, halved by a refusal.
    limit: f64,
    active: usize,
    paused_until: Option<Instant>,
    /// Pauses in a row.
    pauses: u32,
}

/// Leave to ask; given back when it is dropped.
#[derive(Debug)]
pub struct Permit {
    service: Arc<Service>,
    /// When it was given.
    since: Instant,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self::with_first_pause(FIRST)
    }
}

impl RateLimits {
    /// Each further pause in a row is twice as long, up to five minutes.
    pub fn with_first_pause(first: Duration) -> Self {
        Self {
            services: Arc::default(),
            first,
        }
    }

    /// How long is waited before what failed for nobody's fault is tried again, the first time
    /// with `tries` of 0.
    pub fn pause_before_retry(&self, tries: u32) -> Duration {
        let longer = 2_u32.saturating_pow(tries);
        let pause = self.first.saturating_mul(longer).min(LONGEST) / 4;
        pause.mul_f64(1.0 + fastrand::f64() / 4.0)
    }

    /// Waits until one more may ask `service`.
    pub async fn permit(&self, service: &str) -> Permit {
        let service = self.service(service);
        loop {
            let freed = service.freed.notified();
            tokio::pin!(freed);
            // From here on, who is freed wakes us, though we do not wait yet.
            freed.as_mut().enable();
            match service.try_enter() {
                Entry::Entered => break,
                // Those that wait for the same moment do not all come at it.
                Entry::Paused(until) => tokio::time::sleep_until(until + jitter(until)).await,
                Entry::Full => freed.await,
            }
        }
        Permit {
            service,
            since: Instant::now(),
        }
    }

    /// How many may ask at a time now.
    pub fn limit(&self, service: &str) -> usize {
        self.service(service).state().whole_limit()
    }

    fn service(&self, name: &str) -> Arc<Service> {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        let service = services.entry(name.to_owned());
        let fresh = || Arc::new(Service::new(self.first));
        service.or_insert_with(fresh).clone()
    }
}

enum Entry {
    Entered,
    Paused(Instant),
    Full,
}

impl Service {
    fn new(first: Duration) -> Self {
        let state = State {
            limit: MOST,
            active: 0,
            paused_until: None,
            pauses: 0,
        };
        Self {
            first,
            state: Mutex::new(state),
            freed: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_enter(&self) -> Entry {
        let mut state = self.state();
        if let Some(until) = state.paused_until.filter(|until| *until > Instant::now()) {
            return Entry::Paused(until);
        }
        if state.active >= state.whole_limit() {
            return Entry::Full;
        }
        state.active += 1;
        Entry::Entered
    }
}

impl State {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and MOST"
    )]
    fn whole_limit(&self) -> usize {
        self.limit.clamp(1.0, MOST) as usize
    }
}

impl Permit {
    /// The service did what it was asked.
    pub fn succeeded(&self) {
        let mut state = self.service.state();
        state.limit = (state.limit + 1.0 / state.limit).min(MOST);
        state.pauses = 0;
        drop(state);
        self.service.freed.notify_waiters();
    }

    /// It said that it was too much. All wait: as long as it asks for, else longer each time.
    ///
    /// Those who asked before a pause began and are refused as well say nothing new: they make it
    /// no longer, and the limit no lower.
    pub fn refused(&self, asked: Option<Duration>) {
        let now = Instant::now();
        let mut state = self.service.state();
        let asked = asked.map(|asked| now + asked.min(LONGEST_ASKED));
        let is_known = state.paused_until.is_some_and(|until| self.since < until);
        if is_known {
            state.paused_until = state.paused_until.max(asked);
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a count of workers")]
        let active = state.active as f64;
        state.limit = (state.limit.min(active) / 2.0).max(1.0);
        let longer = 2_u32.saturating_pow(state.pauses);
        let unasked = now + self.service.first.saturating_mul(longer).min(LONGEST);
        state.pauses = state.pauses.saturating_add(1);
        state.paused_until = Some(asked.unwrap_or(unasked));
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.service.state();
        state.active = state.active.saturating_sub(1);
        drop(state);
        self.service.freed.notify_waiters();
    }
}

/// Up to a quarter of what is left to wait.
fn jitter(until: Instant) -> Duration {
    until
        .saturating_duration_since(Instant::now())
        .mul_f64(fastrand::f64() / 4.0)
}

static OVERLOAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let signs = r"\b(?:429|529|503)\b|rate.?limit|too many requests|overload|quota|resource.?exhausted|unavailable";
    Regex::new(&format!("(?i){signs}")).ok()
});

static RETRY_AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let ways = r#"(?:retry.?after|(?:try again|retry) in)\W{1,4}(\d+(?:\.\d+)?)\s*(ms|m)?"#;
    Regex::new(&format!("(?i){ways}")).ok()
});

/// Whether what an agent passed on from its service says that it was too much.
pub fn is_overload(said: &str) -> bool {
    OVERLOAD.as_ref().is_some_and(|signs| signs.is_match(said))
}

/// How long it asks to be left alone, where it says so.
pub fn retry_after(said: &str) -> Option<Duration> {
    let found = RETRY_AFTER.as_ref()?.captures(said)?;
    let number: f64 = found.get(1)?.as_str().parse().ok()?;
    let seconds = match found.get(2).map(|unit| unit.as_str()) {
        Some("ms") => number / 1000.0,
        Some(_) => number * 60.0,
        None => number,
    };
    Duration::try_from_secs_f64(seconds).ok()
}
