//! `powerband gate --bisect`: which commit made it slower, found by gates and not by single numbers.
//!
//! Each step is a gate of a commit against the good one, in turns, until it is settled. What does not build is passed
//! over. Where a step stays open with more time, or what is left does not build, a range is the answer.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use super::commits::{Commit, Repository};
use super::plan_file::GatePlan;
use super::{check_build, commit_arm, measured};
use crate::cli::args::GateArgs;
use crate::cli::{Context, REGRESSION, idle, output};
use powerband_core::base::humanize;
use powerband_findings::analysis::gate::GateResult;
use powerband_runner::record::SessionTarget;

/// What is known of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Good,
    Bad,
    /// It does not build, or cannot be measured.
    Unknown,
}

/// The search among commits, the oldest first: the last is bad, what comes before the first is good.
#[derive(Debug)]
struct Search {
    steps: Vec<Option<Step>>,
}

impl Search {
    fn new(commits: usize) -> Self {
        let mut steps = vec![None; commits];
        if let Some(last) = steps.last_mut() {
            *last = Some(Step::Bad);
        }
        Self { steps }
    }

    /// The first place that may be the bad one, and the first that is known to be bad.
    fn range(&self) -> (usize, usize) {
        let bad = self.steps.iter().position(|step| *step == Some(Step::Bad));
        let bad = bad.unwrap_or(self.steps.len());
        let good = self.steps[..bad]
            .iter()
            .rposition(|step| *step == Some(Step::Good));
        (good.map_or(0, |good| good + 1), bad)
    }

    /// The next one to try: nearest to the middle of those that are not known.
    fn next(&self) -> Option<usize> {
        let (first, bad) = self.range();
        let middle = first + bad.saturating_sub(first) / 2;
        let open = (first..bad).filter(|&place| self.steps[place].is_none());
        open.min_by_key(|place| place.abs_diff(middle))
    }
}

/// Finds the commit.
pub(super) fn run(
    context: &Context,
    args: &GateArgs,
    plan: &GatePlan,
    range: &str,
) -> anyhow::Result<ExitCode> {
    check_build(plan)?;
    let Some((good, bad)) = range.split_once("..") else {
        bail!("--bisect takes two commits, as in v1.2..main");
    };
    let repository = Repository::here(&context.paths.cache)?;
    let (good, bad) = (repository.commit(good)?, repository.commit(bad)?);
    let commits = repository.between(&good, &bad)?;
    if commits.is_empty() {
        bail!(
            "there is no commit after {} up to {}",
            good.title(),
            bad.title()
        );
    }
    let base = match repository.built("base", &good, plan.build.as_deref())? {
        Ok(folder) => folder,
        Err(said) => bail!("{} cannot be built: {said}", good.title()),
    };
    let bisection = Bisection {
        context,
        args,
        plan,
        repository: &repository,
        good: &good,
        base,
    };
    let steps = usize::BITS - commits.len().leading_zeros();
    output::note(&format!(
        "{}, about {}",
        humanize::pluralised(commits.len() as u64, "commit"),
        humanize::pluralised(u64::from(steps) + 1, "gate")
    ));
    // What is not slower at its end has no commit that made it so.
    match bisection.step(&bad)? {
        Step::Bad => {}
        Step::Good => bail!("{} is not slower than {}", bad.title(), good.title()),
        Step::Unknown => bail!("{} cannot be told from {}", bad.title(), good.title()),
    }
    let mut search = Search::new(commits.len());
    while let Some(place) = search.next() {
        let step = match commits.get(place) {
            Some(commit) => bisection.step(commit)?,
            None => Step::Unknown,
        };
        search.steps[place] = Some(step);
    }
    let (first, bad) = search.range();
    answer(args, commits.get(first..=bad).unwrap_or_default())
}

/// What the steps have in common.
struct Bisection<'a> {
    context: &'a Context,
    args: &'a GateArgs,
    plan: &'a GatePlan,
    repository: &'a Repository,
    good: &'a Commit,
    /// Where the good commit is built.
    base: PathBuf,
}

impl Bisection<'_> {
    /// What a commit is; a gate that stays open is made once more.
    fn step(&self, commit: &Commit) -> anyhow::Result<Step> {
        let build = self.plan.build.as_deref();
        let folder = match self.repository.built("new", commit, build)? {
            Ok(folder) => folder,
            Err(said) => {
                let line = said.lines().next_back().unwrap_or_default();
                output::note(&format!("{}: does not build ({line})", commit.title()));
                return Ok(Step::Unknown);
            }
        };
        for _ in 0..2 {
            idle::wait_if_asked(self.args.idle.wait_idle)?;
            let arms = [
                commit_arm(self.plan, &self.base, ("good", self.good))?,
                commit_arm(self.plan, &folder, ("tried", commit))?,
            ];
            let (finished, found) =
                measured(self.context, self.plan, arms, &SessionTarget::Library)?;
            if finished.cancelled {
                bail!("stopped");
            }
            let change = found.rows.iter().filter_map(|row| row.loss_percent);
            let change = change.fold(f64::NEG_INFINITY, f64::max);
            output::note(&format!(
                "{}: {}, {change:+.1} %",
                commit.title(),
                match found.result {
                    GateResult::Passed => "good",
                    GateResult::Failed => "bad",
                    GateResult::Open => "open",
                }
            ));
            match found.result {
                GateResult::Passed => return Ok(Step::Good),
                GateResult::Failed => return Ok(Step::Bad),
                GateResult::Open => {}
            }
        }
        Ok(Step::Unknown)
    }
}

fn answer(args: &GateArgs, found: &[Commit]) -> anyhow::Result<ExitCode> {
    if args.json {
        let commits = found.iter();
        let commits = commits.map(|one| json!({ "hash": one.hash, "subject": one.subject }));
        output::document(&json!({ "commits": commits.collect::<Vec<_>>() }))?;
    } else if let [only] = found {
        output::answer(&format!("{} made it slower.", only.title()))?;
    } else {
        let titles: Vec<String> = found
            .iter()
            .map(|one| format!("  {}", one.title()))
            .collect();
        output::answer(&format!(
            "One of these made it slower; the others between could not be built or told:\n{}",
            titles.join("\n")
        ))?;
    }
    Ok(ExitCode::from(REGRESSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(commits: usize, bad: usize, broken: &[usize]) -> (usize, usize, usize) {
        let mut search = Search::new(commits);
        let mut gates = 0;
        while let Some(place) = search.next() {
            gates += 1;
            search.steps[place] = Some(match place {
                place if broken.contains(&place) => Step::Unknown,
                place if place >= bad => Step::Bad,
                _ => Step::Good,
            });
        }
        let (first, last) = search.range();
        (first, last, gates)
    }

    #[test]
    fn a_search_ends_at_the_first_bad_commit() {
        for bad in 0..40 {
            let (first, last, gates) = found(40, bad, &[]);
            assert_eq!((first, last), (bad, bad));
            assert!(gates <= 6, "{bad}: {gates}");
        }
    }

    #[test]
    fn what_does_not_build_widens_the_answer_only_beside_the_bad_one() {
        assert_eq!(found(40, 20, &[10]).0, 20);
        let (first, last, _) = found(40, 20, &[19]);
        assert_eq!((first, last), (19, 20));
    }
}
