//! Settings: what files say, layer upon layer, each value with the file that it came from.
//!
//! It reads the files it is told of and nothing else; whether a workspace's word counts is `trust`'s
//! to say, and what the values do is for those who use them.

mod fields;
mod hooks;
mod permissions;

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use fields::Fields;
pub use hooks::{HookEvent, HookSetting};
pub use permissions::{Asked, Gated, PermissionLists, Whereabouts};

/// Whose file it is. A later one wins over an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    User,
    Workspace,
    WorkspaceLocal,
}

/// Where a value was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub scope: Scope,
    pub file: Arc<Path>,
}

impl Origin {
    /// It came with the workspace, so it counts only once that is trusted.
    pub fn is_of_workspace(&self) -> bool {
        self.scope != Scope::User
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.display().fmt(f)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Set<T> {
    pub value: T,
    pub origin: Origin,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("{file}: {error}")]
    Unreadable { file: PathBuf, error: io::Error },
    #[error("{file}: it is no JSON: {error}")]
    NotJson {
        file: PathBuf,
        error: serde_json::Error,
    },
    /// `problem`: what was expected, and what is there.
    #[error("{file}: {key}: {problem}")]
    Value {
        file: PathBuf,
        key: String,
        problem: String,
    },
}

/// Where the files may be; `None` where there is no such folder.
#[derive(Debug, Clone, Copy)]
pub struct Folders<'a> {
    /// `$XDG_CONFIG_HOME/hames`, by default `~/.config/hames`.
    pub config: Option<&'a Path>,
    pub home: Option<&'a Path>,
    pub workspace: &'a Path,
}

/// Everything the files say, whether or not the workspace is trusted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    pub values: Values,
    pub permissions: Vec<Set<PermissionLists>>,
    pub hooks: Vec<HookSetting>,
    /// Later ones win.
    pub env: Vec<Set<BTreeMap<String, String>>>,
    /// What a person should know: unknown keys, hooks that cannot run here.
    pub warnings: Vec<String>,
}

/// One value each; the strongest file's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values {
    pub model: Option<Set<String>>,
    pub fallback_model: Option<Set<String>>,
    /// A model per role: `critic`, `compact` and the like.
    pub model_for: BTreeMap<String, Set<String>>,
    pub shape: Option<Set<String>>,
    pub effort: Option<Set<String>>,
    /// `None` inside: no limit (`"none"`).
    pub max_turns: Option<Set<Option<u32>>>,
    /// Seconds.
    pub max_wall: Option<Set<f64>>,
    /// US dollars.
    pub max_cost: Option<Set<f64>>,
    pub max_output_tokens: Option<Set<u64>>,
    pub max_total_tokens: Option<Set<u64>>,
    pub tool_concurrency: Option<Set<u64>>,
    /// Percent of the model's window.
    pub compact_at: Option<Set<u64>>,
    pub durability: Option<Set<String>>,
    pub shell: Option<Set<String>>,
    pub system_prompt: Option<Set<String>>,
    pub append_system_prompt: Option<Set<String>>,
    pub timeouts: Timeouts,
}

/// Seconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeouts {
    pub connect: Option<Set<f64>>,
    pub first_byte: Option<Set<f64>>,
    pub idle: Option<Set<f64>>,
    /// Of a `bash` call that names none.
    pub bash: Option<Set<f64>>,
    /// The most that a `bash` call may ask for.
    pub bash_most: Option<Set<f64>>,
}

/// Who wrote a file: ours has every key, Claude Code's is read for permissions and hooks alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Hames,
    Claude,
}

impl Settings {
    /// Reads every file there is, the weakest first.
    pub fn load(folders: Folders<'_>) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for (file, scope, dialect) in files(folders) {
            settings.add_file(&file, scope, dialect)?;
        }
        Ok(settings)
    }

    fn add_file(
        &mut self,
        file: &Path,
        scope: Scope,
        dialect: Dialect,
    ) -> Result<(), SettingsError> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(error) => {
                let file = file.to_owned();
                return Err(SettingsError::Unreadable { file, error });
            }
        };
        if text.trim().is_empty() {
            return Ok(());
        }
        let json: Value = serde_json::from_str(&text).map_err(|error| SettingsError::NotJson {
            file: file.to_owned(),
            error,
        })?;
        let origin = Origin {
            scope,
            file: file.into(),
        };
        let fields = Fields::of(&json, &origin)?;
        self.add(&fields, &origin, dialect)
    }

    fn add(
        &mut self,
        fields: &Fields<'_>,
        origin: &Origin,
        dialect: Dialect,
    ) -> Result<(), SettingsError> {
        if let Some(lists) = permissions::read(fields, dialect)? {
            let (value, origin) = (lists, origin.clone());
            self.permissions.push(Set { value, origin });
        }
        hooks::read(self, fields, origin, dialect)?;
        if dialect == Dialect::Claude {
            return Ok(());
        }
        if let Some(env) = fields.texts("env")? {
            let origin = origin.clone();
            self.env.push(Set { value: env, origin });
        }
        self.values.add(fields)?;
        for key in fields.unknown(KEYS) {
            self.warnings
                .push(format!("{origin}: there is no setting {key}"));
        }
        Ok(())
    }

    /// The variables for children, and what is left out because the workspace is not trusted.
    pub fn env(&self, trusted: bool) -> BTreeMap<String, String> {
        let counts = self
            .env
            .iter()
            .filter(|set| trusted || !set.origin.is_of_workspace());
        let pairs = counts.flat_map(|set| set.value.clone());
        pairs.collect()
    }

    /// The hooks that may run.
    pub fn hooks(&self, trusted: bool) -> Vec<HookSetting> {
        let hooks = self.hooks.iter();
        let counts = hooks.filter(|hook| trusted || !hook.origin.is_of_workspace());
        counts.cloned().collect()
    }
}

/// Every key of ours at the top of a file.
const KEYS: &[&str] = &[
    "$schema",
    "append_system_prompt",
    "compact_at",
    "disable_all_hooks",
    "durability",
    "effort",
    "env",
    "fallback_model",
    "hooks",
    "max_cost",
    "max_output_tokens",
    "max_total_tokens",
    "max_turns",
    "max_wall",
    "model",
    "model_for",
    "permission_mode",
    "permissions",
    "shape",
    "shell",
    "system_prompt",
    "timeouts",
    "tool_concurrency",
];

impl Values {
    fn add(&mut self, fields: &Fields<'_>) -> Result<(), SettingsError> {
        let texts = [
            ("model", &mut self.model),
            ("fallback_model", &mut self.fallback_model),
            ("shape", &mut self.shape),
            ("effort", &mut self.effort),
            ("durability", &mut self.durability),
            ("shell", &mut self.shell),
            ("system_prompt", &mut self.system_prompt),
            ("append_system_prompt", &mut self.append_system_prompt),
        ];
        for (key, value) in texts {
            replace(value, fields.text(key)?);
        }
        let counts = [
            ("max_output_tokens", &mut self.max_output_tokens),
            ("max_total_tokens", &mut self.max_total_tokens),
            ("tool_concurrency", &mut self.tool_concurrency),
            ("compact_at", &mut self.compact_at),
        ];
        for (key, value) in counts {
            replace(value, fields.count(key)?);
        }
        replace(&mut self.max_wall, fields.number("max_wall")?);
        replace(&mut self.max_cost, fields.number("max_cost")?);
        replace(&mut self.max_turns, fields.turns("max_turns")?);
        for (role, model) in fields.texts("model_for")?.unwrap_or_default() {
            self.model_for.insert(role, fields.set(model));
        }
        let Some(timeouts) = fields.inside("timeouts")? else {
            return Ok(());
        };
        let seconds = [
            ("connect", &mut self.timeouts.connect),
            ("first_byte", &mut self.timeouts.first_byte),
            ("idle", &mut self.timeouts.idle),
            ("bash", &mut self.timeouts.bash),
            ("bash_most", &mut self.timeouts.bash_most),
        ];
        for (key, value) in seconds {
            replace(value, timeouts.number(key)?);
        }
        Ok(())
    }
}

fn replace<T>(old: &mut Option<Set<T>>, new: Option<Set<T>>) {
    if new.is_some() {
        *old = new;
    }
}

fn files(folders: Folders<'_>) -> Vec<(PathBuf, Scope, Dialect)> {
    let at = |folder: Option<&Path>, below: &str, scope, dialect| {
        folder.map(|folder| (folder.join(below), scope, dialect))
    };
    let workspace = Some(folders.workspace);
    let (claude, local) = (".claude/settings.json", ".claude/settings.local.json");
    let files = [
        at(folders.home, claude, Scope::User, Dialect::Claude),
        at(folders.config, "settings.json", Scope::User, Dialect::Hames),
        // A workspace that is the home folder does not read the user's file twice.
        at(
            workspace.filter(|own| Some(*own) != folders.home),
            claude,
            Scope::Workspace,
            Dialect::Claude,
        ),
        at(
            workspace,
            ".hames/settings.json",
            Scope::Workspace,
            Dialect::Hames,
        ),
        at(workspace, local, Scope::WorkspaceLocal, Dialect::Claude),
        at(
            workspace,
            ".hames/settings.local.json",
            Scope::WorkspaceLocal,
            Dialect::Hames,
        ),
    ];
    files.into_iter().flatten().collect()
}

/// Also where a folder on the way is a file, or closed to us: then there is nothing to read.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
