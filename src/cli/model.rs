//! `powerband model`: a network's inputs, outputs, size, cost and operators.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use serde_json::json;

use super::args::ModelArgs;
use super::{Context, output};
use powerband_core::base::atomic_file;
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::model::{ModelSummary, Port};
use powerband_core::domain::point::Point;
use powerband_core::domain::setup::Setup;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::network::compared::NetworkSide;
use powerband_findings::analysis::network::{NodeTimes, TimedNetwork};
use powerband_findings::analysis::sampled_difference::SampleOrder;
use powerband_findings::chart::figure::Drawing;
use powerband_findings::chart::network::NetworkFigure;
use powerband_findings::chart::network_colours::NetworkColouring;
use powerband_findings::export::figure_file::{self, FileKind};
use powerband_findings::export::style::{Preset, Style};
use powerband_onnx::batch_axis::BatchAxes;
use powerband_onnx::rewrite::recipe::{Recipe, parse_ranges};
use powerband_onnx::source::ModelFile;
use powerband_onnx::{inspect, network, source};
use powerband_runner::exporting;
use powerband_runner::precision::{self, ConvertedModel};
use powerband_runner::shape_trial;

/// Pixels of a PNG for each of the picture's own.
const PIXELS: f64 = 2.0;

/// Prints it, or writes the network to a file.
pub(super) fn run(context: &Context, args: &ModelArgs) -> anyhow::Result<ExitCode> {
    let model = source::open(&args.model, &context.paths.cache)?;
    if let (Some(from), Some(to)) = (&args.export_from, &args.write) {
        return export(context, args, &model, from, to);
    }
    let recipe = recipe(args)?;
    let place = context.place();
    let mut sizes = args.fed.sizes()?;
    shape_trial::check(&model, &sizes)?;
    let batch_axes = inspect::inputs(&model.proto)
        .ok()
        .and_then(|ports| BatchAxes::find(&ports, &sizes.batch_axis).ok());
    let converted = precision::convert(&place, &model, &recipe, &sizes);
    let ConvertedModel { file: model, notes } = converted.map_err(|reason| {
        anyhow::anyhow!("{} cannot be rewritten to {recipe}: {reason}", model.name)
    })?;
    if recipe.batch.is_some() {
        // The batch has a size and no name any more.
        sizes.batch_axis = batch_axes.map_or_else(Vec::new, |axes| axes.as_chosen());
    }
    let with_tried = |error| match inspect::inputs(&model.proto) {
        Ok(ports) => shape_trial::with_tried_shapes(&place, &model, &ports, &sizes, error),
        Err(_) => error,
    };
    let summary = inspect::summarize_at(&model.proto, &model.name, &sizes, &with_tried);
    for note in notes.iter().filter(|note| !summary.notes.contains(note)) {
        output::note(note);
    }
    if let Some(target) = &args.write {
        let written = model
            .copy_to(target)
            .with_context(|| format!("cannot write {}", target.display()))?;
        output::note(&format!(
            "Saved to {} ({})",
            target.display(),
            humanize::bytes(written)
        ));
    }
    if let Some(target) = &args.picture {
        draw(context, args, &model, &sizes, target)?;
    }
    if args.json {
        output::document(&json!({
            "name": summary.name,
            "file": model.path,
            "sha256": model.sha256,
            "opset": summary.opset,
            "parameters": summary.parameters,
            "constant_bytes": summary.constant_bytes,
            "macs": summary.macs,
            "inputs": inputs(&summary),
            "outputs": ports(&summary.outputs),
            "operators": summary.operators,
            "notes": summary.notes,
        }))?;
    } else {
        output::answer(&text(
            &summary,
            &model.path.display().to_string(),
            &model.sha256,
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Draws the graph of a model, with the modules open that fit on a page.
fn draw(
    context: &Context,
    args: &ModelArgs,
    model: &ModelFile,
    sizes: &InputSizes,
    target: &Path,
) -> anyhow::Result<()> {
    let kind = FileKind::from_path(target).map_err(anyhow::Error::msg)?;
    if matches!(kind, FileKind::Csv | FileKind::Json) {
        anyhow::bail!(
            "{} is no picture; end the name with .svg, .png or .pdf",
            target.display()
        );
    }
    let rules = Rules::with_user_rules(&context.settings.categories);
    let graph = network::at_point(&model.proto, &model.name, Point::of_batch(1), sizes);
    for note in &graph.notes {
        output::note(note);
    }
    let (timed, colouring) = if let Some(before) = &args.against {
        let before = source::open(before, &context.paths.cache)?;
        let before = network::at_point(&before.proto, &before.name, Point::of_batch(1), sizes);
        let [before, after] = [&before, &graph].map(NetworkSide::without_times);
        let timed = TimedNetwork::compared(before, after, SampleOrder::Apart);
        (timed, NetworkColouring::Change)
    } else {
        let timed = TimedNetwork::new(&graph, NodeTimes::default());
        (timed, NetworkColouring::Category)
    };
    let timed = Arc::new(timed.map_err(anyhow::Error::msg)?);
    let picture = NetworkFigure::that_fits(timed, colouring, &rules, false);
    if args.against.is_some() {
        output::note(&picture.sentence());
    }
    let drawing = Drawing::Network(Box::new(picture));
    let style = Style::new(Preset::Screen, args.theme);
    let about = model.path.display().to_string();
    let bytes = figure_file::bytes(&drawing, &about, &style, PIXELS, kind);
    let bytes = bytes.map_err(anyhow::Error::msg)?;
    atomic_file::write_bytes(target, &bytes)
        .with_context(|| format!("{} cannot be written", target.display()))?;
    output::note(&format!("Saved to {}", target.display()));
    Ok(())
}

/// Has another engine write its own network, and compares the two.
fn export(
    context: &Context,
    args: &ModelArgs,
    model: &ModelFile,
    from: &str,
    to: &Path,
) -> anyhow::Result<ExitCode> {
    let setup: Setup = from.parse()?;
    // Workers run in a different folder.
    let to = std::path::absolute(to)?;
    let exported =
        exporting::export(&context.place(), &setup, &args.model, model, &to).map_err(|reason| {
            anyhow::anyhow!("{} cannot be exported from {setup}: {reason}", model.name)
        })?;
    for note in &exported.notes {
        output::note(note);
    }
    if args.json {
        output::document(&json!({
            "file": to,
            "largest_difference": exported.worst,
            "notes": exported.notes,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let close = exported.worst.map_or_else(String::new, |worst| {
        format!(
            "; its outputs differ by {} at most from those of ONNX Runtime",
            humanize::value(worst)
        )
    });
    output::answer(&format!("Saved to {}{close}\n", to.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The rewriting of the network.
fn recipe(args: &ModelArgs) -> anyhow::Result<Recipe> {
    let recipe = Recipe {
        precision: args.precision,
        batch: args.fixed_batch.map(|batch| batch as usize),
        leave_out: args.keep_float.clone(),
        calibration: args.calibration.clone(),
        ranges: parse_ranges(&args.ranges).map_err(anyhow::Error::msg)?,
    };
    recipe.check().map_err(anyhow::Error::msg)?;
    Ok(recipe)
}

/// The inputs, with what each is filled with.
fn inputs(summary: &ModelSummary) -> Vec<serde_json::Value> {
    let mut inputs = ports(&summary.inputs);
    for (input, port) in inputs.iter_mut().zip(&summary.inputs) {
        input["filled_with"] = json!(summary.fill_of(port));
    }
    inputs
}

fn ports(ports: &[Port]) -> Vec<serde_json::Value> {
    let dims = |port: &Port| {
        port.dims
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    ports.iter().map(|port| json!({ "name": port.name, "type": port.element.to_string(), "shape": dims(port) })).collect()
}

/// The batch that the cost is of; nothing where no input has a batch.
fn cost_point(summary: &ModelSummary) -> String {
    let mut batches = summary.cost_at.iter().filter_map(|spec| {
        let axis = *spec.batch_axes.first()?;
        spec.dims.get(axis).copied()
    });
    batches
        .next()
        .map_or_else(String::new, |batch| format!(" at batch {batch}"))
}

fn text(summary: &ModelSummary, file: &str, sha256: &str) -> String {
    let mut text = format!(
        "{}\n\nFile         {file}\nSHA-256      {sha256}\nOpset        {}\nParameters   {}\nConstants    {}\n",
        summary.name,
        summary.opset,
        humanize::count(summary.parameters),
        humanize::bytes(summary.constant_bytes),
    );
    let macs = summary.macs.map_or_else(
        || format!("{UNKNOWN} (not counted; the notes say why)"),
        |macs| {
            format!(
                "{}{} ({})",
                humanize::macs(macs),
                cost_point(summary),
                humanize::count(macs)
            )
        },
    );
    text.push_str(&format!("Cost         {macs}\n\n"));
    for (title, ports) in [("Inputs", &summary.inputs), ("Outputs", &summary.outputs)] {
        text.push_str(&format!("{title}\n"));
        for port in ports {
            let fill = match title {
                "Inputs" => format!(" · {}", summary.fill_of(port)),
                _ => String::new(),
            };
            text.push_str(&format!("  {}  {}{fill}\n", port.name, port.describe()));
        }
        if title == "Inputs" {
            for reason in &summary.unfed {
                text.push_str(&format!("  · {reason}\n"));
            }
        }
    }
    let mut operators: Vec<(&String, &u64)> = summary.operators.iter().collect();
    operators.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
    let rows: Vec<Vec<String>> = operators
        .iter()
        .map(|(name, count)| vec![(*name).clone(), humanize::count(**count)])
        .collect();
    text.push('\n');
    text.push_str(&humanize::table(&["Operator", "Nodes"], &rows, 1));
    let notes = summary.notes.iter();
    for note in notes.filter(|note| !summary.unfed.contains(note)) {
        text.push_str(&format!("· {note}\n"));
    }
    text
}
