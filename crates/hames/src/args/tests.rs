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

#[test]
fn command_line_is_consistent() {
    use clap::CommandFactory;
    Cli::command().debug_assert();
}

#[test]
fn a_prompt_that_is_a_subcommands_name_is_a_prompt_after_a_flag() {
    let cli = Cli::try_parse_from(["hames", "-p", "sessions"]).unwrap();
    assert!(cli.command.is_none());
    assert_eq!(cli.run.prompt.as_deref(), Some("sessions"));
}

#[test]
fn what_claude_code_users_type_is_understood() {
    let cli = Cli::try_parse_from([
        "hames",
        "-p",
        "--allowedTools",
        "Bash(git *),Edit",
        "--disallowedTools",
        "Write",
        "--permission-mode",
        "acceptEdits",
        "--max-budget-usd",
        "0.5",
        "go",
    ])
    .unwrap();
    assert_eq!(cli.run.permission.allowed_tools, ["Bash(git *),Edit"]);
    assert_eq!(cli.run.permission.disallowed_tools, ["Write"]);
    assert_eq!(cli.run.permission.mode(), Some(Mode::AcceptEdits));
    assert_eq!(cli.run.limits.max_cost, Some(0.5));
    for full_auto in [
        ["hames", "-p", "--permission-mode=bypassPermissions"],
        ["hames", "-p", "--dangerously-skip-permissions"],
    ] {
        let cli = Cli::try_parse_from(full_auto).unwrap();
        assert_eq!(cli.run.permission.mode(), Some(Mode::FullAuto));
    }
}
