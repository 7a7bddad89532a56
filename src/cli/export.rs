//! `powerband export`: a figure, a session or a timeline as a file.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};

use super::args::ExportArgs;
use super::compare::earlier_sessions;
use super::export_networks::Networks;
use super::export_page::{self, not_written};
use super::export_timelines::{Timelines, trace_file};
use super::{Context, history, output};
use powerband_core::base::atomic_file;
use powerband_core::domain::point::{self, Point};
use powerband_core::domain::session::Session;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::provenance;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_findings::chart::figure::{
    self, Drawing, FigureChoice, FigureInputs, FigureKind, SessionNumbers,
};
use powerband_findings::export::figure_file::{self, FileKind, SCALES};
use powerband_findings::export::style::{Preset, Style, Theme};
use powerband_findings::export::{json, session_table};
use powerband_onnx::samples::npy;
use powerband_store as store;
use powerband_store::session_file;

/// Pixels of a PNG for each of the picture's own, by default.
const SCALE: f64 = 2.0;

pub(super) fn run(context: &Context, args: &ExportArgs) -> anyhow::Result<ExitCode> {
    for session in &args.sessions {
        check_target(session, &args.to)?;
    }
    if export_page::is_page(&args.to) {
        return export_page::run(context, args);
    }
    if let Some(further) = args.sessions.get(1) {
        bail!(
            "only a page (.html) takes several sessions; leave {} out, or name it with --against",
            further.display()
        );
    }
    if args.anonymous {
        bail!("--anonymous is for a page; end the name of the file with .html");
    }
    let session = session_file::read(args.session())?.session;
    if args.timeline {
        timeline(args, &session)?;
    } else {
        let bytes = match &args.chart {
            Some(name) => chart(context, args, &session, name)?,
            None => session_bytes(args, &session)?,
        };
        atomic_file::write_bytes(&args.to, &bytes).with_context(|| not_written(&args.to))?;
    }
    output::note(&format!("Saved to {}", args.to.display()));
    Ok(ExitCode::SUCCESS)
}

/// Nothing is written over the session, and only files are replaced.
pub(super) fn check_target(session: &Path, to: &Path) -> anyhow::Result<()> {
    let Ok(there) = std::fs::metadata(to) else {
        return Ok(());
    };
    if !there.is_file() {
        bail!(
            "{} is not an ordinary file; name a file to write to",
            to.display()
        );
    }
    let same = |path: &Path| std::fs::canonicalize(path).ok();
    if same(session) == same(to) {
        bail!(
            "{} is the session itself; name another file to write to",
            to.display()
        );
    }
    Ok(())
}

/// The session itself.
fn session_bytes(args: &ExportArgs, session: &Session) -> anyhow::Result<Vec<u8>> {
    if args.samples && args.to.extension().is_some_and(|ending| ending == "npy") {
        return Ok(npy::write(&session_table::sample_array(session)));
    }
    let kind = FileKind::from_path(&args.to).map_err(anyhow::Error::msg)?;
    match kind {
        FileKind::Csv if session.cases.is_empty() => bail!(
            "the session holds no case that was measured, so there is no table; export its stated numbers as .json, and its curves with --chart throughput"
        ),
        FileKind::Csv if args.samples => Ok(session_table::samples(session).to_csv().into_bytes()),
        FileKind::Csv => Ok(session_table::cases(session).to_csv().into_bytes()),
        FileKind::Json if args.samples => {
            bail!("--samples writes a table; end the name with .csv or .npy")
        }
        FileKind::Json => Ok(serde_json::to_vec_pretty(&json::session(session))?),
        FileKind::Svg | FileKind::Png | FileKind::Pdf => {
            let names: Vec<&str> = figure::ALL.iter().map(|figure| figure.name).collect();
            bail!("choose a figure with --chart: {}", names.join(", "))
        }
    }
}

/// One figure of it.
fn chart(
    context: &Context,
    args: &ExportArgs,
    session: &Session,
    name: &str,
) -> anyhow::Result<Vec<u8>> {
    let figure = figure::find(name).map_err(anyhow::Error::msg)?;
    let part = of_points(args, figure, session)?;
    let session = part.as_ref();
    let kind = FileKind::from_path(&args.to).map_err(anyhow::Error::msg)?;
    check_options(args, figure, kind)?;
    let (style, scale) = style(args)?;
    let is_history = figure.name == "history";
    let takes_several = is_history || figure.name == "fleet";
    let others = if is_history {
        history::others(context, args.session(), &args.against)?
    } else {
        let most = if takes_several { args.against.len() } else { 1 };
        let given = args.against.iter().take(most);
        let read = |path: &std::path::PathBuf| {
            let other = session_file::read(path)?.session;
            anyhow::Ok(of_points(args, figure, &other)?.into_owned())
        };
        given.map(read).collect::<anyhow::Result<Vec<Session>>>()?
    };
    if let Some(unused) = args.against.get(1).filter(|_| !takes_several) {
        bail!(
            "{name} takes one other session; leave --against {} out",
            unused.display()
        );
    }
    let rules = Rules::with_user_rules(&context.settings.categories);
    let roofs = powerband_store::roofs_file::read(&context.paths.roofs).roofs;
    let mut material = FigureInputs::new(session);
    let mut parts = others.iter().map(SessionNumbers::new);
    if takes_several {
        material.others = parts.collect();
    } else {
        material.before = parts.next();
    }
    if let Some(before) = &material.before {
        material.earlier = earlier_sessions(context, before.session, session);
    }
    material.rules = Some(&rules);
    material.roofs = &roofs;
    if !figure.is_of_sweep() {
        material.point = args
            .point
            .one_of(points_of(session))
            .map_err(|reason| anyhow!("{}: {reason}", session.name))?;
    }
    material.options.limit_ns = args.limit;
    material.setup = setup(args, session)?;
    material.profile = profile_place(args)?;
    material.profile_before = place_from_one("--against-profile", args.against_profile)?;
    let networks = match figure.name {
        "network" => Some(Networks::read(context, args, &material)?),
        _ => None,
    };
    if let Some(networks) = &networks {
        networks.fill_in(&mut material);
    }
    let timelines = match figure.name {
        "timeline" => Timelines::read(args, &material, &rules)?,
        _ => Timelines::None,
    };
    timelines.fill_in(&mut material);
    material.stretch = args.between.map(|(from, to)| TimeRange::new(from, to));
    let drawing = figure
        .make(&material)
        .map_err(|why| anyhow!("{name} cannot be drawn: {why}"))?;
    check_effects(figure, &mut material, &drawing)?;
    // The sessions of a history stand along its axis.
    let about = if is_history {
        session.model.name.clone()
    } else {
        let sessions: Vec<&Session> = std::iter::once(session).chain(&others).collect();
        provenance::provenance_text(&sessions)
    };
    figure_file::bytes(&drawing, &about, &style, scale, kind).map_err(anyhow::Error::msg)
}

/// Refuses options that the figure, or the kind of file, does not read.
fn check_options(args: &ExportArgs, figure: &FigureKind, kind: FileKind) -> anyhow::Result<()> {
    let takes = |choice: FigureChoice| figure.takes.contains(&choice);
    let is_picture = !matches!(kind, FileKind::Csv | FileKind::Json);
    let of_figure = [
        ("--setup", args.setup.is_some(), takes(FigureChoice::Setup)),
        (
            "--batch or --at",
            args.point.is_given(),
            takes(FigureChoice::Point),
        ),
        (
            "--profile",
            args.profile.is_some(),
            takes(FigureChoice::Profile),
        ),
        (
            "--against-profile",
            args.against_profile.is_some(),
            matches!(figure.name, "changes" | "network" | "timeline"),
        ),
        ("--aligned", args.aligned, figure.name == "timeline"),
        (
            "--between",
            args.between.is_some(),
            figure.name == "timeline",
        ),
    ];
    let of_file = [
        ("--scale", args.scale.is_some(), kind == FileKind::Png),
        ("--size", args.size.is_some(), is_picture),
        ("--theme", args.theme.is_some(), is_picture),
        ("--preset", args.preset.is_some(), is_picture),
    ];
    let idle = |(option, is_given, is_read): (&'static str, bool, bool)| {
        (is_given && !is_read).then_some(option)
    };
    if let Some(option) = of_figure.into_iter().find_map(idle) {
        bail!(
            "{option} has no effect on the figure {}; leave it out",
            figure.name
        );
    }
    if let Some(option) = of_file.into_iter().find_map(idle) {
        bail!(
            "{option} has no effect on {}; leave it out, or write another kind of file",
            args.to.display()
        );
    }
    Ok(())
}

fn points_of(session: &Session) -> BTreeSet<Point> {
    session.cases.iter().map(|case| case.point).collect()
}

/// The session with the points alone that are asked for, for a figure of a sweep: a map over two of its three
/// dimensions, a curve at one sequence.
fn of_points<'a>(
    args: &ExportArgs,
    figure: &FigureKind,
    session: &'a Session,
) -> anyhow::Result<Cow<'a, Session>> {
    if !args.point.is_given() || !figure.is_of_sweep() {
        return Ok(Cow::Borrowed(session));
    }
    let mut part = session.clone();
    part.cases.retain(|case| args.point.takes(case.point));
    part.plan.points.retain(|point| args.point.takes(*point));
    if part.cases.is_empty() {
        bail!(
            "{}: there is no {}; there are {}",
            session.name,
            args.point.sizes_text(),
            point::list(points_of(session))
        );
    }
    Ok(Cow::Owned(part))
}

/// Refuses an option that changes nothing of the figure.
fn check_effects(
    figure: &FigureKind,
    material: &mut FigureInputs<'_>,
    drawing: &Drawing,
) -> anyhow::Result<()> {
    let is_same = |material: &FigureInputs<'_>| figure.make(material).as_ref() == Ok(drawing);
    let limit_ns = material.options.limit_ns.take();
    let is_idle = if limit_ns.is_some() && is_same(material) {
        Some("--limit")
    } else {
        material.options.limit_ns = limit_ns;
        let was_given = material.before.take().is_some();
        material.merged = None;
        (was_given && is_same(material)).then_some("--against")
    };
    if let Some(option) = is_idle {
        bail!(
            "{option} has no effect on the figure {}; leave it out",
            figure.name
        );
    }
    Ok(())
}

fn style(args: &ExportArgs) -> anyhow::Result<(Style, f64)> {
    let preset = args.preset.unwrap_or(Preset::Screen);
    if preset.is_print() && args.theme == Some(Theme::Dark) {
        bail!("the preset {preset} is for paper, which is light; leave --theme dark out");
    }
    let scale = args.scale.unwrap_or(SCALE);
    if !(SCALES.0..=SCALES.1).contains(&scale) {
        bail!(
            "--scale {scale}: a picture has from {} to {} pixels for each of its own",
            SCALES.0,
            SCALES.1
        );
    }
    let style = Style::new(preset, args.theme.unwrap_or_default());
    let style = match args.size {
        Some((width, height)) => style.sized(width, height),
        None => style,
    };
    Ok((style, scale))
}

fn setup(args: &ExportArgs, session: &Session) -> anyhow::Result<Option<usize>> {
    let Some(wanted) = args.setup.as_deref() else {
        return Ok(None);
    };
    let found = session.find_setup(wanted);
    let Some(found) = found else {
        let setups = 0..session.plan.setups.len();
        let labels: Vec<String> = setups.map(|setup| session.setup_label(setup)).collect();
        bail!(
            "{} has no setup \"{wanted}\"; it has {}",
            session.name,
            labels.join(", ")
        );
    };
    Ok(Some(found))
}

fn profile_place(args: &ExportArgs) -> anyhow::Result<usize> {
    place_from_one("--profile", args.profile)
}

fn place_from_one(option: &str, number: Option<usize>) -> anyhow::Result<usize> {
    let place = number.unwrap_or(1).checked_sub(1);
    place.ok_or_else(|| anyhow!("profiles are counted from 1, so there is no {option} 0"))
}

/// The timeline of a profile as a file for other programs.
fn timeline(args: &ExportArgs, session: &Session) -> anyhow::Result<()> {
    let (profile, from) = trace_file(args.session(), session, profile_place(args)?)?;
    let Some(from) = from else {
        bail!(
            "the profile {} has sums only, and no timeline",
            profile.name
        );
    };
    let plain = if args.to.extension().is_some_and(|ending| ending == "gz") {
        args.to.with_extension("")
    } else {
        args.to.clone()
    };
    if plain.extension().is_none_or(|ending| ending != "json") {
        bail!(
            "{}: a timeline is written as .json or, packed, as .json.gz",
            args.to.display()
        );
    }
    store::trace_file::copy(&from, &args.to).with_context(|| not_written(&args.to))
}
