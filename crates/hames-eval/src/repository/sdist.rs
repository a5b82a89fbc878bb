//! A release's source archive: fetched by pip, held against its checksum, unpacked without its owners.
//!
//! It becomes a repository elsewhere.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use sha2::{Digest, Sha256};

use crate::{environment::Around, instance::Source, stage::StageError, tool::Tool};

const LIMIT: Duration = Duration::from_secs(900);

/// Fetches and unpacks it below `place`; returns the folder that is the tree.
pub(super) async fn fetch(
    source: &Source,
    place: &Path,
    python: &Path,
    cx: &Around<'_>,
) -> Result<PathBuf, StageError> {
    let Source::Sdist {
        project,
        version,
        file,
        sha256,
    } = source
    else {
        return Err(StageError::BadInput("the source is no archive".to_owned()));
    };
    let (fetched, unpacked) = (place.join("fetched"), place.join("unpacked"));
    for folder in [&fetched, &unpacked] {
        fs::create_dir_all(folder)
            .map_err(|error| StageError::io(format_args!("make {}", folder.display()), &error))?;
    }
    download(project, version, &fetched, python, cx).await?;
    let archive = find(&fetched, file, project, version)?;
    compare(&archive, sha256)?;
    unpack(&archive, &unpacked, python, cx).await?;
    only_folder(&unpacked)
        .map_err(|error| StageError::io(format_args!("read {}", unpacked.display()), &error))
}

/// Only this project has to come as a source archive: what its set-up asks for may be built already.
async fn download(
    project: &str,
    version: &str,
    to: &Path,
    python: &Path,
    cx: &Around<'_>,
) -> Result<(), StageError> {
    let release = format!("{project}=={version}");
    let to = to.to_string_lossy();
    let mut args = vec!["-m", "pip", "download", "--quiet", "--no-deps"];
    args.extend(["--no-binary", project, "--dest", &to, "--", &release]);
    let env = cx.host.registry_env();
    let tool = Tool {
        program: python,
        args: &args,
        cwd: Path::new(&*to),
        env: &env,
        stdin: None,
        limit: LIMIT,
    };
    let answer = tool.run(cx).await?;
    if answer.is_fine() {
        return Ok(());
    }
    let what = format!(
        "pip has not fetched the source archive of {release} (is the package registry reachable?): {}",
        answer.complaint()
    );
    Err(StageError::Infrastructure(what))
}

/// The archive of that name; or the only one, where the registry spells its name otherwise.
fn find(folder: &Path, file: &str, project: &str, version: &str) -> Result<PathBuf, StageError> {
    let named = folder.join(file);
    if !file.is_empty() && named.is_file() {
        return Ok(named);
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    match (found.pop(), found.pop()) {
        (Some(only), None) => Ok(only),
        _ => Err(StageError::BadInput(format!(
            "there is no source archive {file:?} of {project} {version}: correct the recipe's source"
        ))),
    }
}

fn compare(archive: &Path, sha256: &str) -> Result<(), StageError> {
    let at = |error| StageError::io(format_args!("read {}", archive.display()), &error);
    let mut hash = Sha256::new();
    io::copy(&mut fs::File::open(archive).map_err(at)?, &mut hash).map_err(at)?;
    let found = format!("{:x}", hash.finalize());
    if sha256.is_empty() || found.eq_ignore_ascii_case(sha256) {
        return Ok(());
    }
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    Err(StageError::BadInput(format!(
        "{name} has the sha256 {found}, and the recipe says {sha256}: it is another archive"
    )))
}

/// Both programs keep what they unpack below the folder, whatever the archive says.
async fn unpack(
    archive: &Path,
    to: &Path,
    python: &Path,
    cx: &Around<'_>,
) -> Result<(), StageError> {
    let (from, to) = (archive.to_string_lossy(), to.to_string_lossy());
    let env = cx.host.plain_env();
    let tar = cx.host.find("tar");
    let (program, args) = if archive.extension().is_some_and(|end| end == "zip") {
        (python, vec!["-m", "zipfile", "-e", &*from, &*to])
    } else {
        let tar = tar.as_deref().ok_or_else(|| StageError::Missing {
            what: "tar".to_owned(),
            hint: "install it, for example with `apt-get install tar`".to_owned(),
        })?;
        let plain = ["--no-same-owner", "--no-same-permissions"];
        let args = [&plain[..], &["-C", &*to, "-xf", &*from]].concat();
        (tar, args)
    };
    let tool = Tool {
        program,
        args: &args,
        cwd: Path::new(&*to),
        env: &env,
        stdin: None,
        limit: LIMIT,
    };
    tool.succeed(cx).await.map(drop)
}

/// An archive holds one folder with all in it.
fn only_folder(unpacked: &Path) -> io::Result<PathBuf> {
    let entries: Vec<_> = fs::read_dir(unpacked)?.collect::<io::Result<_>>()?;
    match entries.as_slice() {
        [only] if only.path().is_dir() => Ok(only.path()),
        _ => Ok(unpacked.to_owned()),
    }
}
