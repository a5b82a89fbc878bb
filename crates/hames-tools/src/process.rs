//! Child processes: started in a group of their own, listened to, and ended with all they started.
//!
//! What a command line means, and what the model is told of it, is not known here.

mod cgroup;
mod environment;
mod output;
mod tree;

use std::{
    convert::Infallible,
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdin, Command},
};
use tokio_util::sync::CancellationToken;

pub use self::output::Stream;
use self::tree::Tree;
pub(crate) use self::{
    environment::{fresh_mark, is_mark},
    output::{Readers, Sink},
};

/// How the children of a session are started and ended.
#[derive(Debug, Clone)]
pub struct ProcessOptions {
    /// Variables that no child gets to see: the providers' keys.
    pub strip_env: Vec<String>,
    /// Variables that every child gets on top of what it inherits.
    pub env: Vec<(String, String)>,
    /// From the polite signal to the one that cannot be ignored. Default 1.5 s: a cancelled tool
    /// has 2 s in all, and its partial output has to be told within them.
    pub grace: Duration,
    /// How long output is awaited from those who outlive their shell. Default 100 ms.
    pub drain: Duration,
    /// Become the parent of orphans (Linux). It is a property of the whole operating system
    /// process, so it is for a binary to ask for, never for a library. Default false.
    pub subreaper: bool,
    /// Move this operating system process to a cgroup (v2) of its own, where one can be made, with
    /// the first child: all its children are found there. For a binary to ask for. Default false.
    pub cgroup: bool,
}

impl Default for ProcessOptions {
    fn default() -> Self {
        let plain = [
            ("GIT_PAGER", "cat"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("NO_COLOR", "1"),
            ("PAGER", "cat"),
            ("TERM", "dumb"),
        ];
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self {
            strip_env: Vec::new(),
            env: plain.into_iter().map(owned).collect(),
            grace: Duration::from_millis(1500),
            drain: Duration::from_millis(100),
            subreaper: false,
            cgroup: false,
        }
    }
}

/// The children of one session. What still runs when it is dropped is killed.
pub struct Processes {
    options: ProcessOptions,
    /// The name of the variable by which a child is known again, wherever it went.
    mark: String,
    next_call: AtomicU64,
    begun: OnceLock<Begun>,
    trees: Mutex<Vec<Arc<Tree>>>,
}

/// What was found, and made, when the first child was about to be started.
struct Begun {
    cgroup: Option<Arc<cgroup::Group>>,
    /// Those who were there already.
    before: Vec<u32>,
}

/// One child to be run to its end.
pub(crate) struct Job<'a> {
    pub program: &'a Path,
    pub args: &'a [&'a str],
    pub cwd: &'a Path,
    /// Nothing to read where it is `None`.
    pub stdin: Option<&'a [u8]>,
    /// One pipe keeps the order in which two streams were written.
    pub merged: bool,
    pub env: &'a [(String, String)],
    /// Whether our own variables are passed on.
    pub inherit: bool,
    pub timeout: Duration,
    pub cancel: CancellationToken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    Cancelled,
}

pub(crate) struct Ended {
    pub end: End,
    /// How the child itself ended, also where it was made to.
    pub status: Option<ExitStatus>,
    /// Those who outlive their shell.
    pub background: Vec<u32>,
    /// Still open in the hands of those who outlive their shell.
    pub rest: Option<Readers>,
}

impl Processes {
    pub fn new(options: ProcessOptions) -> Arc<Self> {
        Self::marked(options, fresh_mark())
    }

    /// With a mark that somebody has written down.
    pub(crate) fn marked(options: ProcessOptions, mark: String) -> Arc<Self> {
        if options.subreaper {
            tree::adopt_orphans();
        }
        Arc::new(Self {
            options,
            mark,
            next_call: AtomicU64::new(1),
            begun: OnceLock::new(),
            trees: Mutex::default(),
        })
    }

    /// Whether children are kept in a cgroup; false where none can be made, or none was asked for.
    /// This process is moved there, until the last of its `Processes` is dropped.
    pub fn has_cgroups(&self) -> bool {
        self.begun().cgroup.is_some()
    }

    /// The processes that outlived the calls which started them, in order.
    pub fn background(&self) -> Vec<u32> {
        let trees: Vec<_> = self.trees().clone();
        let mut alive: Vec<u32> = trees.iter().flat_map(|tree| tree.members()).collect();
        alive.sort_unstable();
        alive.dedup();
        alive
    }

    /// Ends all that the session started and is still there: politely, then for certain.
    pub async fn kill_all(&self) {
        if self.begun.get().is_none() {
            return;
        }
        let session = self.session_tree();
        let kept = std::mem::take(&mut *self.trees());
        session.end(self.options.grace, &kept).await;
    }

    /// For those whose last child has left nobody: no look is taken for who is still there.
    pub(crate) fn let_go(self: Arc<Self>) {
        if let Some(mut own) = Arc::into_inner(self) {
            own.begun.take();
        }
    }

    /// Runs a job to its end, or ends it; each piece of output is handed to `sink` as it comes.
    pub(crate) async fn run(
        self: &Arc<Self>,
        job: Job<'_>,
        sink: &mut Sink<'_>,
    ) -> io::Result<Ended> {
        let (mut child, mut readers, tree) = self.spawn(&job)?;
        let leash = Leash::new(self, tree.clone());
        let feeding = feed(child.stdin.take(), job.stdin.unwrap_or_default());
        let mut status = None;
        let end = {
            let listening = readers.listen(&mut child, sink);
            tokio::select! {
                biased;
                ended = listening => end_of(*status.insert(ended?)),
                () = job.cancel.cancelled() => End::Cancelled,
                () = tokio::time::sleep(job.timeout) => End::TimedOut,
                never = feeding => match never {},
            }
        };
        match end {
            End::TimedOut | End::Cancelled => {
                let grace = self.options.grace;
                tokio::select! {
                    () = tree.end_with(&mut child, grace) => {}
                    never = readers.hear_out(sink) => match never {},
                }
                readers.drain(self.options.drain, sink).await;
                leash.forget();
                let status = child.try_wait().ok().flatten();
                Ok(Ended::with_nobody_left(end, status))
            }
            End::Exited(_) | End::Signalled(_) => {
                let closed = readers.drain(self.options.drain, sink).await;
                tree.set_over();
                let background = match closed && !tree.may_have_members() {
                    true => Vec::new(),
                    false => tree.members(),
                };
                if background.is_empty() {
                    tree.bury();
                    leash.forget();
                    return Ok(Ended::with_nobody_left(end, status));
                }
                tree.claim(&background);
                leash.keep();
                let rest = (!closed).then_some(readers);
                Ok(Ended {
                    end,
                    status,
                    background,
                    rest,
                })
            }
        }
    }

    fn spawn(&self, job: &Job<'_>) -> io::Result<(Child, Readers, Arc<Tree>)> {
        let call = self.next_call.fetch_add(1, Relaxed);
        let mut command = Command::new(job.program);
        command.args(job.args).current_dir(job.cwd);
        command.stdin(match job.stdin {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        });
        if !job.inherit {
            command.env_clear();
        }
        let readers = Readers::attach(&mut command, job.merged)?;
        command.envs(self.options.env.iter().chain(job.env).map(|(k, v)| (k, v)));
        for name in &self.options.strip_env {
            command.env_remove(name);
        }
        command.env(&self.mark, call.to_string());
        #[cfg(unix)]
        command.process_group(0);
        // Others must know of it before it can have children.
        let tree = Arc::new(self.call_tree(call));
        tree.register();
        let child = command.spawn()?;
        // The command holds the writing ends: without it, the pipes close with the last child.
        drop(command);
        if let Some(leader) = child.id() {
            let _ = tree.leader.set(leader);
        }
        Ok((child, readers, tree))
    }

    fn begun(&self) -> &Begun {
        self.begun.get_or_init(|| {
            let enter = || cgroup::Group::enter(&self.mark).map(Arc::new);
            let cgroup = self.options.cgroup.then(enter).flatten();
            let before = self.present(cgroup.as_deref(), &[]);
            Begun { cgroup, before }
        })
    }

    /// Those among whom strays are looked for, as of now. `leaders`: the shells that have left some
    /// behind, of whom those that have ended are buried.
    fn present(&self, cgroup: Option<&cgroup::Group>, leaders: &[u32]) -> Vec<u32> {
        let mut present = cgroup.map(cgroup::Group::pids).unwrap_or_default();
        if self.options.subreaper {
            present.extend(tree::adopted_so_far(leaders));
        }
        present.retain(|pid| *pid != std::process::id());
        present
    }

    fn call_tree(&self, call: u64) -> Tree {
        let cgroup = self.begun().cgroup.clone();
        let leader = |tree: &Arc<Tree>| tree.leader.get().copied();
        let leaders: Vec<u32> = self.trees().iter().filter_map(leader).collect();
        Tree {
            before: self.present(cgroup.as_deref(), &leaders),
            call: Some(call),
            cgroup,
            ..self.session_tree()
        }
    }

    /// Whoever carries the session's mark, whichever call it came from.
    fn session_tree(&self) -> Tree {
        let begun = self.begun();
        Tree {
            adopts: self.options.subreaper,
            cgroup: begun.cgroup.clone(),
            before: begun.before.clone(),
            ..Tree::of_mark(self.mark.clone())
        }
    }

    fn trees(&self) -> MutexGuard<'_, Vec<Arc<Tree>>> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // Without a single call there is nobody to look for.
        if self.begun.get().is_some() {
            self.session_tree().kill();
            self.trees().drain(..).for_each(|tree| tree.kill());
        }
    }
}

impl Ended {
    fn with_nobody_left(end: End, status: Option<ExitStatus>) -> Self {
        Self {
            end,
            status,
            background: Vec::new(),
            rest: None,
        }
    }
}

/// Kills a call's processes unless it was told otherwise: a call whose future is dropped leaves none.
struct Leash<'p> {
    processes: &'p Processes,
    tree: Option<Arc<Tree>>,
}

impl<'p> Leash<'p> {
    fn new(processes: &'p Processes, tree: Arc<Tree>) -> Self {
        let tree = Some(tree);
        Self { processes, tree }
    }

    fn forget(mut self) {
        self.tree = None;
    }

    /// They live on until the session ends.
    fn keep(mut self) {
        self.processes.trees().extend(self.tree.take());
    }
}

impl Drop for Leash<'_> {
    fn drop(&mut self) {
        if let Some(tree) = self.tree.take() {
            tree.kill();
        }
    }
}

/// Never ends: a child need not read what it is given.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) -> Infallible {
    if let Some(mut stdin) = stdin {
        // One that does not want to read it closes its end.
        let _ = stdin.write_all(input).await;
    }
    std::future::pending().await
}

/// Ends all who carry a mark that a process before this one gave out; says how many there were.
pub(crate) async fn end_marked(mark: &str, grace: Duration) -> usize {
    let tree = Tree::of_mark(mark.to_owned());
    let alive = tree.members().len();
    if alive > 0 {
        tree.end(grace, &[]).await;
    }
    alive
}

fn end_of(status: ExitStatus) -> End {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return End::Signalled(signal);
    }
    End::Exited(status.code().unwrap_or(-1))
}
