//! The `permissions` of settings files and of the command line, made into one policy.
//!
//! A workspace may always narrow what is allowed; it widens nothing before it is trusted.

use std::{fs, path::Path};

use hames_agent::permission::{
    modes::{Mode, Places, Policy},
    rules::{Anchors, Reading, Rule, Rules},
};
use hames_tools::aliases;

use super::{Dialect, Set, Settings, SettingsError, fields::Fields};

/// As they are written in one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PermissionLists {
    pub allow: Vec<String>,
    pub ask: Vec<String>,
    pub deny: Vec<String>,
    pub additional_directories: Vec<String>,
    pub mode: Option<Mode>,
}

/// What the command line asks for; it wins over every file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    pub mode: Option<Mode>,
    pub allow: &'a [String],
    pub deny: &'a [String],
    pub add_dirs: &'a [std::path::PathBuf],
}

/// What of a workspace counts only once it is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gated {
    /// `an allow rule`, `a hook` and the like.
    pub what: &'static str,
    pub text: String,
    pub file: String,
}

const KEYS: &[&str] = &[
    "additional_directories",
    "allow",
    "ask",
    "default_mode",
    "deny",
    "disable_bypass_permissions_mode",
];

pub(super) fn read(
    fields: &Fields<'_>,
    dialect: Dialect,
) -> Result<Option<PermissionLists>, SettingsError> {
    let mut lists = PermissionLists::default();
    let top_mode = if dialect == Dialect::Hames {
        fields.text("permission_mode")?
    } else {
        None
    };
    let inside = fields.inside("permissions")?;
    if let Some(inside) = &inside {
        lists.allow = inside.text_list("allow")?;
        lists.ask = inside.text_list("ask")?;
        lists.deny = inside.text_list("deny")?;
        lists.additional_directories = inside.text_list("additional_directories")?;
        if let (Dialect::Hames, Some(key)) = (dialect, inside.unknown(KEYS).first()) {
            let problem = "there is no such list; there are allow, ask, deny, additionalDirectories and defaultMode";
            return Err(inside.error(key, problem));
        }
    }
    // Another harness's mode was chosen with its other guards in mind.
    if dialect == Dialect::Hames {
        let inner_mode = match &inside {
            Some(inside) => inside.text("default_mode")?,
            None => None,
        };
        let key = if inner_mode.is_some() {
            "permissions.defaultMode"
        } else {
            "permission_mode"
        };
        if let Some(mode) = inner_mode.or(top_mode) {
            let mode = mode.value.parse::<Mode>();
            lists.mode = Some(mode.map_err(|error| fields.error(key, error.to_string()))?);
        }
    }
    Ok((lists != PermissionLists::default()).then_some(lists))
}

impl Settings {
    /// Files and command line in one. `own`: hames' folders for settings and journals. `remembered`:
    /// rules that this user allowed in this workspace before.
    pub fn policy(
        &self,
        trusted: bool,
        asked: Asked<'_>,
        remembered: &[String],
        places: &Whereabouts<'_>,
    ) -> Result<Policy, SettingsError> {
        let resolved = places.resolved(self.added(trusted, asked));
        let reading = Reading {
            alias: &|name| aliases::our_tool(name).map(str::to_owned),
            anchors: Anchors {
                root: &resolved.workspace,
                home: resolved.home.as_deref(),
            },
        };
        let mut rules = Rules::default();
        for set in &self.permissions {
            let counts = trusted || !set.origin.is_of_workspace();
            let allow: &[String] = if counts { &set.value.allow } else { &[] };
            let parsed = Rules::parse(allow, &set.value.ask, &set.value.deny, reading);
            rules.extend(parsed.map_err(|error| SettingsError::Value {
                file: set.origin.file.to_path_buf(),
                key: "permissions".to_owned(),
                problem: error.to_string(),
            })?);
        }
        let flags = |flag: &str, texts: &[String]| -> Result<Vec<Rule>, SettingsError> {
            let rule = |text: &String| Rule::parse(text, reading);
            let rules: Result<_, _> = texts.iter().map(rule).collect();
            rules.map_err(|error| SettingsError::Value {
                file: "the command line".into(),
                key: flag.to_owned(),
                problem: error.to_string(),
            })
        };
        rules.allow.extend(flags("--allowed-tools", asked.allow)?);
        rules.deny.extend(flags("--disallowed-tools", asked.deny)?);
        // One that an older version wrote and this one cannot read asks again.
        let old = remembered
            .iter()
            .filter_map(|text| Rule::parse(text, reading).ok());
        rules.allow.extend(old);
        Ok(Policy {
            mode: self.mode(trusted, asked),
            rules,
            places: resolved,
        })
    }

    /// The command line's, else the strongest file's that counts: one of an untrusted workspace
    /// may only be stricter than what is allowed without it.
    pub fn mode(&self, trusted: bool, asked: Asked<'_>) -> Mode {
        if let Some(mode) = asked.mode {
            return mode;
        }
        let modes = self
            .permissions
            .iter()
            .filter_map(|set| Some((set, set.value.mode?)));
        let mut counting = modes
            .filter(|(set, mode)| trusted || !set.origin.is_of_workspace() || *mode == Mode::Plan);
        counting.next_back().map_or(Mode::Default, |(_, mode)| mode)
    }

    fn added(&self, trusted: bool, asked: Asked<'_>) -> Vec<String> {
        let counting = self
            .permissions
            .iter()
            .filter(|set| trusted || !set.origin.is_of_workspace());
        let named = counting.flat_map(|set| set.value.additional_directories.clone());
        let asked = asked
            .add_dirs
            .iter()
            .map(|path| path.to_string_lossy().into_owned());
        named.chain(asked).collect()
    }

    /// What would count besides, were the workspace trusted.
    pub fn gated(&self) -> Vec<Gated> {
        let mut gated = Vec::new();
        let mut add = |what, text: String, origin: &super::Origin| {
            let file = origin.to_string();
            gated.push(Gated { what, text, file });
        };
        let of_workspace = self
            .permissions
            .iter()
            .filter(|set| set.origin.is_of_workspace());
        for Set { value, origin } in of_workspace {
            for rule in &value.allow {
                add("an allow rule", rule.clone(), origin);
            }
            for folder in &value.additional_directories {
                add("a further folder", folder.clone(), origin);
            }
            if let Some(mode) = value.mode.filter(|mode| *mode != Mode::Plan) {
                add("a permission mode", mode.to_string(), origin);
            }
        }
        for hook in self
            .hooks
            .iter()
            .filter(|hook| hook.origin.is_of_workspace())
        {
            add("a hook", hook.command.clone(), &hook.origin);
        }
        for Set { value, origin } in self.env.iter().filter(|set| set.origin.is_of_workspace()) {
            for name in value.keys() {
                add("a variable", name.clone(), origin);
            }
        }
        let values = &self.values;
        let mut models = vec![
            ("a model", &values.model),
            ("a model", &values.fallback_model),
        ];
        models.push(("a shell", &values.shell));
        for (what, value) in models {
            let value = value.as_ref().filter(|set| set.origin.is_of_workspace());
            if let Some(set) = value.filter(|set| what == "a shell" || names_a_server(&set.value)) {
                add(what, set.value.clone(), &set.origin);
            }
        }
        gated
    }

    /// The values, without those of an untrusted workspace that choose a server or a program.
    pub fn values(&self, trusted: bool) -> super::Values {
        let mut values = self.values.clone();
        if trusted {
            return values;
        }
        let barred = |set: &Set<String>| set.origin.is_of_workspace() && names_a_server(&set.value);
        values.model.take_if(|set| barred(set));
        values.fallback_model.take_if(|set| barred(set));
        values.model_for.retain(|_, set| !barred(set));
        values.shell.take_if(|set| set.origin.is_of_workspace());
        values
    }
}

/// A model that is named with its address, and so decides who gets to read the session.
fn names_a_server(model: &str) -> bool {
    model.contains("://")
}

/// Folders as they are known before they are resolved.
#[derive(Debug, Clone, Copy)]
pub struct Whereabouts<'a> {
    pub workspace: &'a Path,
    pub home: Option<&'a Path>,
    /// Hames' own folders: settings and journals.
    pub own: &'a [&'a Path],
}

impl Whereabouts<'_> {
    /// Symbolic links are followed, as tools follow them in the paths they declare.
    fn resolved(&self, added: Vec<String>) -> Places {
        let workspace = real(self.workspace);
        let absolute = |text: &String| {
            let home = self.home.zip(text.strip_prefix("~/"));
            let path = home.map(|(home, rest)| home.join(rest));
            real(&path.unwrap_or_else(|| self.workspace.join(text)))
        };
        Places {
            added: added.iter().map(absolute).collect(),
            home: self.home.map(real),
            own: self.own.iter().map(|path| real(path)).collect(),
            workspace,
        }
    }
}

fn real(path: &Path) -> String {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real.to_string_lossy().into_owned()
}
