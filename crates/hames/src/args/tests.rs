//! Tables for the parsers of flag values.

use super::*;

#[test]
fn durations_name_their_unit() {
    let table = [
        ("2", Ok(2_000)),
        ("0.5", Ok(500)),
        ("250ms", Ok(250)),
        ("90s", Ok(90_000)),
        ("10m", Ok(600_000)),
        ("2h", Ok(7_200_000)),
        ("0", Err(())),
        ("-1", Err(())),
        ("10 parsecs", Err(())),
        ("", Err(())),
        ("9e99h", Err(())),
    ];
    for (text, millis) in table {
        let parsed = duration(text).map(|time| time.as_millis()).map_err(|_| ());
        assert_eq!(parsed, millis, "{text:?}");
    }
}
