//! Command lines as they are typed, and what is made of them.

use std::ffi::OsStr;

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

#[test]
fn rules_may_stand_one_by_one_and_a_prompt_after_them() {
    let table = [
        (
            "-p|go|--allowedTools|Bash(git log *)|Bash(ls a b)|Read",
            "-p|go|--allowedTools|Bash(git log *),Bash(ls a b),Read",
        ),
        (
            "-p|--allowedTools|Read|WebFetch|mcp__docs__find|say hello",
            "-p|--allowedTools|Read,WebFetch,mcp__docs__find|say hello",
        ),
        (
            "--disallowed-tools|Write|Edit|--allowed-tools|Read|-p|x",
            "--disallowed-tools|Write,Edit|--allowed-tools|Read|-p|x",
        ),
    ];
    // A word that is a tool somewhere, a call in the text, a flag without its value.
    let left_alone = [
        "-p|--allowedTools|Read|search",
        "-p|--allowedTools|Read|explain main(argc, argv) to me",
        "-p|--allowedTools",
    ];
    let left_alone = left_alone.map(|line| (line, line));
    for (typed, meant) in table.into_iter().chain(left_alone) {
        let joined = rules::joined(typed.split('|').map(OsString::from));
        assert_eq!(joined.join(OsStr::new("|")), meant);
    }
}
