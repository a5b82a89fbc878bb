//! Command lines as they are typed, and what is made of them.

use hames_agent::permission::modes::Mode;

use super::*;

#[test]
fn command_line_is_consistent() {
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
