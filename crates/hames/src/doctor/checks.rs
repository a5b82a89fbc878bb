//! The checks of `doctor`, each a question to this machine and its answer.
//!
//! None of them needs a network; servers on this machine are only knocked at.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use hames_providers::Catalog;
use hames_tools::{ProcessOptions, Processes};

use super::Finding;
use crate::{
    environment::Environment,
    models::reach::{Reach, reach},
    settings::{Folders, Settings},
    trust::TrustStore,
};

pub(super) fn all(environment: &Environment) -> Vec<Finding> {
    let mut findings = vec![
        Finding::ok(
            "hames",
            format!("{} on {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS),
        ),
        program(
            "git",
            &["--version"],
            "install git: the demo and most coding tasks need it",
        ),
        shell(environment),
        settings(environment),
        trust(environment),
        state(environment),
        cgroup(),
    ];
    findings.extend(models(environment));
    findings
}

fn said(program: &str, args: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.lines().next().unwrap_or_default().to_owned())
}

fn program(name: &'static str, args: &[&str], remedy: &str) -> Finding {
    match said(name, args) {
        Some(version) => Finding::ok(name, version),
        None => Finding::warn(name, "not found", remedy),
    }
}

fn shell(environment: &Environment) -> Finding {
    let on_path = |name: &str| {
        let path = environment.var("PATH").unwrap_or_default();
        let mut folders = std::env::split_paths(path);
        folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()))
    };
    match on_path("bash").or_else(|| on_path("sh")) {
        Some(shell) => Finding::ok("shell", shell.display().to_string()),
        None => Finding::fail(
            "shell",
            "neither bash nor sh is on PATH",
            "name one with --shell PATH",
        ),
    }
}

fn settings(environment: &Environment) -> Finding {
    let config = environment.config_dir();
    let folders = Folders {
        config: config.as_deref(),
        home: environment.home(),
        workspace: &environment.current_dir,
    };
    match Settings::load(folders) {
        Err(error) => Finding::fail(
            "settings",
            error.to_string(),
            "correct the file, or remove it",
        ),
        Ok(settings) if !settings.warnings.is_empty() => Finding::warn(
            "settings",
            settings.warnings.join("; "),
            "correct these, or leave them: they are not used",
        ),
        Ok(_) => {
            let files = settings_files(config.as_deref(), environment);
            Finding::ok(
                "settings",
                match files.is_empty() {
                    true => "no files, so the defaults hold".to_owned(),
                    false => files.join(", "),
                },
            )
        }
    }
}

fn settings_files(config: Option<&Path>, environment: &Environment) -> Vec<String> {
    let workspace = &environment.current_dir;
    let user = config.map(|config| config.join("settings.json"));
    let claude = environment
        .home()
        .map(|home| home.join(".claude/settings.json"));
    let files = [
        claude,
        user,
        Some(workspace.join(".claude/settings.json")),
        Some(workspace.join(".hames/settings.json")),
    ];
    let there = files.into_iter().flatten().filter(|file| file.is_file());
    there.map(|file| file.display().to_string()).collect()
}

fn trust(environment: &Environment) -> Finding {
    let Some(state) = environment.state_dir() else {
        return Finding::ok("trust", "nothing is kept");
    };
    let workspace = environment.current_dir.canonicalize();
    let workspace = workspace.unwrap_or_else(|_| environment.current_dir.clone());
    match TrustStore::new(&state).known(&workspace) {
        Ok(known) if known.trusted => {
            Finding::ok("trust", "this folder is trusted: its hooks and rules count")
        }
        Ok(_) => Finding::ok(
            "trust",
            "this folder is not trusted: hooks and allow rules that it brings along are not used",
        ),
        Err(error) => Finding::fail("trust", error.to_string(), "repair the file, or remove it"),
    }
}

/// Written and removed again: a session that cannot be recorded does not run.
fn state(environment: &Environment) -> Finding {
    let Some(state) = environment.state_dir() else {
        return Finding::fail(
            "sessions",
            "there is no place for them",
            "set HOME or XDG_STATE_HOME",
        );
    };
    let folder: PathBuf = state.join("sessions");
    let probe = folder.join(format!("doctor-{}.tmp", std::process::id()));
    let written = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&probe, "written"))
        .and_then(|()| fs::remove_file(&probe));
    match written {
        Ok(()) => Finding::ok("sessions", format!("{} can be written", folder.display())),
        Err(error) => Finding::fail(
            "sessions",
            format!("{}: {error}", folder.display()),
            "make it writable, or set XDG_STATE_HOME to a folder that is",
        ),
    }
}

fn cgroup() -> Finding {
    let processes = Processes::new(ProcessOptions {
        cgroup: true,
        ..ProcessOptions::default()
    });
    match processes.has_cgroups() {
        true => Finding::ok(
            "processes",
            "a cgroup for what a session starts: it all ends with the session, unless hames itself is killed",
        ),
        false => Finding::warn(
            "processes",
            "no cgroup can be made: what a command leaves behind is found in the process table",
            "run under a systemd user session with delegation, if there has to be no gap",
        ),
    }
}

fn models(environment: &Environment) -> Vec<Finding> {
    let Ok(catalog) = Catalog::built_in() else {
        return vec![Finding::fail(
            "models",
            "the catalog cannot be read",
            "install hames again",
        )];
    };
    let reaches = catalog
        .vendors()
        .iter()
        .map(|vendor| (vendor, reach(vendor, environment)));
    let ready: Vec<_> = reaches.filter(|(_, reach)| reach.is_ready()).collect();
    if ready.is_empty() {
        return vec![Finding::warn(
            "models",
            "no key is set and no server answers on this machine",
            "set ANTHROPIC_API_KEY or OPENAI_API_KEY, run a server, or try `hames demo`: it needs none",
        )];
    }
    let line = |(vendor, reach): (&hames_providers::Vendor, Reach)| {
        Finding::ok("model", format!("{}: {reach}", vendor.name))
    };
    ready.into_iter().map(line).collect()
}
