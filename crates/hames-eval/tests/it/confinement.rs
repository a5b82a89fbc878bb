//! What an agent can see of folders that were hidden from it, with real mounts.

use std::{fs, path::PathBuf, process::Command, time::Duration};

use hames_eval::{
    adapter::CommandLine, confinement::Confinement, environment::Around, stages::s4_solve::Solved,
};

use crate::solving::{Script, World};

/// A world in a folder that is hidden as a whole, beside a file and a folder that are.
async fn world() -> Option<World> {
    let mut world = World::new().await;
    world.confinement = Confinement::probe(&world.ground.around()).await.unwrap();
    if !world.confinement.is_possible() {
        assert!(!can_mount(&world), "it can, and was not found to");
        println!("skipped: this system has no private mounts for us");
        return None;
    }
    let answers = world.ground.folder("answers of it");
    fs::write(answers.join("gold.patch"), "the answer").unwrap();
    fs::write(world.ground.path("tasks.jsonl"), "the answer").unwrap();
    world.hide = vec![
        answers,
        world.ground.path("tasks.jsonl"),
        world.ground.path("absent"),
    ];
    Some(world)
}

/// Whether the system lets anybody here have mounts of their own, asked in the plainest way.
fn can_mount(world: &World) -> bool {
    let folder = world.ground.folder("mounted");
    let mount = format!("mount -t tmpfs none '{}'", folder.display());
    let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    ways.iter().any(|way| {
        let mut unshare = Command::new("unshare");
        unshare.args(*way).args(["--", "sh", "-c", &mount]);
        unshare.output().is_ok_and(|output| output.status.success())
    })
}

async fn solve(world: &World, script: &str) -> Solved {
    world.solve(&[&Script::new(script)]).await.unwrap()
}

#[tokio::test]
async fn req_w12_an_agent_that_looks_for_the_answers_sees_nothing() {
    let Some(world) = world().await else { return };
    let look = "cat ../../answers*/* ../../tasks.jsonl; ls -A ../../answers*; echo x > ../../answers*/mine; \
                umount ../../answers* ../../tasks.jsonl; cat ../../answers*/* ../../tasks.jsonl; \
                sed -i 's/ + 1//' code.py; echo x > $HOME/x; echo x > $TMPDIR/x; pwd; id -u";
    let solved = solve(&world, look).await;
    let own = world.ground.path("answers of it");
    let id = fs::metadata(&own)
        .map(|meta| std::os::unix::fs::MetadataExt::uid(&meta))
        .unwrap();
    let tree = world.place.tree.display();
    assert_eq!(world.printed(), format!("{tree}\n{id}\n"));
    let hidden = [own.clone(), world.ground.path("tasks.jsonl")];
    assert_eq!(solved.hidden, hidden);
    assert_eq!(solved.attempts[0].hidden, Some(true));
    assert_eq!(solved.taken, Some(0));
    assert!(world.place.home.join("x").exists() && world.place.temp.join("x").exists());
    // The log has the agent's own command, not the program that covers folders for it.
    let log = world.log();
    let command = log.iter().find_map(|line| line.get("command")).unwrap();
    assert!(!command.to_string().contains("setpriv"), "{command}");
    assert!(command.to_string().contains("sed -i"), "{command}");
    // Nobody else is kept from it.
    assert_eq!(
        fs::read_to_string(own.join("gold.patch")).unwrap(),
        "the answer"
    );
    assert_eq!(fs::read_dir(&own).unwrap().count(), 1);
}

#[tokio::test]
async fn an_agents_own_place_stays_in_sight_below_a_hidden_folder() {
    let Some(mut world) = world().await else {
        return;
    };
    world.hide = vec![world.ground.path("")];
    let look = "ls -A ../.. ..; cat ../../tasks.jsonl; echo x > ../../mine; sed -i 's/ + 1//' code.py; \
                echo x > $HOME/x; echo x > $TMPDIR/x; git status --short; cat code.py";
    let solved = solve(&world, look).await;
    assert_eq!(
        world.printed(),
        "..:\nhome\ntmp\ntree\n\n../..:\nwork\n M code.py\ndef double(n):\n    return n + n\n"
    );
    assert_eq!(
        (solved.taken, solved.attempts[0].hidden),
        (Some(0), Some(true))
    );
    assert!(world.place.home.join("x").exists() && world.place.temp.join("x").exists());
    assert!(!world.ground.path("mine").exists());
    assert!(!world.extract().await.unwrap().patch.is_empty());
}

#[tokio::test]
async fn a_confined_agent_is_ended_like_any_other() {
    let Some(mut world) = world().await else {
        return;
    };
    world.wall = Duration::from_millis(700);
    let solved = solve(
        &world,
        "trap '' TERM; sed -i 's/ + 1//' code.py; (setsid sh -c 'trap \"\" TERM; sleep 300' &)\nsleep 300; sleep 300",
    )
    .await;
    let attempt = &solved.attempts[0];
    assert_eq!(
        (attempt.killed, attempt.rescued, attempt.returncode),
        (true, true, Some(-9))
    );
    assert_eq!(world.alive(), 0);
    let solved = solve(&world, "exec sleep 300").await;
    assert_eq!(solved.attempts[0].returncode, Some(-15));
    let solved = solve(&world, "(setsid sleep 300 >/dev/null 2>&1 &)\nexit 3").await;
    let attempt = &solved.attempts[0];
    assert_eq!((attempt.returncode, attempt.survivors_killed), (Some(3), 1));
    assert_eq!(world.alive(), 0);
}

#[tokio::test]
async fn what_an_agent_needs_is_left_open_and_said() {
    let Some(world) = world().await else { return };
    let tools = world.ground.folder("tools");
    let program = tools.join("agent");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    let line = CommandLine::new(&program);
    let hide = [tools.clone(), world.place.home.clone()];
    let confined = world.confinement.confine(line.clone(), &world.place, &hide);
    let open: Vec<PathBuf> = confined.open.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!((confined.line, open), (line.clone(), hide.to_vec()));
    let confined = Confinement::none().confine(line.clone(), &world.place, &world.hide);
    assert_eq!(
        (confined.line, confined.hidden.len(), confined.open.len()),
        (line, 0, 2)
    );
}

#[tokio::test]
async fn a_cover_that_cannot_be_made_is_no_agents_failure() {
    let Some(mut world) = world().await else {
        return;
    };
    // Nothing can be mounted with this `mount`.
    let tools = world.ground.folder("tools");
    fs::write(tools.join("mount"), "#!/bin/sh\nexit 1\n").unwrap();
    world.ground.make_executable(&tools.join("mount"));
    let path = world.ground.host.variables["PATH"].clone();
    let path = format!("{}:{path}", tools.display());
    world.ground.host.variables.insert("PATH".to_owned(), path);
    let solved = solve(&world, "echo ran").await;
    let attempt = &solved.attempts[0];
    assert_eq!(attempt.outcome, "infrastructure");
    assert!(
        attempt
            .error
            .as_ref()
            .unwrap()
            .starts_with("hames: cannot cover /")
    );
    assert_eq!(world.printed(), "");
}

#[tokio::test]
async fn without_unshare_nothing_is_hidden() {
    let mut world = World::new().await;
    let variables = &mut world.ground.host.variables;
    variables.insert("PATH".to_owned(), "/nowhere".to_owned());
    let around = Around {
        host: &world.ground.host,
        cancel: &world.ground.cancel,
    };
    assert_eq!(
        Confinement::probe(&around).await.unwrap(),
        Confinement::none()
    );
}
