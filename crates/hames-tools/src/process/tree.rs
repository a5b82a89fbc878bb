//! Everything a call has started, found again and ended.
//!
//! On Linux by group, session, parents, mark and cgroup; elsewhere by the process group alone.

mod live;
#[cfg(target_os = "linux")]
mod members;
#[cfg(target_os = "linux")]
mod strays;
#[cfg(target_os = "linux")]
mod table;

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::process::Child;

use super::cgroup::Group;

/// How often a look is taken at whether all have gone.
const LOOK: Duration = Duration::from_millis(5);

/// How often a kill is repeated for those that were born during the last one.
const ROUNDS: usize = 20;

/// The same where there is time to wait between two of them.
const PATIENT_ROUNDS: usize = 200;

/// The processes of one call, or of a whole session.
pub(super) struct Tree {
    /// The process that was started, and its group; none for a whole session, nor before the start.
    pub leader: OnceLock<u32>,
    pub mark: String,
    pub call: Option<u64>,
    /// Orphans come to us.
    pub adopts: bool,
    pub cgroup: Option<Arc<Group>>,
    /// Those who were in the cgroup, or had come to us, before this began.
    pub before: Vec<u32>,
    /// No longer under way: nobody new can be its own.
    pub over: AtomicBool,
    /// Those it has left behind, by pid and start; there only once its shell is gone.
    pub claimed: OnceLock<Vec<(u32, u64)>>,
}

impl Tree {
    /// Those who carry the mark, and no others.
    pub fn of_mark(mark: String) -> Self {
        Self {
            leader: OnceLock::new(),
            mark,
            call: None,
            adopts: false,
            cgroup: None,
            before: Vec::new(),
            over: AtomicBool::new(false),
            claimed: OnceLock::new(),
        }
    }

    /// From now on, other calls know of it.
    pub fn register(self: &Arc<Self>) {
        live::register(self);
    }

    /// The shell is gone, or about to be waited for no longer.
    pub fn is_over(&self) -> bool {
        self.over.load(SeqCst)
    }

    pub fn set_over(&self) {
        self.over.store(true, SeqCst);
    }

    /// They stay its own, whatever they leave behind of their signs.
    pub fn claim(&self, pids: &[u32]) {
        let named = |pid: &u32| Some((*pid, start(*pid)?));
        let _ = self.claimed.set(pids.iter().filter_map(named).collect());
    }

    pub fn has_claimed(&self, pid: u32, start: u64) -> bool {
        let claimed = self.claimed.get().map(Vec::as_slice).unwrap_or_default();
        claimed.contains(&(pid, start))
    }

    /// False for certain where nobody is left; true says that it is worth a closer look.
    pub fn may_have_members(&self) -> bool {
        self.group_is_alive() || self.newcomers_came()
    }

    fn group_is_alive(&self) -> bool {
        let leader = self.leader.get().copied();
        leader.is_some_and(signals::group_is_alive)
    }

    /// Somebody is in the cgroup who was not, and whose group does not say where it comes from.
    fn newcomers_came(&self) -> bool {
        let mut pids = self
            .cgroup
            .as_ref()
            .map_or(Vec::new(), |group| group.pids());
        let own = std::process::id();
        pids.retain(|pid| *pid != own && !self.before.contains(pid));
        if pids.is_empty() {
            return false;
        }
        let others = live::others(self);
        let leaders = others
            .iter()
            .filter_map(|other| other.leader.get().copied());
        let known: Vec<u32> = leaders.chain(signals::group_of(own)).collect();
        let groups = pids.into_iter().filter_map(signals::group_of);
        groups.into_iter().any(|group| !known.contains(&group))
    }

    /// Those that are alive, in order.
    pub fn members(&self) -> Vec<u32> {
        found(self)
    }

    /// Asks, waits for `grace`, and then ends everyone; the child itself is waited for.
    pub async fn end_with(&self, child: &mut Child, grace: Duration) {
        self.ask();
        let gone = async {
            let _ = child.wait().await;
            all_gone(&[self]).await;
        };
        if tokio::time::timeout(grace, gone).await.is_err() {
            kill_for_certain(&[self]).await;
        }
        let _ = child.start_kill();
        let _ = child.wait().await;
        // One that might have been another call's is this one's if the other is over by now.
        self.set_over();
        kill_for_certain(&[self]).await;
        self.bury();
    }

    /// The same for those whose shell has gone already.
    pub async fn end(&self, grace: Duration, others: &[Arc<Self>]) {
        let others = others.iter().map(AsRef::as_ref);
        let all: Vec<&Self> = std::iter::once(self).chain(others).collect();
        all.iter().copied().for_each(Self::ask);
        if tokio::time::timeout(grace, all_gone(&all)).await.is_err() {
            kill_for_certain(&all).await;
        }
    }

    /// A group is signalled only while members of it are known: its number may be another's later.
    fn ask(&self) {
        let alive = self.members();
        if cfg!(target_os = "linux") {
            alive.into_iter().for_each(signals::ask);
        } else if !alive.is_empty() {
            let leader = self.leader.get().copied();
            leader.into_iter().for_each(signals::ask_group);
        }
    }

    /// For where nobody can wait: all have been told when it returns.
    pub fn kill(&self) {
        for _ in 0..ROUNDS {
            if !self.kill_found() {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// False once there is nobody left. Whoever starts others meanwhile is met the next time.
    fn kill_found(&self) -> bool {
        let alive = self.members();
        if alive.is_empty() {
            return false;
        }
        let leader = self.leader.get().copied();
        leader.into_iter().for_each(signals::kill_group);
        alive.iter().copied().for_each(signals::kill);
        self.reap(&alive);
        true
    }

    /// Those of its group that have ended as our orphans are waited for by nobody else.
    pub fn bury(&self) {
        if self.adopts {
            let leader: Vec<u32> = self.leader.get().copied().into_iter().collect();
            adopted_so_far(&leader);
        }
    }

    /// Those that came to us as orphans are ours to bury; the leader is its owner's.
    fn reap(&self, pids: &[u32]) {
        if self.adopts {
            let leader = self.leader.get();
            let orphans = pids.iter().filter(|pid| Some(*pid) != leader);
            orphans.copied().for_each(signals::reap);
        }
    }
}

/// Returns when all have gone; those who have ended but are waited for by nobody count as gone.
async fn all_gone(trees: &[&Tree]) {
    loop {
        let alive: Vec<u32> = trees.iter().flat_map(|tree| tree.members()).collect();
        if alive.is_empty() {
            return;
        }
        while alive.iter().copied().any(is_alive) {
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Returns when all have gone; one that the system itself holds up is left behind in the end.
async fn kill_for_certain(trees: &[&Tree]) {
    for _ in 0..PATIENT_ROUNDS {
        let left = trees.iter().filter(|tree| tree.kill_found()).count();
        if left == 0 {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

#[cfg(target_os = "linux")]
use {
    members::found,
    table::{adopted, dead_orphans, is_alive, start},
};

#[cfg(not(target_os = "linux"))]
fn found(tree: &Tree) -> Vec<u32> {
    let alive = |leader: &u32| signals::group_is_alive(*leader);
    let leader = tree.leader.get().copied();
    leader.filter(alive).into_iter().collect()
}

#[cfg(not(target_os = "linux"))]
use signals::group_is_alive as is_alive;

#[cfg(not(target_os = "linux"))]
fn start(_pid: u32) -> Option<u64> {
    None
}

/// From now on, orphans of our children come to us.
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // An old kernel without it leaves the other ways of finding them.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// The orphans that have come to us so far; those that have ended are buried. `leaders` are the
/// shells that have left some behind.
pub(super) fn adopted_so_far(leaders: &[u32]) -> Vec<u32> {
    #[cfg(target_os = "linux")]
    {
        let adopted = adopted();
        dead_orphans(&adopted, leaders)
            .into_iter()
            .for_each(signals::reap);
        adopted
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = leaders;
        Vec::new()
    }
}

#[cfg(unix)]
pub(super) mod signals {
    //! Signals, to those that may have gone already: that is no error.

    use rustix::process::{
        Pid, Signal, WaitOptions, getpgid, kill_process, kill_process_group,
        test_kill_process_group, waitpid,
    };

    fn pid(raw: u32) -> Option<Pid> {
        Pid::from_raw(i32::try_from(raw).ok()?)
    }

    pub fn group_is_alive(group: u32) -> bool {
        pid(group).is_some_and(|group| test_kill_process_group(group).is_ok())
    }

    /// None where it has gone.
    pub fn group_of(one: u32) -> Option<u32> {
        let group = getpgid(Some(pid(one)?)).ok()?;
        u32::try_from(group.as_raw_nonzero().get()).ok()
    }

    pub fn ask_group(group: u32) {
        let _ = pid(group).map(|group| kill_process_group(group, Signal::TERM));
    }

    pub fn kill_group(group: u32) {
        let _ = pid(group).map(|group| kill_process_group(group, Signal::KILL));
    }

    pub fn ask(one: u32) {
        let _ = pid(one).map(|one| kill_process(one, Signal::TERM));
    }

    pub fn kill(one: u32) {
        let _ = pid(one).map(|one| kill_process(one, Signal::KILL));
    }

    pub fn reap(one: u32) {
        let _ = pid(one).map(|one| waitpid(Some(one), WaitOptions::NOHANG));
    }
}

#[cfg(not(unix))]
pub(super) mod signals {
    //! Without signals only the child itself can be ended, by its owner.

    pub fn group_is_alive(_group: u32) -> bool {
        false
    }
    pub fn group_of(_one: u32) -> Option<u32> {
        None
    }
    pub fn ask_group(_group: u32) {}
    pub fn kill_group(_group: u32) {}
    pub fn ask(_one: u32) {}
    pub fn kill(_one: u32) {}
    pub fn reap(_one: u32) {}
}
