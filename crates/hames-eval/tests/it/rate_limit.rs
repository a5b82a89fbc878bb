//! One limit a service, on a clock that is stopped.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use hames_eval::rate_limit::{RateLimits, is_overload, retry_after};
use tokio::time::Instant;

const FIRST: Duration = Duration::from_secs(8);

fn limits() -> RateLimits {
    RateLimits::with_first_pause(FIRST)
}

/// When leave to ask is given, from now on.
async fn waited(limits: &RateLimits) -> Duration {
    let from = Instant::now();
    drop(limits.permit("service").await);
    from.elapsed()
}

fn is_about(waited: Duration, pause: Duration) -> bool {
    // With a jitter of up to a quarter, to the timer's millisecond.
    let slack = Duration::from_millis(5);
    waited >= pause && waited <= pause + pause / 4 + slack
}

#[tokio::test(start_paused = true)]
async fn one_refusal_pauses_all_who_ask_the_same_service_and_nobody_else() {
    let limits = limits();
    limits.permit("service").await.refused(None);
    let from = Instant::now();
    drop(limits.permit("another").await);
    assert_eq!(from.elapsed(), Duration::ZERO);
    let all = (0..20).map(|_| waited(&limits));
    let mut all = futures_util::future::join_all(all).await;
    assert!(all.iter().all(|waited| is_about(*waited, FIRST)), "{all:?}");
    // They do not come all at once.
    all.dedup();
    assert!(all.len() > 5, "{all:?}");
}

#[tokio::test(start_paused = true)]
async fn those_who_were_refused_for_the_same_moment_count_once() {
    let limits = limits();
    let four = [
        limits.permit("service").await,
        limits.permit("service").await,
        limits.permit("service").await,
        limits.permit("service").await,
    ];
    for permit in &four {
        permit.refused(None);
    }
    assert_eq!(limits.limit("service"), 2);
    drop(four);
    assert!(is_about(waited(&limits).await, FIRST));
}

#[tokio::test(start_paused = true)]
async fn refusals_in_a_row_make_longer_pauses_up_to_five_minutes_and_a_success_ends_the_row() {
    let limits = limits();
    for expected in [8, 16, 32, 64, 128, 256, 300, 300] {
        limits.permit("service").await.refused(None);
        let waited = waited(&limits).await;
        assert!(
            is_about(waited, Duration::from_secs(expected)),
            "{expected}: {waited:?}"
        );
    }
    limits.permit("service").await.succeeded();
    limits.permit("service").await.refused(None);
    assert!(is_about(waited(&limits).await, FIRST));
}

#[tokio::test(start_paused = true)]
async fn a_service_gets_the_pause_that_it_asks_for() {
    let limits = limits();
    limits
        .permit("service")
        .await
        .refused(Some(Duration::from_secs(2)));
    assert!(is_about(waited(&limits).await, Duration::from_secs(2)));
    let (one, other) = (limits.permit("service"), limits.permit("service"));
    let one = one.await;
    one.refused(Some(Duration::from_secs(3)));
    drop(one);
    let other = other.await;
    other.refused(Some(Duration::from_secs(1_000_000)));
    drop(other);
    assert!(is_about(waited(&limits).await, Duration::from_secs(3600)));
}

#[tokio::test(start_paused = true)]
async fn the_limit_is_halved_at_once_and_raised_slowly() {
    let limits = limits();
    let mut ten = Vec::new();
    for _ in 0..10 {
        ten.push(limits.permit("service").await);
    }
    ten[0].refused(None);
    assert_eq!(limits.limit("service"), 5);
    // A round of successes is one more.
    for permit in &ten[..6] {
        permit.succeeded();
    }
    assert_eq!(limits.limit("service"), 6);
    drop(ten);
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let ask = async || {
        let permit = limits.permit("service").await;
        let count = now.fetch_add(1, SeqCst) + 1;
        most.fetch_max(count, SeqCst);
        tokio::time::sleep(Duration::from_secs(30)).await;
        now.fetch_sub(1, SeqCst);
        drop(permit);
    };
    futures_util::future::join_all((0..30).map(|_| ask())).await;
    assert_eq!(most.load(SeqCst), 6);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_freed_wakes_one_that_waits() {
    let limits = Arc::new(limits());
    limits.permit("service").await.refused(None);
    let held = limits.permit("service").await;
    assert_eq!(limits.limit("service"), 1);
    let waiting = tokio::spawn({
        let limits = limits.clone();
        async move { drop(limits.permit("service").await) }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(held);
    waiting.await.unwrap();
}

#[test]
fn what_a_service_says_is_read_from_its_words() {
    for said in [
        "HTTP 429: Too Many Requests",
        "rate_limit_error",
        "Overloaded",
        "RESOURCE_EXHAUSTED: quota exceeded",
        "status 529",
    ] {
        assert!(is_overload(said), "{said}");
    }
    for said in [
        "401 unauthorized",
        "connection refused",
        "issue 4290 is open",
    ] {
        assert!(!is_overload(said), "{said}");
    }
    let seconds = |said| retry_after(said).map(|pause| pause.as_secs_f64());
    assert_eq!(seconds("429; retry-after: 12"), Some(12.0));
    assert_eq!(seconds("Please try again in 1.5s."), Some(1.5));
    assert_eq!(seconds("try again in 250ms"), Some(0.25));
    assert_eq!(seconds("Retry in 2m"), Some(120.0));
    assert_eq!(seconds("429 too many requests"), None);
}
