//! Commits of a repository of git, each in a folder of its own, built there. The user's work tree is not touched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use tempfile::TempDir;

use crate::cli::{output, signals};
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::ending::Ending;
use powerband_core::base::humanize;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_planning::transport::script::{last_line, quoted};
use powerband_worker::process::{self, Finished};

/// How long a question to git may take.
const GIT_LIMIT: Duration = Duration::from_mins(5);
/// How long a build may take.
const BUILD_LIMIT: Duration = Duration::from_hours(2);
/// So much of what a build said is quoted where it failed, in lines.
const QUOTED: usize = 12;

/// What git sets for programs that it starts: with these, another folder would not be its own repository.
const OF_HOOKS: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
];

/// A repository, with the folders in which commits of it lie.
#[derive(Debug)]
pub(super) struct Repository {
    root: PathBuf,
    folders: TempDir,
    stop: CancelToken,
    ending: Ending,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) hash: String,
    pub(super) subject: String,
}

impl Commit {
    /// `1a2b3c4 (what it changes)`.
    pub(super) fn title(&self) -> String {
        format!("{} ({})", self.short(), self.subject)
    }

    /// The first digits of its hash.
    pub(super) fn short(&self) -> &str {
        self.hash.get(..9).unwrap_or(&self.hash)
    }
}

impl Repository {
    /// The one of the current folder; its commits lie in a folder below another one until this value goes.
    pub(super) fn here(below: &Path) -> anyhow::Result<Self> {
        let ending = signals::listen()?;
        let stop = ending.token();
        let found = git(None, &["rev-parse", "--show-toplevel"], &stop)?;
        if !found.success {
            bail!("this folder is in no repository of git, so that it has no commits to compare");
        }
        std::fs::create_dir_all(below)
            .with_context(|| format!("{} cannot be made", below.display()))?;
        Ok(Self {
            root: PathBuf::from(found.stdout.trim()),
            folders: tempfile::Builder::new().prefix("gate-").tempdir_in(below)?,
            stop,
            ending,
        })
    }

    /// The commit that a name means.
    pub(super) fn commit(&self, name: &str) -> anyhow::Result<Commit> {
        let spec = format!("{name}^{{commit}}");
        let found = self.git(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &spec,
        ])?;
        if !found.success {
            let shallow = self.git(&["rev-parse", "--is-shallow-repository"])?;
            let advice = if shallow.stdout.trim() == "true" {
                "; this clone is shallow: git fetch --unshallow gets the rest, and in a workflow fetch-depth: 0"
            } else {
                ""
            };
            bail!("there is no commit {name}{advice}");
        }
        let hash = found.stdout.trim().to_owned();
        let subject = self.git(&["log", "-1", "--format=%s", &hash])?;
        Ok(Commit {
            subject: subject.stdout.trim().to_owned(),
            hash,
        })
    }

    /// The commits after one, up to another, along first parents, the oldest first.
    pub(super) fn between(&self, good: &Commit, bad: &Commit) -> anyhow::Result<Vec<Commit>> {
        let words = ["merge-base", "--is-ancestor", &good.hash, &bad.hash];
        if !self.git(&words)?.success {
            bail!(
                "{} does not come before {}, so that nothing between them is known to be good",
                good.title(),
                bad.title()
            );
        }
        let range = format!("{}..{}", good.hash, bad.hash);
        let words = [
            "log",
            "--first-parent",
            "--reverse",
            "--format=%H %s",
            &range,
        ];
        let found = self.git(&words)?;
        if !found.success {
            bail!("git says: {}", last_line(&found.stderr));
        }
        let commits = found.stdout.lines().filter_map(|line| {
            let (hash, subject) = line.split_once(' ').unwrap_or((line, ""));
            (!hash.is_empty()).then(|| Commit {
                hash: hash.to_owned(),
                subject: subject.to_owned(),
            })
        });
        Ok(commits.collect())
    }

    /// Says what of the work tree is in no commit, and so is not measured.
    pub(super) fn note_uncommitted(&self) -> anyhow::Result<()> {
        let found = self.git(&["status", "--porcelain", "--untracked-files=no"])?;
        let changed = found.stdout.lines().count();
        if changed > 0 {
            let files = humanize::pluralised(changed as u64, "changed file");
            let verb = if changed == 1 { "is" } else { "are" };
            output::note(&format!(
                "{files} of the work tree {verb} in no commit, and {verb} not measured."
            ));
        }
        Ok(())
    }

    /// Has a commit in the folder of a side, built there. The error says what the build said last.
    pub(super) fn built(
        &self,
        side: &str,
        commit: &Commit,
        build: Option<&str>,
    ) -> anyhow::Result<Result<PathBuf, String>> {
        // The folders go however it ends: a signal ends what is under way, and then this program.
        self.ending.set_saving(true);
        let folder = self.folders.path().join(side);
        let place = folder.display().to_string();
        let hash = commit.hash.as_str();
        let found = if folder.exists() {
            git(
                Some(&folder),
                &["checkout", "--quiet", "--force", "--detach", hash],
                &self.stop,
            )?
        } else {
            self.git(&[
                "worktree", "add", "--quiet", "--force", "--detach", &place, hash,
            ])?
        };
        if !found.success {
            bail!("git says: {}", last_line(&found.stderr));
        }
        // What another commit's build left and no one ignores is not this one's.
        git(
            Some(&folder),
            &["clean", "--quiet", "--force", "-d"],
            &self.stop,
        )?;
        let Some(build) = build else {
            return Ok(Ok(folder));
        };
        output::note(&format!("Building {}", commit.title()));
        let cleared = OF_HOOKS.join(" ");
        let line = format!("unset {cleared}; cd {} && {build}", quoted(&place));
        let shell = ProcessSpec::new("sh").args(["-c", &line]);
        let finished = process::run_to_end(&shell, BUILD_LIMIT, &self.stop)
            .context("the build cannot be started")?;
        if self.stop.is_cancelled() {
            bail!("stopped");
        }
        if finished.success {
            return Ok(Ok(folder));
        }
        let said = format!("{}\n{}", finished.stdout, finished.stderr);
        let lines: Vec<&str> = said
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let from = lines.len().saturating_sub(QUOTED);
        Ok(Err(format!(
            "{}\n{}",
            finished.how,
            lines[from..].join("\n")
        )))
    }

    fn git(&self, words: &[&str]) -> anyhow::Result<Finished> {
        git(Some(&self.root), words, &self.stop)
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        // git remembers the folders in its own.
        let sides = std::fs::read_dir(self.folders.path()).into_iter().flatten();
        for side in sides.flatten() {
            let place = side.path().display().to_string();
            let words = ["worktree", "remove", "--force", &place];
            drop(git(Some(&self.root), &words, &CancelToken::default()));
        }
    }
}

fn git(folder: Option<&Path>, words: &[&str], stop: &CancelToken) -> anyhow::Result<Finished> {
    let at = folder.map(|folder| folder.display().to_string());
    let place = at.iter().flat_map(|folder| ["-C", folder]);
    // A hook of git has these set for the user's own folder.
    let cleared = OF_HOOKS.iter().flat_map(|name| ["-u", name]);
    let words = cleared
        .chain(["git"])
        .chain(place)
        .chain(words.iter().copied());
    let spec = ProcessSpec::new("env").args(words);
    process::run_to_end(&spec, GIT_LIMIT, stop).context("git cannot be started")
}
