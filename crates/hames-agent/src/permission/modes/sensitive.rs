//! Built-in places that no mode and no rule opens: keys, and what would run or rule later.
//!
//! A list of names, and no more than that: against a hostile program only a sandbox helps.

use super::Places;

/// In the home folder: read by programs at their start, so that whoever writes them runs commands.
const STARTED_FROM: &[&str] = &[
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/autostart",
    ".config/fish",
    ".config/git",
    ".config/systemd",
    ".cshrc",
    ".gitconfig",
    ".inputrc",
    ".kshrc",
    ".login",
    ".pam_environment",
    ".profile",
    ".tcshrc",
    ".xinitrc",
    ".xprofile",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// In the home folder: they hold keys and passwords.
const CREDENTIALS: &[&str] = &[
    ".aws/credentials",
    ".azure",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".git-credentials",
    ".gnupg",
    ".kube/config",
    ".netrc",
    ".npmrc",
    ".pypirc",
];

const SYSTEM: &[&str] = &[
    "/etc/passwd",
    "/etc/shadow",
    "/etc/ssh",
    "/etc/sudoers",
    "/etc/sudoers.d",
];

/// Why the file may never be written.
pub fn never_written(path: &str, places: &Places) -> Option<&'static str> {
    let names = lower(path);
    let folder = |name: &str| names.iter().any(|own| own == name);
    let last = names.last().map(String::as_str).unwrap_or_default();
    let after = |name: &str| {
        let at = names.iter().position(|own| own == name);
        at.and_then(|at| names.get(at + 1..)).unwrap_or_default()
    };
    let git = after(".git");
    if git.iter().any(|name| name == "hooks")
        || git.iter().any(|n| n == "config" || n == "config.worktree")
    {
        return Some("git would run what stands there");
    }
    if folder(".ssh") {
        return Some("it decides who may log in");
    }
    let settings = matches!(last, "settings.json" | "settings.local.json" | "hooks.json");
    if settings && (folder(".hames") || folder(".claude")) {
        return Some("it holds the permissions themselves");
    }
    if places.own.iter().any(|own| is_under(path, own)) {
        return Some("it holds the settings and journals of hames");
    }
    if in_home(path, STARTED_FROM, places) {
        return Some("other programs would run what stands there");
    }
    never_read(path, places).or_else(|| {
        let system = SYSTEM.iter().any(|own| is_under(path, own));
        system.then_some("it decides who may log in")
    })
}

/// Why the file may never be read.
pub fn never_read(path: &str, places: &Places) -> Option<&'static str> {
    let names = lower(path);
    let last = names.last().map(String::as_str).unwrap_or_default();
    let in_ssh = names.iter().rev().skip(1).any(|name| name == ".ssh");
    let public = last.ends_with(".pub") || last.starts_with("known_hosts") || last == "config";
    let key = last.starts_with("id_") && !last.ends_with(".pub");
    let key = key
        && matches!(
            last,
            "id_rsa" | "id_dsa" | "id_ecdsa" | "id_ed25519" | "id_ecdsa_sk" | "id_ed25519_sk"
        );
    if key || in_ssh && !public && last != "authorized_keys" {
        return Some("it is a private key");
    }
    let shadow = path == "/etc/shadow";
    (shadow || in_home(path, CREDENTIALS, places)).then_some("it holds credentials")
}

fn lower(path: &str) -> Vec<String> {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.map(str::to_lowercase).collect()
}

fn in_home(path: &str, list: &[&str], places: &Places) -> bool {
    let home = places.home.as_deref();
    home.is_some_and(|home| {
        list.iter()
            .any(|own| is_under(path, &format!("{home}/{own}")))
    })
}

pub fn is_under(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
