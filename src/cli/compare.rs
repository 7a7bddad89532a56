//! `powerband compare`: did it get faster?

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::args::{CompareArgs, PointArgs};
use super::{Context, REGRESSION, output};
use powerband_core::base::atomic_file;
use powerband_core::domain::again::{SessionPart, request_for};
use powerband_core::domain::point::{self, Point};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::comparison::{self, CasePair, ComparedSide, Comparison};
use powerband_findings::analysis::earlier_sessions::EarlierSessions;
use powerband_findings::analysis::repeat::shell_quoted;
use powerband_findings::analysis::verdict::Call;
use powerband_findings::export;
use powerband_findings::report::in_short;
use powerband_store::library;

/// Compares and prints.
pub(super) fn run(context: &Context, args: &CompareArgs) -> anyhow::Result<ExitCode> {
    if args
        .fail_if_slower
        .is_some_and(|percent| !(0.0..1e6).contains(&percent))
    {
        bail!("--fail-if-slower takes a percentage from 0, for example --fail-if-slower=2");
    }
    let before = ComparedSession::read(&args.before, &args.point)?;
    let after = args
        .after
        .as_deref()
        .map(|path| ComparedSession::read(path, &args.point))
        .transpose()?;
    check_profiles(args, &before, after.as_ref())?;
    check_point(args, &before, after.as_ref())?;
    let earlier = after
        .as_ref()
        .map_or_else(EarlierSessions::default, |after| {
            earlier_sessions(context, &before.session, &after.session)
        });
    let sides = (&before, after.as_ref().unwrap_or(&before));
    let comparisons = compare(args, sides, &earlier)?;
    if let Some(reason) = comparisons.iter().find_map(|one| one.nothing.clone())
        && comparisons.iter().all(|one| one.pairs.is_empty())
    {
        bail!("{reason}");
    }
    if let Some(path) = &args.junit {
        let document = export::junit::document(&comparisons, args.fail_if_slower.unwrap_or(0.0));
        atomic_file::write_bytes(path, document.as_bytes())
            .with_context(|| format!("the report cannot be written to {}", path.display()))?;
    }
    if args.json {
        let documents: Vec<_> = comparisons
            .iter()
            .map(export::comparison::document)
            .collect();
        output::document(&json!({ "comparisons": documents }))?;
    } else {
        let sections = comparisons.iter();
        let sections = sections.flat_map(|one| in_short::comparison(one, args.detail.verbose));
        let sections: Vec<_> = sections.collect();
        if args.html {
            output::answer(&export::html::fragment(&sections, None))?;
        } else {
            output::sections(&sections)?;
        }
        print_rerun_command(args, &before, after.as_ref(), &comparisons);
    }
    Ok(status(args, &comparisons))
}

/// A compared session with its rows.
struct ComparedSession {
    session: Session,
    /// The rows that are meant.
    rows: Vec<CaseRow>,
    /// The points of all its rows, which are those of the steps where there is a ladder.
    known: BTreeSet<Point>,
}

impl ComparedSession {
    fn read(path: &Path, wanted: &PointArgs) -> anyhow::Result<Self> {
        let session = super::measured(path)?;
        let mut rows = case_rows::case_rows(&session);
        let known = rows.iter().map(|row| row.point).collect();
        rows.retain(|row| wanted.takes(row.point));
        Ok(Self {
            session,
            rows,
            known,
        })
    }

    fn side(&self, setup: usize) -> ComparedSide<'_> {
        ComparedSide {
            session: &self.session,
            rows: &self.rows,
            setup,
            point: None,
        }
    }

    fn points(&self) -> String {
        if self.known.is_empty() {
            "none".to_owned()
        } else {
            point::list(self.known.iter().copied())
        }
    }

    fn setup(&self, wanted: Option<&str>) -> anyhow::Result<Option<usize>> {
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        if let Some(setup) = self.session.find_setup(wanted) {
            return Ok(Some(setup));
        }
        let setups = 0..self.session.plan.setups.len();
        let labels: Vec<String> = setups
            .map(|setup| self.session.setup_label(setup))
            .collect();
        bail!(
            "{} has no setup \"{wanted}\"; it has {}",
            self.session.name,
            labels.join(", ")
        )
    }
}

/// An error with the command that compares profiles, where neither side has anything else.
fn check_profiles(
    args: &CompareArgs,
    before: &ComparedSession,
    after: Option<&ComparedSession>,
) -> anyhow::Result<()> {
    let is_profile =
        |part: &ComparedSession| part.known.is_empty() && !part.session.profiles.is_empty();
    let path = args.after.as_deref().unwrap_or(&args.before);
    if is_profile(before) && after.is_none_or(is_profile) {
        bail!(
            "{} has profiles and no measured cases. Their kernels are compared with: powerband kernels {} --against {}",
            before.session.name,
            path.display(),
            args.before.display()
        );
    }
    Ok(())
}

/// An error with the known points where the wanted one was planned on neither side.
fn check_point(
    args: &CompareArgs,
    before: &ComparedSession,
    after: Option<&ComparedSession>,
) -> anyhow::Result<()> {
    let parts: Vec<&ComparedSession> = std::iter::once(before).chain(after).collect();
    if !args.point.is_given() || parts.iter().any(|part| !part.rows.is_empty()) {
        return Ok(());
    }
    let known: Vec<String> = parts.iter().copied().map(ComparedSession::points).collect();
    match known.as_slice() {
        [one] => bail!(
            "{} has no {}; it has {one}",
            args.before.display(),
            args.point.sizes_text()
        ),
        _ => bail!(
            "neither session has {}; they have {}",
            args.point.sizes_text(),
            known.join(" and ")
        ),
    }
}

/// Sessions of the library that show by how much sessions of these cases differ here.
pub(super) fn earlier_sessions(
    context: &Context,
    before: &Session,
    after: &Session,
) -> EarlierSessions {
    let folder = &context.paths.library;
    EarlierSessions::from_sessions(&library::earlier_sessions(
        folder,
        &Default::default(),
        before,
        after,
    ))
}

fn compare(
    args: &CompareArgs,
    (before, after): (&ComparedSession, &ComparedSession),
    earlier: &EarlierSessions,
) -> anyhow::Result<Vec<Comparison>> {
    let first = before.setup(args.before_setup.as_deref())?;
    let second = after.setup(args.after_setup.as_deref())?;
    let is_one = args.after.is_none();
    let pair = |first: usize, second: usize| {
        comparison::compare_setups_with_earlier(&before.side(first), &after.side(second), earlier)
    };
    let n_after = after.session.plan.setups.len();
    let comparisons = match (first, second) {
        (Some(first), Some(second)) => vec![pair(first, second)],
        // Within one session, one setup against all others.
        (first, second) if is_one => {
            let first = first.unwrap_or(0);
            let others = (0..n_after).filter(|&other| other != first);
            let others = others.filter(|&other| second.is_none_or(|second| second == other));
            let all: Vec<Comparison> = others.map(|other| pair(first, other)).collect();
            if all.is_empty() {
                bail!(
                    "{} has one setup only; name a second session to compare it with",
                    before.session.name
                );
            }
            all
        }
        (Some(first), None) => vec![pair(first, same_or_only(before, first, after)?)],
        (None, Some(second)) => vec![pair(same_or_only(after, second, before)?, second)],
        (None, None) => vec![comparison::compare_sides(
            &before.side(0),
            &after.side(0),
            earlier,
        )],
    };
    Ok(comparisons)
}

/// The identical setup of another session, or its only one.
fn same_or_only(
    part: &ComparedSession,
    setup: usize,
    other: &ComparedSession,
) -> anyhow::Result<usize> {
    let spec = part.session.setup_spec(setup);
    if let Some(same) = other.session.find_setup(&spec) {
        return Ok(same);
    }
    if other.session.plan.setups.len() == 1 {
        return Ok(0);
    }
    bail!(
        "{} has no setup {spec}; choose one of its setups with --before or --after",
        other.session.name
    )
}

/// The command that may settle inconclusive verdicts, and those of what was not interleaved.
fn print_rerun_command(
    args: &CompareArgs,
    before: &ComparedSession,
    after: Option<&ComparedSession>,
    comparisons: &[Comparison],
) {
    let is_of_two = after.is_some_and(|after| {
        let parts = [before, after].map(|part| SessionPart::all(&part.session));
        request_for(parts[0], parts[1]).is_ok()
    });
    if let (true, Some(after)) = (is_of_two, &args.after) {
        let paths = [&args.before, after].map(|path| shell_quoted(&path.display().to_string()));
        output::note(&format!(
            "To measure both again, in turns: powerband bench --again {} {}",
            paths[0], paths[1]
        ));
    }
    let more = comparisons.iter().filter_map(Comparison::more_rounds);
    let more = more.max_by_key(|more| more.rounds);
    if let (Some(more), None) = (more, &args.after) {
        output::note(&format!(
            "{}: powerband bench --more {} --rounds {}",
            more.text(),
            args.before.display(),
            more.rounds
        ));
    }
}

fn status(args: &CompareArgs, comparisons: &[Comparison]) -> ExitCode {
    let Some(percent) = args.fail_if_slower else {
        return ExitCode::SUCCESS;
    };
    let pairs: Vec<&CasePair> = comparisons.iter().flat_map(|one| &one.pairs).collect();
    let slower = pairs.iter().filter(|pair| {
        let loss = pair.loss_percent().unwrap_or(0.0);
        pair.verdict.call == Call::Slower && loss > percent
    });
    let open = pairs
        .iter()
        .filter(|pair| pair.verdict.call == Call::Inconclusive)
        .count();
    match (slower.count(), open) {
        (0, 0) => ExitCode::SUCCESS,
        (0, open) => {
            output::note(&format!(
                "Nothing is called slower; inconclusive: {open} of {}.",
                pairs.len()
            ));
            ExitCode::SUCCESS
        }
        (slower, _) => {
            output::note(&format!("Slower: {slower} of {}.", pairs.len()));
            ExitCode::from(REGRESSION)
        }
    }
}
