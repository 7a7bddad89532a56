//! What `powerband export` reads of timelines beside the session: that of one profile, or of two that are compared.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};

use super::args::ExportArgs;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::timeline::Timeline;
use powerband_findings::analysis::timeline_comparison::MergedTraces;
use powerband_findings::chart::figure::{self, FigureInputs, SessionNumbers};
use powerband_import as import;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_store as store;

/// The timeline of a profile; with that of the profile that it is compared with, both as one.
pub(super) enum Timelines {
    None,
    One(Box<(Trace, Timeline)>),
    Compared(Box<MergedTraces>, bool),
}

impl Timelines {
    pub(super) fn read(
        args: &ExportArgs,
        material: &FigureInputs<'_>,
        rules: &Rules,
    ) -> anyhow::Result<Self> {
        let session = material.after.session;
        let before = material.before.as_ref().map(|part| part.session);
        let is_compared = before.is_some() || args.against_profile.is_some();
        if args.aligned && !is_compared {
            bail!(
                "--aligned is for two timelines; name the other one with --against SESSION or --against-profile N"
            );
        }
        if session.profiles.is_empty() {
            return Ok(Self::None);
        }
        let (_, Some(path)) = trace_file(args.session(), session, material.profile)? else {
            return Ok(Self::None);
        };
        let after = trace(&path)?;
        if !is_compared {
            let ready = Timeline::from_trace(&after);
            return Ok(Self::One(Box::new((after, ready))));
        }
        let beside = args
            .against
            .first()
            .map_or_else(|| args.session(), PathBuf::as_path);
        let (profile, path) =
            trace_file(beside, before.unwrap_or(session), material.profile_before)?;
        let path = path.ok_or_else(|| {
            anyhow!(
                "the profile {} has sums only, and no timeline",
                profile.name
            )
        })?;
        let merged = MergedTraces::new(&trace(&path)?, &after, rules);
        Ok(Self::Compared(Box::new(merged), args.aligned))
    }

    pub(super) fn fill_in<'a>(&'a self, material: &mut FigureInputs<'a>) {
        match self {
            Self::None => {}
            Self::One(one) => material.trace = Some((&one.0, &one.1)),
            Self::Compared(merged, is_aligned) => material.merged = Some((merged, *is_aligned)),
        }
    }
}

/// A profile, and the file of its timeline, which lies beside the session; nothing where it has sums only.
pub(super) fn trace_file<'a>(
    beside: &Path,
    session: &'a Session,
    place: usize,
) -> anyhow::Result<(&'a Profile, Option<PathBuf>)> {
    let profile =
        figure::profile(&SessionNumbers::new(session), place).map_err(anyhow::Error::msg)?;
    let Some(name) = &profile.trace_file else {
        return Ok((profile, None));
    };
    let from = store::trace_file::found(Some(beside), name);
    if from.is_none() {
        bail!(
            "{name} does not lie beside the session, which has the timeline of {}",
            profile.name
        );
    }
    Ok((profile, from))
}

/// Reads the timeline of a file.
pub(super) fn trace(path: &Path) -> anyhow::Result<Trace> {
    let read = import::read(path, Limits::default(), &ReadProgress::default());
    let read = read.with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(read.trace)
}
